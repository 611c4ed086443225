import type { Choices } from './choices.ts'
import type { WireAdapter } from './wire-adapter.ts'
import { REVISIONS, type Revision } from './revisions.ts'

/**
 * Every choice that a revision makes differently and that code must ask about.
 * `at` has one value per revision, oldest first. Each switch is read in exactly one file, its `reader`.
 * Differences in the shape of messages are not here: they are the folders under wire/.
 */
// oxfmt-ignore
export const SWITCHES = {
  /** How a client opens: by a handshake that makes a session, or by metadata on every request. */
  opening:         { at: ['handshake', 'handshake', 'handshake', 'handshake', 'request'], reader: 'server/lifecycle.ts' },
  /** Whether one message may be an array of messages. */
  batch:           { at: ['never', 'always', 'never', 'never', 'never'], reader: 'wire/batch.ts' },
  /** How a handler's question reaches the client: a live request, or a further round of the same request. */
  questions:       { at: ['live', 'live', 'live', 'live', 'rounds'], reader: 'server/ask.ts' },
  /** Whether arguments that break a tool's schema are a protocol error or a result the model reads. */
  argumentErrors:  { at: ['error', 'error', 'error', 'result', 'result'], reader: 'server/tools.ts' },
  /** Whether the level of log messages is set for the session or by each request. */
  logLevel:        { at: ['session', 'session', 'session', 'session', 'request'], reader: 'server/logging.ts' },
  /** Whether clients over HTTP repeat arguments in headers where a tool asks for it. */
  paramHeaders:    { at: [false, false, false, false, true], reader: 'server/tools.ts' },
  /** How changes are announced: to every session, or on streams that asked. */
  changes:         { at: ['session', 'session', 'session', 'session', 'listen'], reader: 'server/following.ts' },
  /** Whether the empty string is a cursor or means no cursor. */
  emptyCursor:     { at: ['absent', 'absent', 'absent', 'absent', 'cursor'], reader: 'server/lists.ts' },
  /** Whether a client that goes away before the reply cancels its request. */
  disconnect:      { at: ['ignore', 'ignore', 'ignore', 'ignore', 'cancel'], reader: 'transport/http/server/endpoint.ts' },
  /** Whether an event stream begins with an event that only carries an id. */
  priming:         { at: [false, false, false, true, false], reader: 'transport/http/server/event-stream.ts' },
} as const
SWITCHES satisfies Record<
  string,
  { at: readonly [unknown, unknown, unknown, unknown, unknown]; reader: string }
>

type Switches = { readonly [Name in keyof typeof SWITCHES]: (typeof SWITCHES)[Name]['at'][number] }

/** A revision with the value of every switch. What a profile did not choose is undefined, and official. */
export interface Dialect extends Switches, Partial<Omit<Choices, keyof Switches>> {
  readonly revision: Revision
  readonly adapter?: WireAdapter | undefined
}

/** A dialect for every revision. */
export type Dialects = Readonly<Record<Revision, Dialect>>

/** The official dialects, frozen. */
export const DIALECTS: Dialects = /* @__PURE__ */ toDialects()

function toDialects(): Dialects {
  const rows = REVISIONS.map((revision, index) => [revision, toDialect(revision, index)])
  return Object.freeze(Object.fromEntries(rows)) as Dialects
}

function toDialect(revision: Revision, index: number): Dialect {
  const values = Object.entries(SWITCHES).map(([name, row]) => [name, row.at[index]])
  return Object.freeze({ revision, ...Object.fromEntries(values) }) as Dialect
}
