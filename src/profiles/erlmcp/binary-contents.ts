import { copyOf } from '../../base/copy-of.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { CreateAdapter } from '../adapter.ts'
import { eachOf } from '../shapes.ts'

/** Also writes the bytes of a resource to `data`, and reads them from there. */
export const binaryContents: CreateAdapter = (choices) => {
  if (choices.binaryContents !== 'both') return undefined
  return {
    encodeResult: (method, result) =>
      method === 'resources/read' ? eachOf(result, 'contents', withData) : result,
    decodeResult: (method, result) =>
      method === 'resources/read' ? eachOf(result, 'contents', withBlob) : result,
  }
}

function withData(contents: JsonObject): JsonObject {
  return contents['blob'] === undefined ? contents : { ...contents, data: contents['blob'] }
}

function withBlob(contents: JsonObject): JsonObject {
  const { data, blob = data } = contents
  return data === undefined ? contents : Object.assign(copyOf(contents, 'data'), { blob })
}
