import type { ErrorKind } from './kinds.ts'
import type { SentRefusalName } from '../protocol/refusals.ts'

/** One kind of error: its code and status on the wire, its text, and its hint. */
export interface ErrorRow {
  readonly kind: ErrorKind
  /** `result`: a tool result that the model reads. `local`: never sent. Without it, an error for the peer. */
  readonly where?: 'result' | 'local'
  readonly code: number
  /** Each error has its own code, instead of the row's; this throws if it may not be used. */
  readonly checkCode?: (code: number | undefined) => void
  /** A different code up to and including 2025-11-25. */
  readonly codeBefore2026?: number
  /** The HTTP status when the message is rejected; without one, the error is sent in an ordinary reply. */
  readonly http?: number
  /** A different status at 2026-07-28. */
  readonly httpFrom2026?: number
  readonly refusal?: SentRefusalName
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable?: true
  /** The message, with named slots for the facts of one occurrence. */
  readonly text: string
  /** A member of `error.data` and the slot whose fact it holds. */
  readonly tells?: readonly [string, string]
  /** The advice to the reader of the error. */
  readonly hint: string
}

type Slots<Text extends string> = Text extends `${string}{${infer Slot}}${infer Rest}`
  ? Slot | Slots<Rest>
  : never

/** The facts that the text of an error needs. */
export type FactsOf<Row extends ErrorRow> = Readonly<Record<Slots<Row['text']>, string | number>>
