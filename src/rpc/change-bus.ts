import type { NodeStore } from './node-store.ts'
import type { Soon } from './soon.ts'

/** A message to all nodes. */
export interface BusMessage {
  /** Grows by 1 with each message. */
  readonly position: number
  /** The message. */
  readonly text: string
}

/**
 * Carries messages between nodes: changes of lists and resources, answers and cancellations that arrived at another node, revocations.
 * All nodes get all messages in the same order, also those that were published while they could not reach the store, as long as they are kept.
 */
export interface ChangeBus {
  /** Whether everything is in the memory of this process, where no other node sees it. */
  readonly isInMemory?: boolean | undefined
  /** Knows the nodes that share the store. A server asks it if it has the store without its driver. */
  readonly nodes?: NodeStore | undefined
  /** Publishes a message. Answers its position once it is certain that the others get it. */
  publish(text: string): Soon<number>
  /**
   * Calls `onMessage` with each message after `after`, in order and once, those of this node too. `onGap` is called instead of
   * messages that are not kept any more, with the position after which messages follow. Neither may throw. Returns a function that stops it.
   */
  subscribe(
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (position: number) => void,
  ): Soon<() => void>
  /** The position of the newest message; 0 before the first. */
  position(): Soon<number>
  /** The messages after a position, at most `limit`; undefined if some of them are not kept any more. */
  read(after: number, limit: number): Soon<readonly BusMessage[] | undefined>
}
