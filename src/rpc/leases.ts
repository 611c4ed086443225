import { LONGEST_MS } from '../base/duration.ts'
import type { Auth, RequestSource } from './call.ts'

/**
 * Why a stream or connection ends before its client wants that. `changed`: the credentials now stand for another caller or other
 * scopes. `unavailable`: nobody could tell for too long whether they are still accepted.
 */
export type LeaseEnd = 'expired' | 'revoked' | 'changed' | 'unavailable'

/** Until when the credentials of a caller are good. */
export interface LeaseTerms {
  /** When they expire, in milliseconds since 1970. */
  readonly expiresAt: number
  /** When they must be checked again, in milliseconds since 1970. */
  readonly recheckAt: number
  /** The number of revocations when they were accepted. */
  readonly epoch: number
  /** Checks them again: returns the new terms, or why they are no longer accepted. */
  recheck(): Promise<LeaseTerms | LeaseEnd>
}

/** A caller whose credentials are revoked. */
export interface Revoked {
  /** The subject, as in `ctx.auth.sub`. */
  readonly sub: string
  /** The issuer, as in `ctx.auth.issuer`. Default: every issuer. */
  readonly issuer?: string | undefined
}

/** Credentials of open streams are not checked again sooner than this. */
const RECHECK_MS = 1000
/** While credentials cannot be checked, for example because the issuer is down, open streams last this long. */
const GRACE_MS = 300_000
/** How often the check is tried again in this time. */
const RETRY_MS = 5000
/** The number of subjects whose revocation is remembered. The oldest are forgotten first. */
const MAX_REVOKED = 100_000

interface Revocation extends Revoked {
  /** When it last happened, in milliseconds since 1970. */
  readonly at: number
  /** Its number, from 1 on. */
  readonly order: number
}

/** When a caller was revoked, in milliseconds since 1970, and where: at this node, at another one, or before this node could hear of it. */
export interface RevocationFacts {
  readonly at: number
  readonly where: 'here' | 'elsewhere' | 'past'
}

/** Learns of each revocation; `concerns` says whether a caller is revoked by it. If it answers a promise, that resolves once it has done what it has to do. */
export type RevocationWatcher = (
  concerns: (auth: Auth | undefined) => boolean,
  facts: RevocationFacts,
) => unknown

interface Lease {
  readonly auth: Auth
  timer: ReturnType<typeof setTimeout> | undefined
  /** When the first check failed without a verdict, in milliseconds since 1970. */
  failingSince: number | undefined
  end(why: LeaseEnd): void
}

/**
 * The streams and connections of a server that are open for authenticated callers. Each ends when the credentials that opened it
 * expire, are no longer accepted when they are checked again, or are revoked.
 */
export class Leases {
  readonly #held = new Map<string, Set<Lease>>()
  readonly #terms = new WeakMap<Auth, LeaseTerms>()
  readonly #revoked = new Map<string, Revocation[]>()
  readonly #watchers = new Set<RevocationWatcher>()
  /** What revocations have set in motion, here and in the store. */
  readonly #effects = new Set<Promise<unknown>>()
  /** Sends revocations to the other nodes; undefined if there can be none. */
  carrier: ((revoked: Revoked, at: number) => Promise<void>) | undefined
  #epoch = 0

  /** The number of revocations so far. */
  get epoch(): number {
    return this.#epoch
  }

