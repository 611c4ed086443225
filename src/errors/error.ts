import { showHints } from '#hints'
import type { RefusalName } from '../protocol/refusals.ts'
import { BAD_OPTION } from './base.ts'
import { ANSWER_TOO_LARGE, BAD_ANSWER, HTTP_FAILED, NO_REVISION, REMOTE, SESSION_LOST } from './client.ts'
import type { ErrorKind } from './kinds.ts'
import { printable, unbroken } from './printable.ts'
import type { ErrorRow, FactsOf } from './row.ts'
import {
  CANCELLED,
  CLOSED,
  CONNECTION_CLOSED,
  NOT_OFFERED,
  OVERLOADED,
  SHUTTING_DOWN,
  TIMEOUT,
  UNKNOWN_METHOD,
} from './rpc.ts'
import { CONNECT_FAILED, STREAM_LOST } from './transport.ts'
import {
  BAD_MESSAGE,
  BAD_PARAMS,
  DUPLICATE_KEY,
  INTERNAL,
  PARSE_FAILED,
  REVISION_UNSUPPORTED,
  TOO_DEEP,
  TOO_LARGE,
  TOO_MANY_CONTAINERS,
  TOO_MANY_KEYS,
  TOO_MANY_VALUES,
} from './wire.ts'

export type { ErrorKind } from './kinds.ts'

/** The errors that can be named by kind: at first those of both sides. */
const KNOWN = new Map<string, ErrorRow>()
// Listed one by one: objects for whole modules would make the client larger.
knowErrors([
  BAD_OPTION,
  PARSE_FAILED,
  BAD_MESSAGE,
  DUPLICATE_KEY,
  TOO_DEEP,
  TOO_MANY_CONTAINERS,
  TOO_MANY_KEYS,
  TOO_MANY_VALUES,
  TOO_LARGE,
  BAD_PARAMS,
  INTERNAL,
  REVISION_UNSUPPORTED,
  UNKNOWN_METHOD,
  NOT_OFFERED,
  OVERLOADED,
  CANCELLED,
  CONNECTION_CLOSED,
  TIMEOUT,
  CLOSED,
  SHUTTING_DOWN,
  SESSION_LOST,
  BAD_ANSWER,
  ANSWER_TOO_LARGE,
  NO_REVISION,
  REMOTE,
  HTTP_FAILED,
  CONNECT_FAILED,
  STREAM_LOST,
])

/** Lets errors be named by kind, and gives all that can be. A client does without those that only servers cause. */
export function knowErrors(rows: Iterable<ErrorRow>): ReadonlyMap<string, ErrorRow> {
  for (const row of rows) KNOWN.set(row.kind, row)
  return KNOWN
}

/** Optional facts of an `McpError`, besides its kind and message. */
export interface ErrorExtras {
  /** Members of `error.data` besides the refusal. Default: none. The peer gets them, so keep secrets out. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** The error behind this one, as in `new Error(message, { cause })`. Default: none. It stays in the process. */
  readonly cause?: unknown
  /** Milliseconds to wait before trying again, sent with the refusal or as the HTTP header `Retry-After`. Default: nothing is said. */
  readonly retryAfterMs?: number | undefined
  /** Whether to try again. Default: the kind decides. */
  readonly retryable?: boolean | undefined
  /** The code of an error of kind `custom`, which has no default. Other kinds are always sent with their own. */
  readonly code?: number | undefined
  /** How to fix the problem. Default: the hint of the kind. It stays in the process. */
  readonly hint?: string | undefined
  /** The refusal that clients react to. Default: that of the kind, if it has one. */
  readonly refusal?: RefusalName | undefined
}

/**
 * The one error class. Switch on `kind`, or on `refusal` if a server rejected a request; `hint` says what to do. A handler may
 * throw one to answer a request with an error; for a failure that the model should read, throw a `ToolError`.
 *
 * @example
 * try {
 *   await client.call('book', { berth: 7 })
 * } catch (error) {
 *   if (!(error instanceof McpError)) throw error
 *   if (error.kind === 'timeout') return 'no answer in time'
 *   console.error(`${error.message}. ${error.hint}`)
 * }
 */
export class McpError extends Error {
  /** The kind of error, a stable name to compare with. `remote` stands for any error of another server that has no kind of its own. */
  readonly kind: ErrorKind
  /** The JSON-RPC code. Several kinds share one, so `kind` says more. */
  readonly code: number
  /** Details, such as the field that was wrong; undefined if there are none. For a received error, all of `error.data`. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** The entry of the refusal catalogue, which `refusalOf` looks up; undefined if the error is not a refusal. */
  readonly refusal: RefusalName | undefined
  /** A sentence that says how to fix the problem. It comes from this package, never from the server. */
  readonly hint: string
  /** Whether the same request may succeed later, unchanged. The client has already retried as far as `recovery` allows. */
  readonly retryable: boolean
  /** How long the server asks to wait, at most an hour; undefined if it does not say. */
  readonly retryAfterMs: number | undefined

  /**
   * Creates an error. Kind `custom` is for codes of your own: `new McpError('custom', 'sold out', { code: 4009, data })`. The code
   * must not be one of JSON-RPC and MCP (-32768 to -32000) or a refusal (1001 to 1099).
   */
  constructor(kind: ErrorKind, message: string, extras: ErrorExtras = {}) {
    super(printable(message), 'cause' in extras ? { cause: extras.cause } : undefined)
    const row = rowOf(kind)
    row.checkCode?.(extras.code)
    this.kind = kind
    this.code = extras.code ?? row.code
    this.data = extras.data
    this.refusal = extras.refusal ?? row.refusal
    this.hint = extras.hint ?? row.hint
    this.retryable = extras.retryable ?? row.retryable === true
    this.retryAfterMs = extras.retryAfterMs
    showHints()
  }

  /** Always `McpError`, also in minified programs. */
  override get name(): string {
    return 'McpError'
  }
}

/** The row of a kind. Unknown kinds are treated as `remote`. */
export function rowOf(kind: ErrorKind): ErrorRow {
  return KNOWN.get(kind) ?? REMOTE
}

/** Creates an error. Omitting a fact that its text needs is a compile error. Facts may come from a peer, so they add no lines. */
export function mcpError<const Row extends ErrorRow>(
  row: Row,
  facts: FactsOf<Row>,
  extras?: ErrorExtras,
): McpError {
  const values = facts as Readonly<Record<string, string | number>>
  const message = row.text.replace(/\{(\w+)\}/g, (_, slot: string) => unbroken(String(values[slot])))
  const { kind } = row
  if (!KNOWN.has(kind)) KNOWN.set(kind, row)
  if (row.tells === undefined) return new McpError(kind, message, extras)
  const [name, slot] = row.tells
  return new McpError(kind, message, { ...extras, data: { [name]: values[slot], ...extras?.data } })
}
