import type { Soon } from './soon.ts'

/** A process that serves clients. */
export interface NodeInfo {
  /** No other node has it, unless numbers have begun again: 1 to 2,000,000. */
  readonly number: number
  /** The name of its server. */
  readonly server: string
  /** The kinds of store that it keeps in its own memory. */
  readonly inMemory: readonly string[]
}

/** A node that was added. */
export interface JoinedNode {
  /** Its number. */
  readonly number: number
  /** The other living nodes of the same server. */
  readonly others: readonly NodeInfo[]
}

/** Knows the nodes that share a store. */
export interface NodeStore {
  /** Adds a node, which is alive for `leaseMs` from now. Answers its number, and the other living nodes of the same server. */
  join(node: Omit<NodeInfo, 'number'>, leaseMs: number): Soon<JoinedNode>
  /**
   * Says that a node is alive for `leaseMs` from now. Answers false if it was dead until now: others may have ended its work. One that
   * left, or was dead for more than a day, stays dead.
   */
  beat(number: number, leaseMs: number): Soon<boolean>
  /** Removes a node. */
  leave(number: number): Soon<void>
  /** Whether a node is alive. */
  isAlive(number: number): Soon<boolean>
  /** A secret that all nodes of a server share: the given one, unless there is one already. */
  secret(server: string, proposed: string): Soon<string>
}
