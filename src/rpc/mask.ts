import { McpError, mcpError, type ErrorKind } from '../errors/error.ts'
import type { ErrorRow } from '../errors/row.ts'
import { INTERNAL } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from './call.ts'
import type { Service } from './service.ts'

/** The parts of a server that decide what callers learn about mistakes. */
export type Masking = Pick<Service, 'report' | 'showsErrors'>

/**
 * Reports something that was thrown by mistake, and returns the error to send instead. Callers get the reference of
 * their request, or the message if the server shows it.
 */
export function mask(
  masking: Masking,
  thrown: unknown,
  { what, call, row = INTERNAL, name = '', facts = {} }: Failure,
): McpError {
  const reference = call?.reference ?? crypto.randomUUID()
  const requestId = call?.params['requestId']
  const known = typeof requestId === 'string' || typeof requestId === 'number' ? { requestId } : {}
  masking.report('error', `${what} failed`, { reference, ...facts, ...known, error: thrown })
  return concealed(masking, messageOf(thrown), row, { reference, name }, thrown)
}

interface Failure {
  /** The subject of a sentence: "… failed". */
  readonly what: string
  /** Absent if the request was rejected before it became a call. */
  readonly call: Call | undefined
  /** The error that callers get, with slots for the reference and the name. */
  readonly row?: ErrorRow
  readonly name?: string
  /** What else the log says about it. */
  readonly facts?: JsonObject
}

/** An error that says only its reference, or `message` if the server shows messages. */
export function concealed(
  { showsErrors }: Masking,
  message: string,
  row: ErrorRow,
  facts: { readonly reference: string; readonly name: string },
  cause?: unknown,
): McpError {
  const extras = cause === undefined ? {} : { cause }
  return showsErrors && message !== ''
    ? new McpError(row.kind as ErrorKind, message, extras)
    : mcpError(row, facts, extras)
}

/** The message of anything thrown; empty if it has none. */
function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return ''
  }
}
