import { McpError } from '../errors/error.ts'
import type { Conversation } from './conversation.ts'
import { has } from './offered.ts'

/** The codes of servers for a call that should have been a task. */
const NO_TASK: ReadonlySet<number> = new Set([-32601, -32600])

/**
 * Whether a call failed because the list of tools, which says what it needs, was missing or out of date. Then the tools have been
 * listed again.
 */
export async function isOutdated(
  { connection, known }: Pick<Conversation, 'connection' | 'known'>,
  name: string,
  error: unknown,
  refresh: () => Promise<void>,
): Promise<boolean> {
  if (!(error instanceof McpError)) return false
  if (error.kind === 'header_mismatch') {
    if (error.data?.['mayHaveRun'] === true) return false
    await refresh()
    return true
  }
  if (!NO_TASK.has(error.code) || connection.state !== 'ready' || known.get(name)?.added !== undefined)
    return false
  const { capabilities } = await connection.agreement()
  if (!has(capabilities, 'tasks.requests.tools.call')) return false
  await refresh()
  return known.get(name)?.added !== undefined
}
