import type { RequestLifetime } from '../../../rpc/call.ts'
import type { Sweeper } from './sweeper.ts'

/** What Workers pass with a request. */
export interface Execution {
  /** Keeps the request alive after its client has disconnected. */
  waitUntil(promise: Promise<unknown>): void
}

export interface LifetimeOptions {
  /** The sweeper of the sessions and streams that the request may use. */
  readonly sweeper: Sweeper | undefined
  /** What the runtime passes with a request. */
  readonly execution: Execution | undefined
}

/** Opens the lifetime of a request; undefined because here requests may use each other's streams, signals and timers. */
export function openLifetime(_options: LifetimeOptions): RequestLifetime | undefined {
  return undefined
}
