import type { CacheStore } from '../rpc/cache-store.ts'
import type { ChangeBus } from '../rpc/change-bus.ts'
import type { EventStore } from '../rpc/event-store.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { RateStore } from '../rpc/rate-store.ts'
import type { SessionStore } from '../rpc/session-store.ts'
import type { Soon } from '../rpc/soon.ts'
import type { TaskStore } from '../tasks/store.ts'

/** Keeps what must outlive a request or be known to every node. A driver has a store for each kind of thing that it can keep. */
export interface StoreDriver {
  /** Keeps sessions. */
  readonly sessions?: SessionStore | undefined
  /** Keeps the events of streams to clients. */
  readonly events?: EventStore | undefined
  /** Keeps tasks. */
  readonly tasks?: TaskStore | undefined
  /** Carries changes and other messages to all nodes. */
  readonly changes?: ChangeBus | undefined
  /** Keeps texts for a time. */
  readonly cache?: CacheStore | undefined
  /** Counts requests. */
  readonly rates?: RateStore | undefined
  /** Knows the nodes that share the stores; undefined if only this process can use them. */
  readonly nodes?: NodeStore | undefined
  /** Closes every store of the driver. Closing again does nothing. */
  close(): Soon<void>
}

/** A kind of thing that drivers keep. */
export type StoreKind = Exclude<keyof StoreDriver, 'close'>

/** A driver that certainly has these kinds of store. */
export type DriverOf<Kind extends StoreKind> = StoreDriver & {
  readonly [Name in Kind]: NonNullable<StoreDriver[Name]>
}
