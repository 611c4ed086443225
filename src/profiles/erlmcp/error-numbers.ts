import { isObject, type ErrorObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { earlierCodeOf, erlmcpCodeOf, erlmcpMeaning } from './mcp-codes.ts'
import type { CreateAdapter } from '../adapter.ts'

/** These refusals say no more than the accompanying JSON-RPC code. */
const PLAIN: ReadonlySet<unknown> = new Set(['PROTOCOL_ERROR', 'INTERNAL_ERROR'])

/** Sends errors with the number of the profile, or otherwise of their refusal, and understands both. */
export const errorNumbers: CreateAdapter = (choices) => {
  const own = choices.errorNumbers !== 'official'
  const core = choices.errorNumbers === 'erlmcp-core'
  const refused = choices.refusalCodes === 'code'
  if (!own && !refused) return undefined
  return {
    encodeError(error, official) {
      const first = core ? earlierCodeOf(error.kind) : undefined
      const number = first ?? (own ? erlmcpCodeOf(error.kind) : undefined)
      const code = number ?? (refused ? refusalCodeOf(official) : undefined) ?? official.code
      if (!own || error.kind !== 'too_large') return { ...official, code }
      return { ...official, code, data: { ...(official.data as JsonObject), unit: 'bytes' } }
    },
    ...(own && { meaning: erlmcpMeaning }),
  }
}

function refusalCodeOf({ data }: ErrorObject): number | undefined {
  const refusal = isObject(data) ? data['refusal'] : undefined
  return isObject(refusal) && !PLAIN.has(refusal['name']) ? (refusal['code'] as number) : undefined
}
