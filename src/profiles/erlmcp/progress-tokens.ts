import { copyOf } from '../../base/copy-of.ts'
import type { MethodParams } from '../../protocol/wire-adapter.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Reads a progress token from the params if `_meta` has none. */
export const progressTokens: CreateAdapter = (choices) =>
  choices.progressTokens === 'direct' ? { decodeRequest: withToken } : undefined

function withToken(request: MethodParams): MethodParams {
  const { progressToken, _meta } = request.params
  const meta = _meta ?? {}
  // Whatever else stands there is judged like that of any other request.
  if (progressToken === undefined || !isObject(meta) || meta[META.progressToken] !== undefined) return request
  const params = copyOf(request.params, 'progressToken')
  params['_meta'] = Object.assign(copyOf(meta), { [META.progressToken]: progressToken })
  return { ...request, params }
}
