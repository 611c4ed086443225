import { textBytes } from '../base/weight.ts'
import { McpError, mcpError, type ErrorExtras, type ErrorKind } from '../errors/error.ts'
import { TASK_DAMAGED } from '../errors/tasks.ts'
import { ToolError } from '../errors/tool-error.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import { freedKey } from './key.ts'
import type { TaskHead } from './record.ts'
import { statusMessageOf } from './status-message.ts'
import type { TaskChange } from './store.ts'

/** How a task ended: with a result, or with an error. */
export type TaskOutcome = { readonly result: Result } | { readonly error: McpError }

/** The text of an outcome for the record. Throws if a result is not JSON. */
export function outcomeText(outcome: TaskOutcome): string {
  if ('result' in outcome) {
    const text: string | undefined = JSON.stringify(outcome.result)
    if (text === undefined) throw new TypeError('the result is not JSON: its toJSON returns undefined')
    return `{"result":${text}}`
  }
  const { kind, message, code, data, refusal, retryable, retryAfterMs } = outcome.error
  return JSON.stringify({ error: { kind, message, code, data, refusal, retryable, retryAfterMs } })
}

/** Reads the text of an outcome that is an error. */
export function readError(text: string): McpError {
  return (readOutcome(text) as { readonly error: McpError }).error
}

/** Reads the text of an outcome. One that is damaged gives an error that says so. */
export function readOutcome(text: string): TaskOutcome {
  try {
    const { result, error } = JSON.parse(text) as { readonly result?: Result; readonly error?: JsonObject }
    if (isObject(result)) return { result }
    if (typeof error?.['kind'] === 'string') return { error: errorIn(error) }
  } catch {
    // The same as a text of another form.
  }
  return { error: mcpError(TASK_DAMAGED, { part: 'outcome' }) }
}

function errorIn(error: JsonObject): McpError {
  const { kind, message, ...extras } = error as JsonObject & ErrorExtras
  const { code, ...others } = extras
  const coded = kind === 'custom' ? { code: code as number } : {}
  return new McpError(kind as ErrorKind, String(message), { ...(others as ErrorExtras), ...coded })
}

/** The members of a record that say how the task ended. A failure of any kind frees its key; what attempts share is kept for a retry. */
export function endOf(head: TaskHead, outcome: TaskOutcome, failure?: McpError): TaskChange {
  const error = 'error' in outcome ? outcome.error : failure
  const isError = 'result' in outcome && outcome.result['isError'] === true
  return {
    isError,
    ...(error === undefined ? { state: '' } : { statusMessage: statusMessageOf(error.message) }),
    ...(error !== undefined || isError ? { key: freedKey(head) } : {}),
  }
}

/** Outcomes up to this size are kept, whatever room there is. */
const SHORT_BYTES = 1024

/** Errors that nobody meant to throw, so that another attempt may succeed. */
const UNEXPECTED: ReadonlySet<string> = new Set([
  'tool_failed',
  'task_timeout',
  'internal',
  'store_unreachable',
  'overloaded',
])

/** Whether an outcome is always kept: the error that it has no room would take as much. */
export function isShort(text: string): boolean {
  return text.length <= SHORT_BYTES && textBytes(text) <= SHORT_BYTES
}

/** Whether an error is not what the handler meant to answer: a ToolError is, in whichever form. */
export function isUnexpected({ kind, cause }: McpError): boolean {
  return UNEXPECTED.has(kind) && !(cause instanceof ToolError)
}
