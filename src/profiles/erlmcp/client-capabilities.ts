import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { CreateAdapter } from '../adapter.ts'
import { changed, isObject } from '../shapes.ts'

/** Writes what a client can do as switches that are on, and its experimental features also as a list. */
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
