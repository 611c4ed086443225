import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'

/** Removes the envelope of this revision from a result. */
export function decodeResult(sealed: JsonObject): JsonObject {
  const { resultType, _meta: meta, ...members }: Record<string, unknown> = sealed
  const { [META.serverInfo]: _, ...rest } = isObject(meta) ? meta : {}
  // A peer chooses how many members there are, so they are copied once.
  if (resultType !== undefined && resultType !== 'complete') members['resultType'] = resultType
  if (Object.keys(rest).length > 0) members['_meta'] = rest
  return members
}
