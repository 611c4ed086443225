import type { Revision } from 'pierhead'
import type { Peer } from './peer.ts'

/** One thing that every official client must be able to do, from and up to a revision. */
export interface Check {
  readonly title: string
  readonly since?: Revision
  readonly until?: Revision
  run(peer: Peer, revision: Revision): Promise<void>
}

/** The error that a promise rejects with. */
export async function failure(
  promise: Promise<unknown>,
): Promise<{ code?: number; message: string; data?: unknown }> {
  try {
    await promise
  } catch (error) {
    return error as { code?: number; message: string; data?: unknown }
  }
  throw new Error('it should have failed')
}
