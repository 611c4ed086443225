import { mcpError } from '../protocol/errors.ts'
import type { Dialect } from '../protocol/switches.ts'

/** Checks that a batch may be answered here at all. Its members are read one by one afterwards. */
export function checkBatch(
  members: readonly unknown[],
  dialect: Dialect | undefined,
  maxMembers: number,
): void {
  if (dialect?.batch !== true) throw mcpError('batch_refused', { reason: 'this revision has none' })
  if (members.length === 0) throw mcpError('batch_refused', { reason: 'it is empty' })
  if (members.length > maxMembers)
    throw mcpError('batch_refused', { reason: `it has more than ${maxMembers} members` })
  const opening = members.some((member) => (member as { method?: unknown } | null)?.method === 'initialize')
  if (opening) throw mcpError('batch_refused', { reason: 'initialize must come alone' })
}
