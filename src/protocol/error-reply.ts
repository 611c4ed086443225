import { errorRow, type McpError } from './errors.ts'
import type { ErrorObject } from './jsonrpc.ts'
import { REFUSALS } from './refusals.ts'
import type { Revision } from './revisions.ts'

/** The error object of a reply at a revision: official code first, the refusal in `data`. */
export function toErrorObject(error: McpError, revision: Revision | undefined): ErrorObject {
  const row = errorRow(error.kind)
  const early = revision !== undefined && revision < '2026-07-28'
  const code = early ? (row.codeBefore2026 ?? row.code) : row.code
  const refusal = toRefusal(error)
  if (refusal === undefined && error.data === undefined) return { code, message: error.message }
  return {
    code,
    message: error.message,
    data: refusal === undefined ? error.data : { ...error.data, refusal },
  }
}

/** The refusal that belongs to an error, as it travels in `error.data` or in the `_meta` of a tool result. */
export function toRefusal(error: McpError): Readonly<Record<string, unknown>> | undefined {
  const { refusal } = errorRow(error.kind)
  if (refusal === undefined) return undefined
  const { code, http, severity } = REFUSALS[refusal]
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }
  return { code, name: refusal, httpStatus: http, severity, retryable: error.retryable, ...retryAfter }
}

/** The HTTP status for a request that ends in this error. */
export function toStatus(error: McpError, revision: Revision | undefined): number {
  const row = errorRow(error.kind)
  const status = revision === '2026-07-28' ? (row.httpFrom2026 ?? row.http) : row.http
  return status ?? 200
}
