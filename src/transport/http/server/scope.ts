import type { Sweeper } from './sweeper.ts'

/** What a runtime needs to serve one web request, besides the request itself. */
export interface RequestScope {
  /** Runs `act` on behalf of the request, whichever request calls this. */
  defer(act: () => void): void
  /** Keeps the request alive while a handler runs; calls `lost` if the runtime stops the request without notice. */
  hold(isOver: () => boolean, lost: () => void): void
  /** Ends the scope, because the reply is complete or its client is gone, once no handler runs. */
  close(): void
}

export interface ScopeOptions {
  readonly keepAliveMs: number
  readonly sweeper: Sweeper | undefined
  /** Keeps the request alive after its client has disconnected. */
  readonly waitUntil: ((promise: Promise<unknown>) => void) | undefined
}

/** Opens the scope of a request; undefined because here requests may use each other's streams, signals and timers. */
export function openScope(_options: ScopeOptions): RequestScope | undefined {
  return undefined
}
