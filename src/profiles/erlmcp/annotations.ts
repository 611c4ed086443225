import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { FREE_ANNOTATIONS } from '../../protocol/meta.ts'
import { methodRow } from '../../protocol/methods.ts'
import type { CreateAdapter } from '../adapter.ts'
import { eachOf } from '../shapes.ts'

/** Moves unofficial annotations, which are officially sent in `_meta`, to the others. */
export const annotations: CreateAdapter = (choices) => {
  if (choices.annotations !== 'free') return undefined
  return {
    encodeResult(method, result) {
      const list = methodRow(method)?.list
      return list === 'resources' || list === 'resourceTemplates' ? eachOf(result, list, withFree) : result
    },
  }
}

function withFree(resource: JsonObject): JsonObject {
  const { [FREE_ANNOTATIONS]: free, ...rest } = (resource['_meta'] ?? {}) as JsonObject
  if (free === undefined) return resource
  const { _meta, annotations: known, ...members } = resource
  const meta = Object.keys(rest).length === 0 ? {} : { _meta: rest }
  return { ...members, annotations: { ...(known as JsonObject), ...(free as JsonObject) }, ...meta }
}
