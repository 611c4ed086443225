import { isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import type { Rejected } from '../transport/http/server/auth-method.ts'
import { reject } from './claims.ts'

/** The number of proofs that are remembered. */
const MAX_PROOFS = 200_000

/** A proof that is used. */
export interface UsedProof {
  /** The account whose token it is for. It can have any number of keys. */
  readonly account: string
  /** The thumbprint of its key. */
  readonly key: string
  /** Its identifier, which is its own among those of the key. */
  readonly id: string
}

/** The identifiers of proofs that were used. */
export interface Replays {
  /** Remembers a proof of a key; a rejection if it was used before, or if its account has used too many. */
  add(proof: UsedProof): Rejected | undefined
}

/** Remembers proofs for `keepMs`, in this process. One account may take a part of the room only, so that it cannot lock out others. */
export function createReplays(keepMs: number, limit: number = MAX_PROOFS): Replays {
  // In the order of their time, so that the oldest come first.
  const used = new Map<string, { readonly account: string; readonly at: number }>()
  const perAccount = new Tally()
  return {
    add({ account, key, id }) {
      const now = performance.now()
      for (const [name, { account: owner, at }] of used) {
        if (now - at <= keepMs) break
        used.delete(name)
        perAccount.add(owner, -1)
      }
      const name = `${key} ${id}`
      if (used.has(name)) return reject('proof', 'it was used before; create one for each request')
      if (!isWithinShare(perAccount.get(account) + 1, used.size + 1, limit))
        return reject('unavailable', 'its account used too many proofs in a short time')
      used.set(name, { account, at: now })
      perAccount.add(account, 1)
      return undefined
    },
  }
}
