// The lines that clients of the chaos test write. The checker reads nothing else.
import type { CrashLine } from './crash-checker.ts'

/** What the tool did to a process, or to a store. */
export interface FaultLine {
  readonly event: 'fault'
  readonly kind: 'kill' | 'stop' | 'redis' | 'postgres'
  readonly target: string
}

/** A handler had an effect outside of the server, which the client saw. */
export interface EffectLine {
  readonly event: 'effect'
  readonly task: number
  readonly tool: string
  /** Tells the runs of the handler apart. */
  readonly run: string
}

/** What a client with a session did and saw. */
export type SessionLine = { readonly client: number } & (
  | { readonly event: 'opened' }
  /** The handshake is over. */
  | { readonly event: 'ready' }
  /** The client opens the stream of its session without an event to go on from; the server has refused that. */
  | { readonly event: 'listens' | 'denied' }
  /** The server does not know the session any more. */
  | { readonly event: 'gone' }
  /** The server rejected a request that it should accept. */
  | { readonly event: 'refused'; readonly error: string }
  /** The client sent a call: `marker` is what its result must contain. */
  | { readonly event: 'called'; readonly call: string; readonly marker: string; readonly steps: number }
  /** A question reached the client, with the marker of the call that asks. */
  | { readonly event: 'asked'; readonly call: string; readonly marker: string }
  /** No answer came, and there is nothing that could be resumed. */
  | { readonly event: 'abandoned'; readonly call: string }
  /** The client goes on with a stream, after an event. */
  | { readonly event: 'resumed'; readonly call: string; readonly after: string }
  /** An event of a stream: that of a call, or `session`. */
  | { readonly event: 'received'; readonly call: string; readonly id: string; readonly what: string }
  /** The response to a call. */
  | { readonly event: 'answered'; readonly call: string; readonly text: string }
  /** The call ended with an error, of this kind. */
  | { readonly event: 'failed'; readonly call: string; readonly kind: string }
  /** The client sets a value of its session; `last` is the one before, if an answer came. */
  | { readonly event: 'keep'; readonly value: number }
  | { readonly event: 'kept'; readonly value: number; readonly last: number }
  /** The client changes the resource that it watches, or a list that everybody has. */
  | { readonly event: 'touch' | 'touched'; readonly what: 'updated' | 'listed' }
  /** The client has read its stream up to a change that it made after everything else. */
  | { readonly event: 'drained' }
)

/** A line of a log. */
export type ChaosLine = CrashLine | FaultLine | EffectLine | SessionLine

/** A line with the time when it was written, in milliseconds since 1970. */
export type TimedLine = ChaosLine & { readonly at: number }
