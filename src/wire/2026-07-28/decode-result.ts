import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'

/** Removes the envelope of this revision from a result. */
export function decodeResult(sealed: JsonObject): JsonObject {
  const { resultType, _meta: meta, ...members } = sealed
  const { [META.serverInfo]: _, ...rest } = isObject(meta) ? meta : {}
  return {
    ...members,
    ...(resultType === undefined || resultType === 'complete' ? {} : { resultType }),
    ...(Object.keys(rest).length === 0 ? {} : { _meta: rest }),
  }
}
