import type { HttpErrorKind } from './http.ts'
import type { LateErrorKind } from './late.ts'
import { printable } from './printable.ts'
import type { QueueErrorKind } from './queue.ts'
import type { RefusalName, SentRefusalName } from '../protocol/refusals.ts'
import type { ServerErrorKind } from './server.ts'

export interface ErrorRow {
  /** `wire`: an error for the peer. `result`: a tool result that the model reads. `local`: never sent. */
  readonly where: 'wire' | 'result' | 'local'
  readonly code: number
  /** Another code up to and including 2025-11-25. */
  readonly codeBefore2026?: number
  /** The HTTP status when the message is refused; without one, the error travels as an ordinary reply. */
  readonly http?: number
  /** Another status at 2026-07-28. */
  readonly httpFrom2026?: number
  readonly refusal?: SentRefusalName
  /** Whether the same request may succeed later without being changed; for a refusal, what its reaction says. */
  readonly retryable?: true
  /** The message, with named slots for the facts that the thrower gives. */
  readonly text: string
  /** A member of `error.data` and the slot whose fact it holds. */
  readonly tells?: readonly [string, string]
  /** What to do about it, where those who throw it can; for errors that are only sent, a table beside has it. */
  readonly hint?: string
}

/** The errors that clients know, one row each; a server adds its own. */
// oxfmt-ignore
export const ERRORS = {
  // Reading a message
  parse_failed:         { where: 'wire', code: -32700, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the message is not valid JSON' },
  bad_message:          { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'not a JSON-RPC 2.0 message: {reason}' },
  duplicate_key:        { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the key "{key}" appears twice in one object' },
  too_deep:             { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the message is nested deeper than {limit} levels' },
  too_large:            { where: 'wire', code: -32600, http: 413, refusal: 'MESSAGE_TOO_LARGE', text: 'the message is larger than {limit} bytes', tells: ['maxSize', 'limit'], hint: 'Send less at once or raise the message limit.' },

  // Routing
  unknown_method:       { where: 'wire', code: -32601, httpFrom2026: 404, refusal: 'PROTOCOL_ERROR', text: 'the method "{method}" does not exist at {revision}', hint: 'See docs/reference/methods.md.' },
  not_offered:          { where: 'wire', code: -32601, httpFrom2026: 404, refusal: 'PROTOCOL_ERROR', text: '"{method}" needs the capability {capability}, which this server does not offer', hint: 'Use only what the server declared.' },
  bad_params:           { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'invalid params for {method}: {reason}' },
  tool_arguments:       { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'arguments of tool "{name}" are invalid: {issue}', hint: 'Correct the arguments and call again.' },

  // Load
  overloaded:           { where: 'wire', code: 1005, http: 503, refusal: 'BACKPRESSURE_ACTIVE', retryable: true, text: 'too many requests are being answered', hint: 'Try again later.' },
  internal:             { where: 'wire', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'internal error (reference {reference})' },

  // In this process only
  cancelled:            { where: 'local', code: -32603, text: 'the request was cancelled{reason}', hint: 'Stop the work.' },
  connection_closed:    { where: 'local', code: -32603, text: 'the connection closed before {method} was answered', hint: 'Connect again.' },
  timeout:              { where: 'local', code: -32001, refusal: 'TIMEOUT', retryable: true, text: '{method} was not answered within {ms} ms', hint: 'Raise the timeout, or ask for less.' },
  connect_failed:       { where: 'local', code: -32000, refusal: 'TRANSPORT_ERROR', retryable: true, text: 'cannot connect to {target}: {reason}', hint: 'Check that the server is running and the address or command is right.' },
  session_lost:         { where: 'local', code: -32001, refusal: 'SESSION_INVALID', text: 'the server no longer knows the session', hint: 'Connect again; what is safe to repeat was repeated.' },
  stream_lost:          { where: 'local', code: -32000, refusal: 'TRANSPORT_ERROR', retryable: true, text: 'the stream broke before {method} was answered', hint: 'Repeat the request if that is safe.' },
  http_failed:          { where: 'local', code: -32000, text: '{method} failed with HTTP status {status}{reason}', hint: 'Look at the status; 401 and 403 need credentials, 5xx a later try.' },
  bad_answer:           { where: 'local', code: -32600, text: 'the server answered {method} with something invalid: {issue}', hint: 'Check that the address is that of an MCP server; if it is, report this to its author.' },
  answer_too_large:     { where: 'local', code: -32600, text: 'the server sent more than {limit} {unit}', hint: 'Ask for less, or raise the limit.' },
  no_revision:          { where: 'local', code: -32022, text: 'the server offers {offered}, none of which this client speaks', hint: 'Update the client or the server.' },
  remote:               { where: 'local', code: -32603, text: '{message}', hint: 'The server gives the reason.' },
  closed:               { where: 'local', code: -32000, text: 'the client is closed', hint: 'Connect again.' },
  bad_option:           { where: 'local', code: -32603, text: '{where}: {reason}', hint: 'Correct the option.' },
} as const
ERRORS satisfies ErrorTable

export type ErrorKind = keyof typeof ERRORS | ServerErrorKind | LateErrorKind | HttpErrorKind | QueueErrorKind
export type ErrorTable = Readonly<Record<string, ErrorRow>>

const known = new Map<string, ErrorRow>()

/** The row of an error. A program without a server does not know what only servers throw. */
export function errorRow(kind: ErrorKind): ErrorRow {
  return known.get(kind) ?? ERRORS.remote
}

type Slots<Text extends string> = Text extends `${string}{${infer Slot}}${infer Rest}`
  ? Slot | Slots<Rest>
  : never
type FactsOf<Row extends ErrorRow> = Readonly<Record<Slots<Row['text']>, string | number>>

/** Makes errors of the kinds of a table. Leaving out a fact that the text needs does not compile. */
export type MakeError<Table extends ErrorTable> = <Kind extends keyof Table & ErrorKind>(
  kind: Kind,
  facts: FactsOf<Table[Kind]>,
  extras?: ErrorExtras,
) => McpError

export const mcpError: MakeError<typeof ERRORS> = addErrors(ERRORS)

/** Makes the errors of a table known, and gives back what makes them. */
export function addErrors<Table extends ErrorTable>(table: Table): MakeError<Table> {
  for (const [kind, row] of Object.entries(table)) known.set(kind, row)
  return (kind, facts, extras) => {
    const values = facts as Readonly<Record<string, string | number>>
    const { text, tells } = table[kind] as ErrorRow
    const message = text.replace(/\{(\w+)\}/g, (_, slot: string) => String(values[slot]))
    if (tells === undefined) return new McpError(kind, message, extras)
    const [name, slot] = tells
    return new McpError(kind, message, { ...extras, data: { [name]: values[slot], ...extras?.data } })
  }
}

export interface ErrorExtras {
  /** Members of `error.data` besides the refusal. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
  readonly retryAfterMs?: number
  /** Whether to try again, where the kind alone does not say. */
  readonly retryable?: boolean
  /** The code that came over the wire, where it is not the kind's own. */
  readonly code?: number
  /** The refusal, where it is not the kind's own. */
  readonly refusal?: RefusalName
}

/** The one error class. Switch on `kind`, or on `refusal` where a server refused; `hint` says what to do. */
export class McpError extends Error {
  readonly kind: ErrorKind
  readonly code: number
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly refusal: RefusalName | undefined
  readonly hint: string
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(kind: ErrorKind, message: string, extras: ErrorExtras = {}) {
    super(printable(message), 'cause' in extras ? { cause: extras.cause } : undefined)
    const row = errorRow(kind)
    this.kind = kind
    this.code = extras.code ?? row.code
    this.data = extras.data
    this.refusal = extras.refusal ?? row.refusal
    this.hint = row.hint ?? ''
    this.retryable = extras.retryable ?? row.retryable === true
    this.retryAfterMs = extras.retryAfterMs
  }

  override get name(): string {
    return 'McpError'
  }
}
