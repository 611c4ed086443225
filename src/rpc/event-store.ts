import type { NodeStore } from './node-store.ts'
import type { Soon } from './soon.ts'

/** An event for a client. */
export interface NewEvent {
  /** The message; empty for an event that has only an id. */
  readonly text: string
  /** Whether the stream ends with it. */
  readonly isLast?: boolean | undefined
  /**
   * The position of the message on the bus that caused it. Every node that knows the session adds the event, and the first one
   * counts: a stream takes only positions after its last one.
   */
  readonly position?: number | undefined
  /**
   * The number that the event must get, if its stream has only one writer. Adding it again then answers the same number and changes
   * nothing, so a writer may repeat a step whose answer was lost.
   */
  readonly seq?: number | undefined
  /** The requests of the client that it belongs to, as texts. It is not added if one of them is given up. */
  readonly requests?: readonly string[] | undefined
  /** Whether its requests are given up with it: the stream takes nothing more for them, as long as it exists. */
  readonly givesUp?: boolean | undefined
}

/** How much a stream keeps; the oldest events go first. The newest one stays, whatever its size. */
export interface EventRoom {
  /** How many events. */
  readonly events: number
  /** How many bytes their texts may have together, as the store counts them. */
  readonly bytes: number
  /** Streams end with their session, or after this time without an event. */
  readonly idleMs: number
}

/** An event that is kept. */
export interface StoredEvent {
  /** Its number in the stream, from 0 on, without gaps. */
  readonly seq: number
  /** The message. */
  readonly text: string
}

/** The events of a stream that a client has not seen. */
export interface EventPage {
  /** The events, the oldest first. */
  readonly events: readonly StoredEvent[]
  /** Whether the stream has ended with the last of them. */
  readonly isOver: boolean
  /** The first event that is still kept; an older one cannot be resumed from. */
  readonly first: number
  /** Says who writes the stream, as `open` got it. */
  readonly writer: string
}

/** What is known of a stream without its events. */
export interface EventHead {
  /** The first event that is still kept. */
  readonly first: number
  /** The number that the next event gets, or would get. */
  readonly next: number
  /** Whether the stream has ended. */
  readonly isOver: boolean
  /** Says who writes the stream, as `open` got it. */
  readonly writer: string
}

/**
 * Keeps the events of streams to clients, so that a client whose connection broke can resume on every node. A stream has a name that is
 * unique in its session. Each method is one atomic step, and one exchange with the server behind the store.
 */
export interface EventStore {
  /** Whether everything is in the memory of this process, where no other node sees it. */
  readonly isInMemory?: boolean | undefined
  /** Knows the nodes that share the store. A server asks it if it has the store without its driver. */
  readonly nodes?: NodeStore | undefined
  /** Begins a stream. `writer` tells others which node and request will end it. A stream that exists lives longer, as with an event. */
  open(session: string, stream: string, writer: string, room: EventRoom): Soon<void>
  /**
   * Adds an event, and answers its number; undefined if its position came before, if an event before its `seq` is missing, if one of its
   * `requests` is given up, or if the stream does not exist or is over.
   */
  append(session: string, stream: string, event: NewEvent, room: EventRoom): Soon<number | undefined>
  /** The events after one, at most `limit` of them; `after` is -1 for all. Undefined if there is no such stream. */
  read(session: string, stream: string, after: number, limit: number): Soon<EventPage | undefined>
  /** What is known of a stream, without reading its events, which may be large. Undefined if there is no such stream. */
  head(session: string, stream: string): Soon<EventHead | undefined>
  /** The position of the last event that has one; undefined if there is none. */
  position(session: string, stream: string): Soon<number | undefined>
  /** Discards the events before a number. The others keep their numbers, and the next one gets the number that it would have had. */
  trim(session: string, stream: string, before: number): Soon<void>
  /** Forgets one stream, or all of a session. */
  forget(session: string, stream?: string): Soon<void>
  /**
   * Calls `onNews` when a stream may have changed or is gone, also through other nodes, and after the connection to the store was lost.
   * It may be called without a change. Watch first and read then, so that nothing is missed. Returns a function that stops it.
   */
  watch(session: string, stream: string, onNews: () => void): () => void
}
