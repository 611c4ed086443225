import { isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import type { Rejected } from '../transport/http/server/auth-method.ts'
import { reject } from './claims.ts'

/** The number of proofs that are remembered. */
const MAX_PROOFS = 200_000

/** The identifiers of proofs that were used. */
export interface Replays {
  /** Remembers a proof of a key; a rejection if it was used before, or if there are too many. */
  add(key: string, id: string): Rejected | undefined
}

/** Remembers proofs for `keepMs`, in this process. One key may take a part of the room only, so that it cannot lock out others. */
export function createReplays(keepMs: number, limit: number = MAX_PROOFS): Replays {
  // In the order of their time, so that the oldest come first.
  const used = new Map<string, { readonly key: string; readonly at: number }>()
  const perKey = new Tally()
  return {
    add(key, id) {
      const now = performance.now()
      for (const [name, { key: owner, at }] of used) {
        if (now - at <= keepMs) break
        used.delete(name)
        perKey.add(owner, -1)
      }
      const name = `${key} ${id}`
      if (used.has(name)) return reject('proof', 'it was used before; create one for each request')
      if (!isWithinShare(perKey.get(key) + 1, used.size + 1, limit))
        return reject('unavailable', 'too many proofs were used in a short time')
      used.set(name, { key, at: now })
      perKey.add(key, 1)
      return undefined
    },
  }
}
