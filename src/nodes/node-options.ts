import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CacheStore } from '../rpc/cache-store.ts'
import type { ChangeBus } from '../rpc/change-bus.ts'
import type { EventStore } from '../rpc/event-store.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { SessionStore } from '../rpc/session-store.ts'
import type { ChangeClass } from './change-log.ts'
import type { NodeMessage } from './messages.ts'

/** The stores that nodes use together. */
export interface NodeStores {
  readonly sessions: SessionStore
  readonly events: EventStore
  readonly changes: ChangeBus
  readonly cache: CacheStore
  readonly nodes: NodeStore
}

export interface NodeOptions {
  /** The name of the server. */
  readonly server: string
  readonly stores: NodeStores
  /** The kinds of store that are only in the memory of this process. */
  readonly inMemory: readonly string[]
  /** How often to say that the node is alive. */
  readonly beatMs: number
  /** Learns of everything, also of revocations before the start. */
  readonly listener?: NodeListener | undefined
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
}

/** Learns of messages from all nodes, this one included. */
export interface NodeListener {
  /** `isOwn` says whether this node has sent it. A revocation or death of the past has the position 0: from before the start, or from a time when messages were missed. */
  onMessage(message: NodeMessage, isOwn: boolean, position: number): void
  /** Whether a session has a question open here. */
  waitsFor?(session: string, question: number): boolean
  /** Called after each sign of life of this node. */
  onBeat?(): void
  /** Everything of some classes may have changed, up to a position. Unless this node has missed messages, it has told of all other changes. */
  onAllChanged(position: number, lost: readonly ChangeClass[], hasMissed: boolean): void
}

/** What is known of changes that nobody can list. */
export type AllChanged = Parameters<NodeListener['onAllChanged']>
