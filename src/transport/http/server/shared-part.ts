import type { JsonObject, Message, RequestId } from '../../../protocol/jsonrpc.ts'
import type { SessionKeeper } from '../../../rpc/session.ts'
import type { EventRecorder } from './event-stream.ts'

/** Where nodes share sessions, this node forgets one that was idle for this long. It ends only in the store. */
export const REPLICA_MS = 60_000

/** The part of a session that all nodes share. */
export interface SharedSession extends SessionKeeper {
  /** Whether a client of this node reads the notifications of the session, or resumes one of its streams. */
  readonly isFollowed: boolean
  /** A name for the stream of a request or batch, and what keeps its events for clients that resume elsewhere. */
  newStream(id: RequestId | readonly RequestId[] | undefined): {
    readonly name: string
    readonly recorder: EventRecorder
  }
  /** Sends a notification to the client, wherever it is connected. */
  notify(text: string, position: number | undefined): void
  /** Passes on the answer to a question that this node did not ask. */
  settle(answer: Message): void
  /** Passes on the cancellation of a request that this node does not run. */
  cancel(params: JsonObject): void
  /** Prolongs what is in use. */
  sweep(): void
  keepAlive(): void
  close(): void
}
