import { BATCH_TOO_LONG } from '../errors/limits.ts'
import { mcpError } from '../errors/error.ts'
import { BATCH_REFUSED } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Dialect } from '../protocol/switches.ts'
import { hasEnvelope } from './2026-07-28/decode.ts'

/** Checks that a batch is allowed here. Its members are read one by one afterwards. */
export function checkBatch(members: readonly unknown[], dialect: Dialect, maxMembers: number): void {
  if (dialect.batch !== 'always') throw mcpError(BATCH_REFUSED, { reason: 'this revision has none' })
  if (members.length === 0) throw mcpError(BATCH_REFUSED, { reason: 'it is empty' })
  if (members.length > maxMembers) throw mcpError(BATCH_TOO_LONG, { limit: maxMembers })
  const opening = members.some((member) => (member as { method?: unknown } | null)?.method === 'initialize')
  if (opening) throw mcpError(BATCH_REFUSED, { reason: 'initialize must come alone' })
  const claiming = members.some((member) => hasEnvelope((member as { params?: JsonObject } | null)?.params))
  if (claiming) throw mcpError(BATCH_REFUSED, { reason: 'a request of 2026-07-28 must come alone' })
}
