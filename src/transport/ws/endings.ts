import { McpError, mcpError } from '../../errors/error.ts'
import { OVERLOADED } from '../../errors/rpc.ts'
import { CLOSE } from './close-codes.ts'

/** The code of a connection that ended without a close frame. */
export const ABNORMAL = 1006

/** The error for requests that were pending when a connection ended. */
export function toReason(code: number, reason: string): McpError {
  if (code === CLOSE.tryLater) return mcpError(OVERLOADED, {}, { data: { code } })
  return new McpError('stream_lost', closeText(code, reason), { data: { code } })
}

/** Describes how a connection ended. */
export function closeText(code: number, reason: string): string {
  if (code === CLOSE.goingAway) return 'the server is going away'
  if (code === ABNORMAL) return 'the connection broke'
  return `the server closed the connection with code ${code}${reason === '' ? '' : `: ${reason}`}`
}

/** The HTTP status of a server that did not upgrade; the library gives it only as text. */
export function statusOf(cause: unknown): number | undefined {
  const found = cause instanceof Error ? /^Unexpected server response: (\d{3})$/.exec(cause.message) : null
  return found === null ? undefined : Number(found[1])
}

/** The code that a library gave to an error. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code
}

/** Whether a server that could not be reached may have kept the session and be reachable soon. */
export function isPassing(error: unknown): boolean {
  const { cause, data } = error as McpError
  const status = data?.['status']
  if (typeof status === 'number') return status >= 500 || status === 429
  return cause === undefined || PASSING.has(codeOf(cause))
}

/** Network problems. A refused connection is not one: that server is not running and has no sessions. */
const PASSING: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENETDOWN',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
])
