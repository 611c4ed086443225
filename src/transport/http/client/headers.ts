import { badOption } from '../../../base/options.ts'

/** The caller's headers: fixed, or created for every HTTP request. */
export type CallerHeaders = HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>)

/** HTTP headers by name, such as `{ authorization: 'Bearer …' }`. */
export type HeaderRecord = Readonly<Record<string, string>>

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/
/** Headers that the transport sets itself; a caller cannot override them. */
const OWN: ReadonlySet<string> = new Set(['accept', 'content-type', 'content-length', 'last-event-id'])
const MAX_RETRY_AFTER_MS = 3_600_000

/** The caller's headers with lower-case names; throws for headers that a caller must not send. */
export function readCallerHeaders(headers: HeaderRecord): HeaderRecord {
  const read = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (lower.startsWith('mcp-')) throw refused(name, 'the client sets it itself')
    if (!OWN.has(lower)) read.set(lower, checked(name, value))
  }
  return Object.fromEntries(read)
}

/** The headers of one request with lower-case names; throws for headers that cannot be sent. */
export function readRequestHeaders(headers: HeaderRecord): HeaderRecord {
  const read = new Map<string, string>()
  for (const name of Object.keys(headers)) read.set(name.toLowerCase(), checked(name, headers[name]))
  return Object.fromEntries(read)
}

function checked(name: string, value: unknown): string {
  if (!TOKEN.test(name)) throw refused(name, 'that is not a header name')
  if (typeof value !== 'string') throw refused(name, 'the value is not a string')
  if (!VALUE.test(value))
    throw refused(name, 'the value has a line break or another character that headers do not allow')
  return value
}

function refused(name: string, reason: string): Error {
  return badOption(`headers ${JSON.stringify(name.slice(0, 64))}`, reason)
}

/** Whether a session id can be sent back. */
export function isSessionId(value: string): boolean {
  return SESSION_ID.test(value)
}

/** The media type of a reply, without parameters. */
export function mediaTypeOf(headers: Headers): string {
  const type = headers.get('content-type') ?? ''
  const end = type.indexOf(';')
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase()
}

/** How long a reply asks to wait, at most an hour. The header has seconds or a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null || value === '') return undefined
  const ms = /^[0-9]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}
