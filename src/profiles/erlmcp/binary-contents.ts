import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { MakeHabit } from '../habits.ts'
import { eachOf } from '../shapes.ts'

/** Writes the bytes of a resource in `data` too, and reads them from there. */
export const binaryContents: MakeHabit = (choices) => {
  if (choices.binaryContents !== 'both') return undefined
  return {
    sealResult: (method, result) =>
      method === 'resources/read' ? eachOf(result, 'contents', withData) : result,
    openResult: (method, result) =>
      method === 'resources/read' ? eachOf(result, 'contents', withBlob) : result,
  }
}

function withData(contents: JsonObject): JsonObject {
  return contents['blob'] === undefined ? contents : { ...contents, data: contents['blob'] }
}

function withBlob(contents: JsonObject): JsonObject {
  const { data, ...rest } = contents
  return data === undefined ? contents : { blob: data, ...rest }
}
