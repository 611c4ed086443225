import type { McpError } from './error.ts'
import {
  isRetryable,
  REFUSALS,
  type Reaction,
  type RefusalName,
  type RefusalRow,
  type Severity,
} from '../protocol/refusals.ts'
import { RESERVED_REFUSALS } from '../protocol/reserved-refusals.ts'

/** The catalogue entry of a refusal. */
export interface Refusal {
  /** The name to compare with, such as `QUEUE_CAP_EXCEEDED`. */
  readonly name: RefusalName
  /** Its number in the catalogue, from 1001 to 1099. The code of the JSON-RPC error is a different one. */
  readonly code: number
  /** The HTTP status that fits it. The reply may have had another, since most errors are sent in ordinary replies. */
  readonly httpStatus: number
  /** How serious it is for the operator of the server. */
  readonly severity: Severity
  /** How a client should react. */
  readonly reaction: Reaction
  /** Whether the same request may succeed later, unchanged: true if the reaction is `back off` or `reconnect`. */
  readonly retryable: boolean
}

const rows = /* @__PURE__ */ allRows()

/**
 * The refusal of an error, with the proper reaction; undefined if the error has none.
 *
 * @example
 * if (refusalOf(error)?.reaction === 'back off') queue.push(task)
 */
export function refusalOf(error: McpError): Refusal | undefined {
  const name = error.refusal
  const row = name === undefined ? undefined : rows.get(name)
  if (name === undefined || row === undefined) return undefined
  const { code, http, severity, reaction } = row
  return { name, code, httpStatus: http, severity, reaction, retryable: isRetryable(row) }
}

/** The row of a name received from a peer. */
export function refusalRow(name: unknown): RefusalRow | undefined {
  return typeof name === 'string' ? rows.get(name) : undefined
}

/** The name of the refusal with this number. */
export function refusalNamed(code: number): RefusalName | undefined {
  for (const [name, row] of rows) if (row.code === code) return name as RefusalName
  return undefined
}

function allRows(): ReadonlyMap<string, RefusalRow> {
  return new Map(Object.entries<RefusalRow>({ ...REFUSALS, ...RESERVED_REFUSALS }))
}
