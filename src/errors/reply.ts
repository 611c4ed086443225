import { rowOf, type McpError } from './error.ts'
import type { ErrorObject } from '../protocol/jsonrpc.ts'
import { REFUSALS, type RefusalRow, type SentRefusalName } from '../protocol/refusals.ts'
import type { Dialect } from '../protocol/switches.ts'

/** The error object of a reply in a dialect: the official code, with the refusal in `data`. */
export function toErrorObject(error: McpError, dialect: Dialect | undefined): ErrorObject {
  const official = toOfficial(error, dialect)
  const adapter = dialect?.adapter
  return adapter === undefined ? official : adapter.encodeError(error, official)
}

function toOfficial(error: McpError, dialect: Dialect | undefined): ErrorObject {
  const row = rowOf(error.kind)
  const early = dialect !== undefined && dialect.revision < '2026-07-28'
  const own = row.checkCode === undefined ? row.code : error.code
  const code = early && hasUrlsToVisit(error) ? (row.codeBefore2026 ?? own) : own
  const refusal = toRefusal(error)
  if (refusal === undefined && error.data === undefined) return { code, message: error.message }
  return {
    code,
    message: error.message,
    data: refusal === undefined ? error.data : { ...error.data, refusal },
  }
}

/** Whether a `url_needed` error has the URLs, each with an id, that its older code requires; true for all other errors. */
function hasUrlsToVisit({ kind, data }: McpError): boolean {
  if (kind !== 'url_needed') return true
  const items = data?.['elicitations']
  return Array.isArray(items) && items.length > 0 && items.every(isVisit)
}

function isVisit(item: unknown): boolean {
  const { mode, url, elicitationId, message } = (item ?? {}) as Readonly<Record<string, unknown>>
  return mode === 'url' && [url, elicitationId, message].every((one) => typeof one === 'string')
}

/** The refusal of an error, as sent in `error.data` or in the `_meta` of a tool result. */
export function toRefusal(error: McpError): Readonly<Record<string, unknown>> | undefined {
  const { refusal: name, retryable, retryAfterMs } = error
  if (name === undefined) return undefined
  // Handlers may give one that only clients have in their catalogue; its name is enough for them.
  const row: RefusalRow | undefined = REFUSALS[name as SentRefusalName]
  const known = row && { code: row.code, name, httpStatus: row.http, severity: row.severity }
  return { ...known, name, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** The HTTP status for a request that ends in this error. */
export function toStatus(error: McpError, dialect: Dialect | undefined): number {
  const row = rowOf(error.kind)
  const status = (dialect?.revision === '2026-07-28' ? (row.httpFrom2026 ?? row.http) : row.http) ?? 200
  const adapter = dialect?.adapter
  return adapter === undefined ? status : adapter.statusOf(error, status)
}
