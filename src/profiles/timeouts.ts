import type { Choices } from '../protocol/choices.ts'

export interface Timeouts {
  /** How long a request may go without progress. */
  readonly idleMs: number
  /** How long the handshake may take. */
  readonly openMs: number
}

/** The default timeouts of a client; undefined means the usual ones. */
export function timeoutsOf(choices: Choices): Timeouts | undefined {
  return choices.timeouts === 'short' ? { idleMs: 5_000, openMs: 30_000 } : undefined
}
