import { mcpError, McpError } from '../errors/error.ts'
import { SOON } from '../errors/retry-after.ts'
import { STORE_FAILED, STORE_UNREACHABLE } from '../errors/store.ts'

/** Errors after which the same step may work later: connections, resources, conflicts, and a server that starts or stops. */
const PASSING = /^(?:08|40|53|57|25P0[34]|25006|55P03|28)/

/** The server stops, or a connection was idle for too long. */
const ENDING = /^(?:08|57P|25P0[34])/

/** The server does not let the program in, and will not do so a moment later. */
const REJECTED = /^28/

const OTHER_TABLES =
  'A newer version of Pierhead may have changed the tables: end this process, and start that version.'

const HINTS: ReadonlyMap<string, string> = new Map([
  ['3D000', 'Create the database, or give postgres the URL of another one.'],
  ['42501', 'Let the user of the URL create the schema and its tables, and read and write them.'],
  ['42P01', OTHER_TABLES],
  ['42703', OTHER_TABLES],
])

/** The code of an error that the server sent; undefined for errors of the connection. */
function codeOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}

/** Whether the server rejected a statement, so that nothing of its transaction happened. */
export function isReply(error: unknown): boolean {
  return codeOf(error) !== undefined
}

/** Whether the server ends the connection after this reply. Its words depend on the language of the server, the codes do not. */
export function endsConnection(error: unknown): boolean {
  const { severity } = error as { readonly severity?: unknown }
  return severity === 'FATAL' || severity === 'PANIC' || ENDING.test(codeOf(error) ?? '')
}

/** Whether the same step may work at once, over another connection. */
export function mayRepeat(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return PASSING.test(code) && !REJECTED.test(code)
  return !(error instanceof McpError) && messageOf(error) !== 'Query read timeout'
}

/** How the message begins if no connection was had in time. */
export const LATE = 'no connection'

/** Whether no connection was had in time: from us, or from `pg`. */
export function isLate(error: unknown): boolean {
  const message = messageOf(error)
  return message.startsWith(LATE) || message === 'timeout exceeded when trying to connect'
}

/** The error for the user. Those of `pg` may have values of statements, which may be secret. */
export function postgresFailure(place: string, error: unknown): McpError {
  if (error instanceof McpError) return error
  const code = codeOf(error)
  const message = messageOf(error)
  const cause = new Error(message)
  if (code !== undefined && !PASSING.test(code)) {
    const hint = HINTS.get(code) ?? 'Use PostgreSQL 12 or newer, with a schema that no other program uses.'
    return mcpError(STORE_FAILED, { path: place, reason: `${message} (${code})` }, { cause, hint })
  }
  const hint = `Try again later. Operators: check that PostgreSQL runs at ${place} and lets this program in (${message}).`
  return mcpError(STORE_UNREACHABLE, {}, { ...SOON, cause, hint })
}

/** The message of an error. `pg` reports a host with several addresses as an error without one. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  return error.message === '' && first instanceof Error ? first.message : error.message
}