  /** The number of streams and connections that are open for authenticated callers. */
  get size(): number {
    let size = 0
    for (const held of this.#held.values()) size += held.size
    return size
  }

  /** Sets the terms for a caller. Without any, the caller's `expiresAt` counts, in seconds since 1970. */
  set(auth: Auth, terms: LeaseTerms): void {
    this.#terms.set(auth, terms)
  }

  /**
   * Calls `end` once when the credentials of the caller are no longer good, but never before this returns. Returns a function that
   * prevents it.
   */
  hold(auth: Auth | undefined, end: (why: LeaseEnd) => void): () => void {
    if (auth === undefined) return () => undefined
    const key = String(auth.sub)
    const lease: Lease = {
      auth,
      timer: undefined,
      failingSince: undefined,
      end: (why) => {
        release()
        end(why)
      },
    }
    const release = (): void => {
      clearTimeout(lease.timer)
      const held = this.#held.get(key)
      if (held?.delete(lease) === true && held.size === 0) this.#held.delete(key)
    }
    const held = this.#held.get(key) ?? new Set()
    this.#held.set(key, held.add(lease))
    if (this.isOver(auth)) queueMicrotask(() => this.#isHeld(lease) && lease.end('revoked'))
    else this.#wait(lease, this.#termsOf(auth))
    return release
  }

  /** Calls `end` like `hold`, as soon as the credentials of the caller or the certificate of its connection are no longer good. */
  holdFor({ auth, certified }: RequestSource, end: (why: LeaseEnd) => void): () => void {
    if (certified === undefined || certified === auth) return this.hold(auth, end)
    const held = [auth, certified].map((one) => this.hold(one, (why) => (release(), end(why))))
    const release = (): void => held.forEach((one) => one())
    return release
  }

  /**
   * Ends what is open for a caller, and rejects its credentials from now on, unless they are issued later. Resolves once the store knows,
   * and all who watch have done their part.
   */
  revoke(revoked: Revoked): Promise<void> {
    const at = Date.now()
    const effects: unknown[] = []
    try {
      this.#apply(revoked, { at, where: 'here' }, effects)
    } finally {
      effects.push(this.#follow(this.carrier?.(revoked, at)))
    }
    const done = Promise.all(effects).then(() => undefined)
    // Nobody has to look at it: whoever fails reports that.
    done.catch(() => undefined)
    return done
  }

  /** Resolves once all revocations until now have had their effects, or failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#effects)
  }

  #follow(effect: unknown): unknown {
    if (!(effect instanceof Promise)) return undefined
    this.#effects.add(effect)
    const forget = (): void => void this.#effects.delete(effect)
    effect.then(forget, forget)
    return effect
  }

  /** Applies a revocation of a time, in milliseconds since 1970, at this node only. They may arrive in any order: the latest counts. */
  apply(revoked: Revoked, at: number, where: RevocationFacts['where'] = 'elsewhere'): void {
    this.#apply(revoked, { at, where }, [])
  }

  /** Adds what watchers go on to do to `effects`. */
  #apply({ sub, issuer }: Revoked, facts: RevocationFacts, effects: unknown[]): void {
    const { at } = facts
    const known = this.#revoked.get(sub) ?? []
    const same = known.find((one) => one.issuer === issuer)
    const revocation = { sub, issuer, at: Math.max(at, same?.at ?? at), order: ++this.#epoch }
    // One of all issuers makes those of single ones superfluous, unless they are later.
    const stays = (one: Revocation): boolean =>
      one !== same && (issuer !== undefined || one.at > revocation.at)
    this.#revoked.delete(sub)
    this.#revoked.set(sub, [...known.filter(stays), revocation])
    for (const oldest of this.#revoked.keys()) {
      if (this.#revoked.size <= MAX_REVOKED) break
      this.#revoked.delete(oldest)
    }
    const concerns = (auth: Auth | undefined): boolean => auth !== undefined && isMeant(revocation, auth)
    for (const watcher of this.#watchers) effects.push(this.#follow(watcher(concerns, facts)))
    this.#endAll(sub, concerns)
  }

  /** Ends all leases that are meant, even if ending some of them fails. */
  #endAll(sub: string, isEnding: (auth: Auth) => boolean): void {
    const problems: unknown[] = []
    for (const lease of this.#held.get(sub) ?? []) {
      if (!isEnding(lease.auth)) continue
      try {
        lease.end('revoked')
      } catch (thrown) {
        problems.push(thrown)
      }
    }
    if (problems.length > 0) throw problems[0]
  }

  /** Whether a caller was revoked after its request was authenticated. */
  isOver(auth: Auth | undefined): boolean {
    if (this.#epoch === 0 || auth === undefined) return false
    const terms = this.#terms.get(auth)
    return terms === undefined ? this.isRevoked(auth, undefined) : this.wasRevokedSince(auth, terms.epoch)
  }

  /** Tells `watcher` each revocation. Returns a function that ends this. */
  watch(watcher: RevocationWatcher): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Whether the credentials of a caller are revoked. `issuedAt` is in milliseconds since 1970, and undefined if unknown. */
  isRevoked(auth: Auth, issuedAt: number | undefined): boolean {
    return this.#find(auth).some(({ at }) => issuedAt === undefined || issuedAt <= at)
  }

  /** Whether a caller was revoked after the first `epoch` revocations. */
  wasRevokedSince(auth: Auth, epoch: number): boolean {
    return epoch < this.#epoch && this.#find(auth).some(({ order }) => order > epoch)
  }

  #find(auth: Auth): readonly Revocation[] {
    if (this.#epoch === 0 || auth.sub === undefined) return []
    return (this.#revoked.get(auth.sub) ?? []).filter((one) => isMeant(one, auth))
  }

  #termsOf(auth: Auth): Pick<LeaseTerms, 'expiresAt'> & Partial<LeaseTerms> {
    const expiresAt: unknown = auth['expiresAt']
    const known = this.#terms.get(auth)
    return known ?? { expiresAt: typeof expiresAt === 'number' ? expiresAt * 1000 : Number.POSITIVE_INFINITY }
  }

  #wait(lease: Lease, terms: Pick<LeaseTerms, 'expiresAt'> & Partial<LeaseTerms>): void {
    const { expiresAt } = terms
    const recheckAt = Math.max(terms.recheckAt ?? expiresAt, Date.now() + RECHECK_MS)
    const ms = Math.min(expiresAt, recheckAt) - Date.now()
    if (ms === Number.POSITIVE_INFINITY || Number.isNaN(ms)) return
    const look = (): void => {
      const now = Date.now()
      if (now >= expiresAt) lease.end('expired')
      else if (now < recheckAt) this.#wait(lease, terms)
      else void this.#check(lease, terms as LeaseTerms)
    }
    lease.timer = setTimeout(look, Math.min(Math.max(0, ms), LONGEST_MS))
    ;(lease.timer as { unref?(): void }).unref?.()
  }

  async #check(lease: Lease, terms: LeaseTerms): Promise<void> {
    const result = await terms.recheck().catch((): LeaseEnd => 'unavailable')
    if (!this.#isHeld(lease)) return
    if (typeof result === 'object') {
      lease.failingSince = undefined
      return this.#wait(lease, result)
    }
    const now = Date.now()
    lease.failingSince ??= now
    if (result === 'unavailable' && now - lease.failingSince < GRACE_MS)
      this.#wait(lease, { ...terms, recheckAt: now + RETRY_MS })
    else lease.end(result)
  }

  #isHeld(lease: Lease): boolean {
    return this.#held.get(String(lease.auth.sub))?.has(lease) === true
  }
}

function isMeant({ sub, issuer }: Revoked, auth: Auth): boolean {
  return auth.sub === sub && (issuer === undefined || issuer === (auth['issuer'] ?? auth['iss']))
}
