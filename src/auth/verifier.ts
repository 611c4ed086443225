import { onWorkers } from '../base/runtime.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import { ownerOf, type Auth } from '../rpc/call.ts'
import type { LeaseEnd, LeaseTerms } from '../rpc/leases.ts'
import type { Accepted, Asker, AuthHost, AuthMethod, Rejected } from '../transport/http/server/auth-method.ts'
import { afterMs, type Timer } from '../transport/io/timer.ts'
import { accountOf } from './account.ts'
import { KnownTokens, type Kept } from './known-tokens.ts'
import { Questions } from './questions.ts'
import { explainUnknown } from './rejections.ts'
import { expandScopes } from './scopes.ts'

/** What is known of an accepted token. */
export interface Known extends Kept {
  /** The header that it usually comes in. */
  readonly header: string
  readonly caller: { readonly auth: Auth }
  readonly confirm: Accepted['confirm']
  readonly expiresAt: number
  readonly recheckAt: number
  /** The base scopes that the caller lacks. */
  readonly missing: readonly string[]
  /** The method that accepted it. */
  readonly method: AuthMethod
  /** The number of revocations that are considered. */
  epoch: number
}

/** How often a token is verified again because its caller was revoked in the meantime. */
const MAX_TRIES = 3
/** The number of requests that wait for tokens to be verified: up to 1024 with unknown ones for one address. */
const MAX_UNKNOWN = 4096
const MAX_KNOWN = 10_000
/** The number of those that wait for the same token. */
const MAX_PER_TOKEN = 1024
const EXPIRED: Rejected = { rejected: 'expired', why: 'it has expired' }
export const REVOKED: Rejected = { rejected: 'revoked', why: 'it was revoked' }
const TOO_MANY: Rejected = {
  rejected: 'unavailable',
  why: 'too many requests wait for tokens to be verified',
}

/** Verifies tokens with the methods of one listener or mount, and remembers those that are accepted. */
export class TokenVerifier {
  readonly #methods: readonly AuthMethod[]
  readonly #host: AuthHost
  /** The accepted tokens, by the header that they usually come in. */
  readonly #known = new KnownTokens<Known>()
  /** The token that a connection was last used with. */
  readonly #lastOf = new WeakMap<object, Known>()
  readonly #questions: Questions<Known | Rejected>

