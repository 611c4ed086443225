import { createLocalJWKSet, errors, type CryptoKey, type JSONWebKeySet, type JWTHeaderParameters } from 'jose'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { IssuerError } from './issuer-fetch.ts'

/** Keys are fetched again, and tokens verified again, after this time, so that withdrawn keys are no longer accepted. */
export const FRESH_MS = 600_000
/** While the issuer does not reply, its keys are used up to this age. */
const STALE_MS = 3_600_000
/** Tokens can name keys that do not exist. However many they name, keys are fetched at most this often. */
const REFETCH_MS = 60_000
/** The pause after a failure while there are no keys at all. */
const RETRY_MS = 1000
/** After this time a fetch is given up. Some runtimes stop requests without notice, and the fetch with them. */
const LOST_MS = 30_000

/** The longest name of a key that is looked for again. */
const MAX_NAME = 256
/** How many keys that do not exist are remembered. */
const MAX_MISSING = 1000

/** The issuer may have a key since its keys were fetched, and it is too early to fetch them again. */
export class NewKeyError extends IssuerError {
  constructor() {
    super('the issuer had no such key when its keys were fetched; they are fetched again within a minute')
  }
}

/** How the header of a token names its key. */
export type KeyName = Pick<JWTHeaderParameters, 'alg' | 'kid'>

/** The keys of one issuer. */
export interface Keys {
  /**
   * The key that a token names. Throws a `JOSEError` if the issuer has no such key, and an `IssuerError` if that
   * cannot be known now.
   */
  find(name: KeyName): Promise<CryptoKey>
}

/** Fetches and keeps the keys of an issuer. Tokens decide when, but never from where. */
export function createKeys(load: () => Promise<JsonObject>): Keys {
  return new CachedKeys(load)
}

class CachedKeys implements Keys {
  readonly #load: () => Promise<JsonObject>
  #known: ReturnType<typeof createLocalJWKSet> | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY
  #startedAt = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined
  #problem: unknown
  /** The keys that the issuer withdrew, or did not have when its keys were fetched for them. */
  readonly #missing = new Set<string>()
  #names: readonly string[] = []

  constructor(load: () => Promise<JsonObject>) {
    this.#load = load
  }

  async find(name: KeyName): Promise<CryptoKey> {
    const askedAt = performance.now()
    const age = askedAt - this.#fetchedAt
    if (this.#known === undefined || age > STALE_MS) await this.#fetch(RETRY_MS)
    // Only one caller waits. The others use the keys that are known.
    else if (age > FRESH_MS && this.#isDue(REFETCH_MS)) await this.#fetch(REFETCH_MS).catch(() => undefined)
    try {
      return await this.#pick(name)
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown
      const isFetched = this.#fetchedAt >= askedAt
      if (
        !isFetched &&
        this.#fetching === undefined &&
        this.#problem === undefined &&
        !this.#isDue(REFETCH_MS)
      )
        throw this.#mayBeNew(name.kid) ? new NewKeyError() : thrown
      if (!isFetched) await this.#fetch(REFETCH_MS)
      return this.#pick(name).catch((error: unknown) => {
        if (this.#mayBeNew(name.kid) && this.#missing.size < MAX_MISSING) this.#missing.add(name.kid)
        throw error
      })
    }
  }

  /** Whether a key may have been added since the keys were fetched. */
  #mayBeNew(kid: string | undefined): kid is string {
    return isName(kid) && !this.#names.includes(kid) && !this.#missing.has(kid)
  }

  #pick(name: KeyName): Promise<CryptoKey> {
    if (this.#known === undefined) throw new IssuerError('the issuer has given no keys')
    return this.#known(name)
  }

  #isDue(pauseMs: number): boolean {
    return performance.now() - this.#startedAt >= pauseMs
  }

  /** Fetches the keys, or waits for those that are being fetched. Throws if they cannot be had. */
  #fetch(pauseMs: number): Promise<void> {
    if (this.#fetching !== undefined && !this.#isDue(LOST_MS)) return this.#fetching
    if (!this.#isDue(pauseMs))
      return Promise.reject(new IssuerError('the keys could not be fetched', { cause: this.#problem }))
    this.#startedAt = performance.now()
    const fetching = this.#replace().finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined
    })
    this.#fetching = fetching
    return fetching
  }

  async #replace(): Promise<void> {
    try {
      const document = await this.#load()
      this.#known = createLocalJWKSet(document as unknown as JSONWebKeySet)
      this.#fetchedAt = performance.now()
      this.#problem = undefined
      this.#missing.clear()
      for (const name of this.#names) this.#missing.add(name)
      this.#names = (document as unknown as JSONWebKeySet).keys.map(({ kid }) => kid).filter(isName)
      for (const name of this.#names) this.#missing.delete(name)
    } catch (thrown) {
      this.#problem = thrown
      if (thrown instanceof IssuerError) throw thrown
      throw new IssuerError('the keys of the issuer cannot be read', { cause: thrown })
    }
  }
}

/** Whether a value is a name under which a key can be looked for again. */
function isName(kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= MAX_NAME
}
