import type { DevUser } from './users.ts'
import { randomText } from '../digests.ts'
import { Store } from './store.ts'

/** What a user allowed a client to do. */
export interface Grant {
  readonly id: string
  readonly clientId: string
  readonly user: DevUser
  readonly scopes: readonly string[]
  /** The server that the tokens are for. */
  readonly resource: string
  /** Whether the client gets refresh tokens. */
  readonly refreshes: boolean
}

/** What a code is bound to. */
export interface Code {
  readonly grant: Grant
  readonly redirectUri: string
  /** The PKCE challenge, made with SHA-256. */
  readonly challenge: string
  /** The `nonce` of OpenID Connect. */
  readonly nonce: string | undefined
}

const MAX_CODES = 1_000
const MAX_REFRESH_TOKENS = 10_000
const MAX_REVOKED = 10_000
const CODE_MS = 60_000
/** For how long used codes are remembered, to notice that someone uses them again. */
const USED_CODE_MS = 3_600_000
const REFRESH_MS = 30 * 86_400_000
/**
 * For how long a used refresh token gets the same reply again. Clients with several streams notice at the same time that their
 * token expired, and some refresh it once for each.
 */
const REPEAT_MS = 10_000

/** A refresh token and, once it is used, the reply that it got. */
interface RefreshToken {
  readonly grant: Grant
  used?: { readonly reply: Promise<object>; readonly until: number }
}

/** The codes, refresh tokens and revocations of an authorization server. */
export class Grants {
  readonly #codes = new Store<{ readonly code: Code; isUsed: boolean; readonly expiresAt: number }>(MAX_CODES)
  readonly #refreshTokens = new Store<RefreshToken>(MAX_REFRESH_TOKENS)
  /** The ids of revoked grants and access tokens. */
  readonly #revoked = new Store<true>(MAX_REVOKED)
  readonly #tokenMs: number

  constructor(tokenMs: number) {
    this.#tokenMs = tokenMs
  }

  createCode(code: Code): string {
    const text = randomText()
    const now = Date.now()
    this.#codes.set(text, { code, isUsed: false, expiresAt: now + CODE_MS }, now + USED_CODE_MS)
    return text
  }

  /** Takes a code; undefined if it is unknown or has expired. A second use revokes all tokens that it was exchanged for. */
  takeCode(text: string): Code | undefined {
    const found = this.#codes.get(text)
    if (found === undefined) return undefined
    if (found.isUsed) {
      this.revoke(found.code.grant.id)
      return undefined
    }
    found.isUsed = true
    return found.expiresAt > Date.now() ? found.code : undefined
  }

  createRefreshToken(grant: Grant): string {
    const text = randomText()
    this.#refreshTokens.set(text, { grant }, Date.now() + REFRESH_MS)
    return text
  }

  /** The grant of a valid refresh token. One that was used a while ago revokes the grant, because one of its two users stole it. */
  findRefreshToken(text: string): Grant | undefined {
    const found = this.#refreshTokens.get(text)
    if (found?.used !== undefined && found.used.until <= Date.now()) this.revoke(found.grant.id)
    return found === undefined || this.isRevoked(found.grant.id) ? undefined : found.grant
  }

  /** Uses a refresh token that is valid. If it was used just now, the reply is the same as then. */
  useRefreshToken(text: string, issue: () => Promise<object>): Promise<object> {
    const found = this.#refreshTokens.get(text)
    if (found === undefined) return issue()
    found.used ??= { reply: issue(), until: Date.now() + REPEAT_MS }
    return found.used.reply
  }

  /** The clients that were granted something that is not over: they have a refresh token, or a code that is good or was used lately. */
  clientsInUse(): ReadonlySet<string> {
    const now = Date.now()
    const codes = this.#codes.values().filter(({ isUsed, expiresAt }) => isUsed || expiresAt > now)
    const grants = [...codes.map(({ code }) => code), ...this.#refreshTokens.values()].map(
      ({ grant }) => grant,
    )
    return new Set(grants.filter(({ id }) => !this.isRevoked(id)).map(({ clientId }) => clientId))
  }

  /** Revokes a grant with all its tokens, or one access token, by its id. */
  revoke(id: string): void {
    this.#revoked.set(id, true, Date.now() + Math.max(this.#tokenMs, REFRESH_MS))
  }

  isRevoked(id: string): boolean {
    return this.#revoked.get(id) === true
  }
}
