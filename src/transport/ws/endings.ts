import { McpError, mcpError } from '../../errors/error.ts'
import { unbroken } from '../../errors/printable.ts'
import { OVERLOADED } from '../../errors/rpc.ts'
import { CLOSE } from './close-codes.ts'

/** The code of a connection that ended without a close frame. */
export const ABNORMAL = 1006

/** The error for requests that were pending when a connection ended. */
export function toReason(code: number, reason: string): McpError {
  if (code === CLOSE.tryLater) return mcpError(OVERLOADED, {}, { data: { code } })
  return new McpError('stream_lost', unbroken(closeText(code, reason)), { data: { code } })
}

/** Describes how a connection ended. */
export function closeText(code: number, reason: string): string {
  if (code === CLOSE.goingAway || code === CLOSE.moved) return 'the server is going away'
  if (code === ABNORMAL) return 'the connection broke'
  return `the server closed the connection with code ${code}${reason === '' ? '' : `: ${reason}`}`
}

/** The code that a library gave to an error. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code
}
