import { mcpError } from '../../../errors/error.ts'
import { BAD_OPTION } from '../../../errors/base.ts'

/** Headers of the caller: fixed, or made anew for every HTTP request. */
export type CallerHeaders = HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>)

export type HeaderRecord = Readonly<Record<string, string>>

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/
/** What the transport says about its own bodies, whatever a caller says. */
const OWN: ReadonlySet<string> = new Set(['accept', 'content-type', 'content-length', 'last-event-id'])
const MAX_RETRY_AFTER_MS = 3_600_000

/** Headers of a caller with their names in lower case; throws for those that a caller must not send. */
export function readCallerHeaders(headers: HeaderRecord): HeaderRecord {
  const read = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (lower.startsWith('mcp-')) throw refused(name, 'it is set by the client itself')
    if (!OWN.has(lower)) read.set(lower, checked(name, value))
  }
  return Object.fromEntries(read)
}

/** Headers of one request with their names in lower case; throws for those that cannot be sent. */
export function readRequestHeaders(headers: HeaderRecord): HeaderRecord {
  const read = new Map<string, string>()
  for (const name of Object.keys(headers)) read.set(name.toLowerCase(), checked(name, headers[name]))
  return Object.fromEntries(read)
}

function checked(name: string, value: unknown): string {
  if (!TOKEN.test(name)) throw refused(name, 'that is not a header name')
  if (typeof value !== 'string') throw refused(name, 'the value is not a string')
  if (!VALUE.test(value))
    throw refused(name, 'the value has a line break or another character that no header has')
  return value
}

function refused(name: string, reason: string): Error {
  return mcpError(BAD_OPTION, { where: `headers ${JSON.stringify(name.slice(0, 64))}`, reason })
}

/** Whether a session id is one that can be sent back. */
export function isSessionId(value: string): boolean {
  return SESSION_ID.test(value)
}

/** The media type that a reply claims, without its parameters. */
export function mediaTypeOf(headers: Headers): string {
  const type = headers.get('content-type') ?? ''
  const end = type.indexOf(';')
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase()
}

/** How long a reply asks to wait, in seconds or until a date; never longer than an hour. */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null || value === '') return undefined
  const ms = /^[0-9]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}
