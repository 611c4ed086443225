// The lines that clients of the chaos test write. The checker reads nothing else.
import type { CrashLine } from './crash-checker.ts'

/** What the tool did to a process, such as `node 1`, or to a store, whose name is its kind. */
export interface FaultLine {
  readonly event: 'fault'
  readonly kind: 'kill' | 'stop' | 'redis' | 'postgres'
  readonly target: string
  /** The process that was killed. */
  readonly pid?: number
}

/** What else happened to a process or a store. */
export type TargetLine =
  /** A process began, with its clock so far ahead. */
  | { readonly event: 'began'; readonly target: string; readonly pid: number; readonly shiftMs: number }
  /** A process ended by itself. */
  | { readonly event: 'exited'; readonly target: string; readonly pid: number }
  /** What was stopped, or killed, serves again. */
  | { readonly event: 'back'; readonly target: string }
  /** A process stood still for so long, because the machine was busy. */
  | { readonly event: 'stood'; readonly target: string; readonly ms: number }

/** A handler had an effect outside of the server, which the client saw. */
export interface EffectLine {
  readonly event: 'effect'
  readonly task: number
  readonly tool: string
  /** Tells the runs of the handler apart. */
  readonly run: string
  /** The process that ran it, such as `worker 1`. */
  readonly by: string
}

/** A client broke the connection of a request before the answer. */
export interface DroppedLine {
  readonly event: 'dropped'
  /** A request about a task, or one of a session that is answered with JSON. */
  readonly what: 'task' | 'post'
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
  /** The client sent a call: `marker` is what its result must contain, and it asks so many questions. */
  | {
      readonly event: 'called'
      readonly call: string
      readonly marker: string
      readonly steps: number
      readonly asks: number
      /** With our own client, which does not show ids, repeats requests and streams, and may be asked once more for that. */
      readonly isOurs?: boolean
    }
  /** The call reached a node, or was sent to it again. */
  | { readonly event: 'served'; readonly call: string; readonly node: string }
  /** A question reached the client, with the marker of the call that asks. */
  | { readonly event: 'asked'; readonly call: string; readonly marker: string }
  /** No answer came, and there is nothing that could be resumed. */
  | { readonly event: 'abandoned'; readonly call: string }
  /** The client goes on with a stream, after an event. */
  | { readonly event: 'resumed'; readonly call: string; readonly after: string }
  /** An event of a stream: that of a call, or `session`. `token` is that of a progress notification. */
  | {
      readonly event: 'received'
      readonly call: string
      readonly id: string
      readonly what: string
      readonly token?: string
    }
  /** The response to a call, with its id. */
  | { readonly event: 'answered'; readonly call: string; readonly id?: string; readonly text: string }
  /** The call ended with an error, of this kind. */
  | { readonly event: 'failed'; readonly call: string; readonly id?: string; readonly kind: string }
  /** The client sets a value of its session, which no other client uses; `last` is the one before, if an answer came. `id` is that of the request, and of the response. */
  | { readonly event: 'keep'; readonly id: string; readonly value: number }
  | { readonly event: 'kept'; readonly id: string; readonly value: number; readonly last: number }
  /** The client changes the resource that it watches, or a list that everybody has; the answer repeats its number. */
  | { readonly event: 'touch'; readonly id: string; readonly what: 'updated' | 'listed' }
  | {
      readonly event: 'touched'
      readonly id: string
      readonly what: 'updated' | 'listed'
      readonly text: string
    }
  /** The client has read its stream up to a change that it made after everything else. */
  | { readonly event: 'drained' }
)

/** A line of a log. */
export type ChaosLine = CrashLine | FaultLine | TargetLine | EffectLine | DroppedLine | SessionLine

/** A line with the time when it was written, in milliseconds since 1970. */
export type TimedLine = ChaosLine & { readonly at: number }
