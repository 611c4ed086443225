import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Observers } from '../rpc/observer.ts'
import type { HeldBytes } from './held-bytes.ts'
import type { Sealer } from './state.ts'

/** The parts of a server that its handlers share. */
export interface ServerParts {
  readonly sealer: Sealer
  readonly limits: Limits
  readonly observers: Observers
  readonly held: HeldBytes
  /** Whether callers get the messages of errors that were thrown by mistake. */
  readonly showsErrors: boolean
  /** Tells the operator, once, that an item needs scopes and that callers are not authenticated. */
  warnOfScopes(item: string): void
  /**
   * Writes a warning to the operator's log, once for each item and for a limited number of items. A message that takes time to
   * make is a function, which runs only if it is written.
   */
  warnOnce(cause: string, item: string, message: string | (() => string)): void
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
}
