import { McpError, rowOf } from './error.ts'
import type { ErrorRow } from './row.ts'

/** Errors of clients, whatever their kind. */
const received = new WeakSet<McpError>()

/** Marks an error that a client got from its server, or found itself. It may contain secrets of that connection. */
export function markReceived<Thrown>(error: Thrown): Thrown {
  if (error instanceof McpError) received.add(error)
  return error
}

/** Where an error goes if a handler throws it. */
export function whereOf(error: McpError): ErrorRow['where'] {
  return received.has(error) ? 'local' : rowOf(error.kind).where
}
