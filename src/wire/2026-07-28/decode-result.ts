import { copyOf } from '../../base/copy-of.ts'
import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'

/** Removes the envelope of this revision from a result. */
export function decodeResult(sealed: JsonObject): JsonObject {
  const { resultType, _meta: meta } = sealed
  const members = copyOf(sealed, 'resultType', '_meta')
  if (resultType !== undefined && resultType !== 'complete') members['resultType'] = resultType
  const rest = isObject(meta) ? copyOf(meta, META.serverInfo) : {}
  if (Object.keys(rest).length > 0) members['_meta'] = rest
  return members
}
