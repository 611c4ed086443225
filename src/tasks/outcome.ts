import { McpError, type ErrorExtras, type ErrorKind } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'

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
