import type { ServerStore } from './options.ts'

/** The stores that a server uses. `listen` replaces them before the first use if the server runs in several processes. */
export interface StoresInUse {
  current: ServerStore | undefined
  /** Kinds that only the processes of this parent share, as other nodes see them. */
  inParent: readonly string[]
  /** Whether sessions end with the parent process. */
  endWithParent?: boolean
}
