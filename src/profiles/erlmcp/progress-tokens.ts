import type { MethodParams } from '../../protocol/wire-adapter.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Reads a progress token from the params themselves where `_meta` has none. */
export const progressTokens: CreateAdapter = (choices) =>
  choices.progressTokens === 'direct' ? { decodeRequest: withToken } : undefined

function withToken(asked: MethodParams): MethodParams {
  const { progressToken, _meta, ...params } = asked.params
  const meta = (_meta ?? {}) as JsonObject
  if (progressToken === undefined || meta[META.progressToken] !== undefined) return asked
  return { ...asked, params: { ...params, _meta: { ...meta, [META.progressToken]: progressToken } } }
}
