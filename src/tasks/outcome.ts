import { McpError, type ErrorExtras, type ErrorKind } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import { freedKey } from './key.ts'
import type { TaskHead } from './record.ts'
import type { TaskChange } from './store.ts'

/** How a task ended: with a result, or with an error. */
export type TaskOutcome = { readonly result: Result } | { readonly error: McpError }

/** The text of an outcome for the record. Throws if a result is not JSON. */
export function outcomeText(outcome: TaskOutcome): string {
  if ('result' in outcome) return `{"result":${JSON.stringify(outcome.result)}}`
  const { kind, message, code, data, refusal, retryable, retryAfterMs } = outcome.error
  return JSON.stringify({ error: { kind, message, code, data, refusal, retryable, retryAfterMs } })
}

/** Reads the text of an outcome that is an error. */
export function readError(text: string): McpError {
  return (readOutcome(text) as { readonly error: McpError }).error
}

/** Reads the text of an outcome. */
export function readOutcome(text: string): TaskOutcome {
  const { result, error } = JSON.parse(text) as { readonly result?: Result; readonly error?: JsonObject }
  if (result !== undefined) return { result }
  const { kind, message, ...extras } = error as JsonObject & ErrorExtras
  const { code, ...others } = extras
  const coded = kind === 'custom' ? { code: code as number } : {}
  return { error: new McpError(kind as ErrorKind, String(message), { ...(others as ErrorExtras), ...coded }) }
}

/** The members of a record that say how the task ended. A failure of any kind frees its key; what attempts share is kept for a retry. */
export function endOf(head: TaskHead, outcome: TaskOutcome, failure?: McpError): TaskChange {
  const error = 'error' in outcome ? outcome.error : failure
  const isError = 'result' in outcome && outcome.result['isError'] === true
  return {
    isError,
    ...(error === undefined ? { state: '' } : { statusMessage: error.message }),
    ...(error !== undefined || isError ? { key: freedKey(head) } : {}),
  }
}
