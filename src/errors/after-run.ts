import { McpError } from './error.ts'
import { refusalRow } from './refusal.ts'

/**
 * An error that a handler threw, marked if clients take it for a rejection before the handler ran: they would repeat the
 * request, and with it what the handler has done already.
 */
export function afterRun(error: McpError): McpError {
  const { kind, message, code, refusal, retryable, retryAfterMs } = error
  const { reaction, ran } = refusalRow(refusal) ?? {}
  if (ran === true || (reaction !== 'back off' && reaction !== 'reconnect')) return error
  return new McpError(kind, message, {
    code,
    retryable,
    cause: error,
    data: { ...error.data, mayHaveRun: true },
    ...(refusal !== undefined && { refusal }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
