import type { Some } from '../base/some.ts'
import { AWAY } from '../errors/away.ts'
import { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Conversation } from './conversation.ts'
import { has } from './offered.ts'

/** The kinds of a call that may have run, although the server and the connection of the client go on. */
const LOST: ReadonlySet<string> = new Set(['node_lost', 'stream_lost'])
/** The codes of servers for a call that should have been a task. Others answer with a result that is an error. */
const NO_TASK: ReadonlySet<unknown> = new Set([-32601, -32600])
/** Problems of an answer: the call has run. */
const ANSWERED: ReadonlySet<unknown> = new Set(['bad_answer', 'answer_too_large'])

/**
 * Whether a call failed because the list of tools, which says what it needs, was missing or out of date. Then the tools have been
 * listed again.
 */
export async function isOutdated(
  { connection, known }: Pick<Conversation, 'connection' | 'known'>,
  name: string,
  failed: unknown,
  refresh: () => Promise<void>,
): Promise<boolean> {
  const { kind, data, code } = failed as Some<McpError>
  if (kind === 'header_mismatch') {
    if (data?.['mayHaveRun'] === true) return false
    await refresh()
    return true
  }
  const mayNeedTask =
    failed instanceof McpError
      ? NO_TASK.has(code) && !ANSWERED.has(kind) && known.get(name)?.added === undefined
      : !known.has(name) && speaksOfTasks(failed as JsonObject)
  if (!mayNeedTask || connection.state !== 'ready') return false
  const { capabilities } = await connection.agreement()
  if (!has(capabilities, 'tasks.requests.tools.call')) return false
  await refresh()
  return known.get(name)?.added !== undefined
}

/**
 * Whether a call was lost whose tool turns out to be safe to call again. Only a listed tool is known to be: others may have listed it while the
 * call ran, and if nobody has, the tools are listed now.
 */
export async function isRepeatable(
  { known }: Pick<Conversation, 'known'>,
  name: string,
  failed: unknown,
  refresh: () => Promise<void>,
): Promise<boolean> {
  if (!(failed instanceof McpError) || !isLost(failed)) return false
  // What the caller needs to know is that the call was lost.
  if (!known.has(name)) await refresh().catch(() => undefined)
  return known.get(name)?.repeatable === true
}

function isLost({ kind, data }: McpError): boolean {
  return LOST.has(kind) || (kind === 'http_failed' && AWAY.has(data?.['status']))
}

/** Whether the text of a failed call mentions tasks. Any other failure is that of a tool that ran. */
function speaksOfTasks({ content }: JsonObject): boolean {
  const [first] = (Array.isArray(content) ? content : []) as readonly { readonly text?: unknown }[]
  return typeof first?.text === 'string' && /task/i.test(first.text.slice(0, 1000))
}