  constructor(methods: readonly AuthMethod[], host: AuthHost) {
    this.#methods = methods
    this.#host = host
    this.#questions = new Questions({
      unknown: MAX_UNKNOWN,
      known: MAX_KNOWN,
      perToken: MAX_PER_TOKEN,
      lostMs: 2 * host.verifyMs,
    })
  }

  /**
   * What is known of the token in a header; undefined if the header must be read, or the token verified. Comparing a header with the last one
   * of its connection takes far less time than finding it among all.
   */
  findHeader(header: string, connection?: object): Known | undefined {
    const last = connection && this.#lastOf.get(connection)
    const known = last?.isKept === true && last.header === header ? last : this.#known.get(header)
    if (known === undefined || !this.#isFresh(known)) return undefined
    if (connection !== undefined && known !== last) this.#lastOf.set(connection, known)
    return known
  }

  /** What is known of a token, which is verified if that is due. `sender` tells clients apart. */
  find(token: string, sender: unknown): Known | Rejected | Promise<Known | Rejected> {
    const known = this.#known.get(keyOf(token))
    if (known !== undefined) {
      if (this.#isFresh(known)) return known
      if (!(Date.now() < known.expiresAt)) {
        this.#known.delete(keyOf(token))
        return EXPIRED
      }
    }
    return this.#verify(token, known === undefined ? { isKnown: false, sender } : askerOf(known))
  }

  /** Whether no revocation concerns a caller that was accepted before. */
  isNotRevoked(known: Known): boolean {
    const { leases } = this.#host
    if (known.epoch === leases.epoch) return true
    if (leases.wasRevokedSince(known.caller.auth, known.epoch)) return false
    known.epoch = leases.epoch
    return true
  }

  /** Whether a token that was accepted need not be verified again. */
  #isFresh(known: Known): boolean {
    const now = Date.now()
    return now < known.expiresAt && now < known.recheckAt && this.isNotRevoked(known)
  }

  /** Verifies a token, once for all requests that have it at the same time. */
  #verify(token: string, asker: Asker): Promise<Known | Rejected> {
    const verify = (): Promise<Known | Rejected> => this.#inTime(this.#ask(token, asker))
    // On Workers, a request may not wait for what another one does.
    if (onWorkers) return verify()
    return this.#questions.ask(token, asker, verify) ?? Promise.resolve(TOO_MANY)
  }

  /** Gives up after a time. If there is an answer later, the next request with the token uses it. */
  #inTime(asking: Promise<Known | Rejected>): Promise<Known | Rejected> {
    const { verifyMs } = this.#host
    let timer: Timer
    const late = new Promise<Rejected>((resolve) => {
      const why = `there was no answer within ${verifyMs} ms`
      timer = afterMs(verifyMs, () => resolve({ rejected: 'unavailable', why }))
    })
    return Promise.race([asking, late]).finally(() => clearTimeout(timer))
  }

  async #ask(token: string, asker: Asker): Promise<Known | Rejected> {
    const { leases } = this.#host
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { epoch } = leases
      const { verdict, method } = await this.#askMethods(token, asker)
      if ('rejected' in verdict || method === undefined) return this.#forget(token, verdict as Rejected)
      if (leases.wasRevokedSince(verdict.auth, epoch)) continue
      if (leases.isRevoked(verdict.auth, verdict.issuedAt ?? issuedAt(verdict.auth))) break
      return this.#keep(token, verdict, method, epoch)
    }
    return this.#forget(token, REVOKED)
  }

  /** The verdict of the first method that has one. */
  async #askMethods(
    token: string,
    asker: Asker,
  ): Promise<{ verdict: Accepted | Rejected; method?: AuthMethod }> {
    for (const method of this.#methods) {
      try {
        const verdict = await method.verify(token, asker)
        if (verdict !== undefined) return { verdict, method }
      } catch (cause) {
        return { verdict: { rejected: 'unavailable', why: `${method.name} failed`, cause } }
      }
    }
    return { verdict: explainUnknown(this.#methods, token) }
  }

  /** Forgets a rejected token. One that could not be verified stays known, so that it is asked about before unknown ones. */
  #forget(token: string, rejected: Rejected): Rejected {
    if (rejected.rejected !== 'unavailable') this.#known.delete(keyOf(token))
    return rejected
  }

  #keep(token: string, verdict: Accepted, method: AuthMethod, epoch: number): Known | Rejected {
    const { expiresAt = Number.POSITIVE_INFINITY, recheckAt = expiresAt } = verdict
    if (!(Date.now() < expiresAt)) return this.#forget(token, EXPIRED)
    const scopes = expandScopes(verdict.auth.scopes ?? [], method.includes)
    const expiring = Number.isFinite(expiresAt) ? { expiresAt: Math.floor(expiresAt / 1000) } : {}
    const known: Known = {
      header: keyOf(token),
      isKept: false,
      caller: { auth: Object.freeze({ ...expiring, ...verdict.auth, scopes: Object.freeze(scopes) }) },
      confirm: verdict.confirm && ((presented) => verdict.confirm?.(presented)),
      expiresAt,
      recheckAt,
      missing: method.scopes.filter((scope) => !scopes.includes(scope)),
      method,
      epoch,
    }
    this.#known.set(known.header, known)
    this.#host.leases.set(known.caller.auth, this.#termsOf(token, known))
    return known
  }

  /** The terms of what a caller holds open: its token is verified again when that is due. */
  #termsOf(token: string, known: Known): LeaseTerms {
    const { caller, expiresAt, recheckAt, epoch } = known
    const recheck = async (): Promise<LeaseTerms | LeaseEnd> => {
      const fresh = this.findHeader(keyOf(token))
      const found = fresh ?? (await this.#verify(token, askerOf(known)))
      if ('rejected' in found) return ENDS[found.rejected] ?? 'revoked'
      if (found.missing.length > 0) return 'revoked'
      return isSame(found.caller.auth, caller.auth) ? this.#termsOf(token, found) : 'changed'
    }
    return { expiresAt, recheckAt, epoch, recheck }
  }
}

/** On whose behalf a known token is verified again: an account may have any number of tokens and addresses. */
function askerOf({ caller }: Known): Asker {
  return { isKnown: true, sender: accountOf(caller.auth) }
}

/** How a rejection ends what a caller holds open, if not as revoked. */
const ENDS: Readonly<Partial<Record<Rejected['rejected'], LeaseEnd>>> = {
  expired: 'expired',
  unavailable: 'unavailable',
}

/** Whether two callers are the same and have the same scopes. */
function isSame(one: Auth, other: Auth): boolean {
  const scopes = new Set(one.scopes)
  const others = new Set(other.scopes)
  return (
    ownerOf(one) === ownerOf(other) &&
    scopes.size === others.size &&
    [...scopes].every((scope) => others.has(scope))
  )
}

/** The `Authorization` header that a token usually comes in. */
function keyOf(token: string): string {
  return `Bearer ${token}`
}

/** When a token was issued, by its claim. */
function issuedAt({ claims }: Auth): number | undefined {
  const iat = isObject(claims) ? claims['iat'] : undefined
  return typeof iat === 'number' ? iat * 1000 : undefined
}
