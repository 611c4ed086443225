import type { Soon, TaskStore } from '../tasks/store.ts'

/** Keeps what must outlive a request. A driver has a store for each kind of thing that it can keep. */
export interface StoreDriver {
  /** Keeps tasks. */
  readonly tasks: TaskStore
  /** Closes every store of the driver. Closing again does nothing. */
  close(): Soon<void>
}
