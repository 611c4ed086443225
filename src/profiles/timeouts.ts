import type { Choices } from '../protocol/choices.ts'

export interface Timeouts {
  /** Silence that ends a request. */
  readonly idleMs: number
  /** Silence that ends the handshake. */
  readonly openMs: number
}

/** How long a client waits unless told otherwise; undefined means as without a profile. */
export function timeoutsOf(choices: Choices): Timeouts | undefined {
  return choices.timeouts === 'short' ? { idleMs: 5_000, openMs: 30_000 } : undefined
}
