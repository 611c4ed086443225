import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import type { CreateAdapter } from '../adapter.ts'
import { changed } from '../shapes.ts'

/** Adds `enabled: true` to client capabilities, and lists the experimental features. */
export const clientCapabilities: CreateAdapter = (choices) => {
  if (choices.clientCapabilities !== 'enabled') return undefined
  return {
    encodeRequest: (method, params) =>
      method === 'initialize' ? changed(params, 'capabilities', enabled) : params,
  }
}

function enabled(capabilities: JsonObject): JsonObject {
  const on = ['roots', 'sampling'].flatMap((name) => {
    const declared = capabilities[name]
    return isObject(declared) ? [[name, { ...declared, enabled: true }]] : []
  })
  const { experimental } = capabilities
  const features = isObject(experimental) ? Object.keys(experimental) : []
  const listed = isObject(experimental) ? { experimental: { ...experimental, features } } : {}
  return { ...capabilities, ...Object.fromEntries(on), ...listed }
}
