import { rowOf, type McpError } from './error.ts'
import type { ErrorRow } from './row.ts'

/** Errors of other servers that no row keeps from being sent on. */
const received = new WeakSet<McpError>()

/** Marks an error that a client got from its server. It may contain secrets of that connection. */
export function markReceived(error: McpError): McpError {
  received.add(error)
  return error
}

/** Where an error goes if a handler throws it. */
export function whereOf(error: McpError): ErrorRow['where'] {
  return received.has(error) ? 'local' : rowOf(error.kind).where
}
