import { copyOf } from '../../base/copy-of.ts'
import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import type { CreateAdapter } from '../adapter.ts'
import { changed } from '../shapes.ts'

/** Makes a server also declare the client capabilities it uses, and completion in every spelling. */
export const serverCapabilities: CreateAdapter = (choices) => {
  if (choices.serverCapabilities !== 'extra') return undefined
  return {
    encodeResult: (method, result) =>
      method === 'initialize' ? changed(result, 'capabilities', withExtra) : result,
    decodeResult: (method, result) =>
      method === 'initialize' ? changed(result, 'capabilities', withCompletions) : result,
  }
}

function withExtra(capabilities: JsonObject): JsonObject {
  const { completions } = capabilities
  const completing = isObject(completions)
    ? { completions: { ...completions, supported: true }, completion: {} }
    : {}
  return { ...capabilities, ...completing, sampling: {}, roots: {} }
}

function withCompletions(capabilities: JsonObject): JsonObject {
  const { completion, completions = completion } = capabilities
  return completions === undefined ? capabilities : Object.assign(copyOf(capabilities), { completions })
}
