import type { Told } from '../../protocol/wire-adapter.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import type { MakeHabit } from '../habits.ts'

/** Reads a progress token from the params themselves where `_meta` has none. */
export const progressTokens: MakeHabit = (choices) =>
  choices.progressTokens === 'direct' ? { openRequest: withToken } : undefined

function withToken(asked: Told): Told {
  const { progressToken, _meta, ...params } = asked.params
  const meta = (_meta ?? {}) as JsonObject
  if (progressToken === undefined || meta[META.progressToken] !== undefined) return asked
  return { ...asked, params: { ...params, _meta: { ...meta, [META.progressToken]: progressToken } } }
}
