import type { Choices } from './choices.ts'
import type { WireAdapter } from './wire-adapter.ts'
import { REVISIONS, type Revision } from './revisions.ts'

/**
 * The behaviours that differ between revisions. `at` has one value per revision, oldest first. Each switch is read in
 * exactly one file, its `reader`. Differences in the shape of messages are in the folders under wire/ instead.
 */
// oxfmt-ignore
export const SWITCHES = {
  /** How a client introduces itself: with a handshake that starts a session, or with metadata on every request. */
  opening:         { at: ['handshake', 'handshake', 'handshake', 'handshake', 'request'], reader: 'server/lifecycle.ts' },
  /** Whether a message may be an array of messages. */
  batch:           { at: ['never', 'always', 'never', 'never', 'never'], reader: 'wire/batch.ts' },
  /** How a handler's question reaches the client: as a live request, or as a further round of the same request. */
  questions:       { at: ['live', 'live', 'live', 'live', 'rounds'], reader: 'server/ask.ts' },
  /** Whether arguments that do not match a tool's schema produce a protocol error or a result for the model. */
  argumentErrors:  { at: ['error', 'error', 'error', 'result', 'result'], reader: 'server/tools.ts' },
  /** Whether the log level is set per session or per request. */
  logLevel:        { at: ['session', 'session', 'session', 'session', 'request'], reader: 'server/logging.ts' },
  /** Whether HTTP clients repeat arguments in headers when a tool asks for it. */
  paramHeaders:    { at: [false, false, false, false, true], reader: 'server/tools.ts' },
  /** Whether changes are announced to every session, or only on streams that asked for them. */
  changes:         { at: ['session', 'session', 'session', 'session', 'listen'], reader: 'server/following.ts' },
  /** How a tool call becomes a task: not at all, if the client asks for it, or if the server decides to, for clients with the extension. */
  tasks:           { at: ['none', 'none', 'none', 'asked', 'extension'], reader: 'server/task-calls.ts' },
  /** Whether an empty string is a valid cursor or means no cursor. */
  emptyCursor:     { at: ['absent', 'absent', 'absent', 'absent', 'cursor'], reader: 'server/cursors.ts' },
  /** Whether a request is cancelled when its client disconnects before the reply. */
  disconnect:      { at: ['ignore', 'ignore', 'ignore', 'ignore', 'cancel'], reader: 'transport/http/server/endpoint.ts' },
  /** Whether an event stream starts with an event that carries only an id. */
  priming:         { at: [false, false, false, true, false], reader: 'transport/http/server/event-stream.ts' },
} as const
SWITCHES satisfies Record<
  string,
  { at: readonly [unknown, unknown, unknown, unknown, unknown]; reader: string }
>

type Switches = { readonly [Name in keyof typeof SWITCHES]: (typeof SWITCHES)[Name]['at'][number] }

/** A revision with the value of every switch. Choices that a profile leaves open are undefined, which means official. */
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
