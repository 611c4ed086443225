import type { RefusalName } from '../protocol/refusals.ts'
import * as base from './base.ts'
import * as client from './client.ts'
import type { ErrorKind } from './kinds.ts'
import { printable } from './printable.ts'
import type { ErrorRow, FactsOf } from './row.ts'
import * as rpc from './rpc.ts'
import * as transport from './transport.ts'
import * as wire from './wire.ts'

export type { ErrorKind } from './kinds.ts'

/** The errors that can be named by kind: at first those of both sides. */
const KNOWN = new Map<string, ErrorRow>()
for (const module of [base, wire, rpc, client, transport]) knowErrors(Object.values(module))

/** Lets errors be named by kind, and gives all that can be. A client does without those that only servers cause. */
export function knowErrors(rows: Iterable<ErrorRow>): ReadonlyMap<string, ErrorRow> {
  for (const row of rows) KNOWN.set(row.kind, row)
  return KNOWN
}

export interface ErrorExtras {
  /** Members of `error.data` besides the refusal. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
  readonly retryAfterMs?: number | undefined
  /** Whether to try again; by default the kind decides. */
  readonly retryable?: boolean | undefined
  /** The code of an error of kind `custom`; other kinds are always sent with their own. */
  readonly code?: number | undefined
  /** The refusal, if it is not the kind's own. */
  readonly refusal?: RefusalName | undefined
}

/** The one error class. Switch on `kind`, or on `refusal` if a server rejected a request; `hint` says what to do. */
export class McpError extends Error {
  readonly kind: ErrorKind
  readonly code: number
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly refusal: RefusalName | undefined
  readonly hint: string
  readonly retryable: boolean
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
    this.hint = row.hint
    this.retryable = extras.retryable ?? row.retryable === true
    this.retryAfterMs = extras.retryAfterMs
  }

  override get name(): string {
    return 'McpError'
  }
}

/** The row of a kind. Unknown kinds are treated as `remote`. */
export function rowOf(kind: ErrorKind): ErrorRow {
  return KNOWN.get(kind) ?? client.REMOTE
}

/** Creates an error. Omitting a fact that its text needs is a compile error. */
export function mcpError<const Row extends ErrorRow>(
  row: Row,
  facts: FactsOf<Row>,
  extras?: ErrorExtras,
): McpError {
  const values = facts as Readonly<Record<string, string | number>>
  const message = row.text.replace(/\{(\w+)\}/g, (_, slot: string) => String(values[slot]))
  const { kind } = row
  if (!KNOWN.has(kind)) KNOWN.set(kind, row)
  if (row.tells === undefined) return new McpError(kind, message, extras)
  const [name, slot] = row.tells
  return new McpError(kind, message, { ...extras, data: { [name]: values[slot], ...extras?.data } })
}
