import type { McpError } from '../../../errors/error.ts'
import type { JsonObject } from '../../../protocol/jsonrpc.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Leases } from '../../../rpc/leases.ts'
import type { Authenticator } from './authenticate.ts'
import type { Headers, HttpHead, HttpOut } from './parts.ts'

/**
 * A way to authenticate callers, as the functions of `pierhead/auth` create it. It brings its own code, so that servers without
 * authorization load none of it.
 */
export interface AuthMethod {
  /** The function that created it, such as `oauth`, for messages. */
  readonly name: string
  /** The URL of the server: tokens must be meant for it, and its metadata names it. Undefined where tokens name no audience. */
  readonly resource: string | undefined
  /** The issuers whose tokens it accepts. */
  readonly issuers: readonly string[]
  /** The scopes that every caller needs. */
  readonly scopes: readonly string[]
  /** The scopes that others include, such as `{ admin: ['read', 'write'] }`. */
  readonly includes: Readonly<Record<string, readonly string[]>>
  /** Further members of the metadata of the protected resource. */
  readonly metadata: JsonObject
  /** Whether its issuers may be others after a restart, so that clients must not keep the metadata. Default: `false`. */
  readonly isTemporary?: boolean | undefined
  /**
   * Verifies a token. Undefined if the token is none of this method's, so that the next method decides. The result is kept for
   * the token until it expires or must be checked again. Methods that ask others limit the number of questions by `asker`.
   */
  verify(token: string, asker?: Asker): Verdict | undefined | Promise<Verdict | undefined>
  /**
   * Says why this method did not recognise a token that every method left to the others. `isOnly` is true if there is no other
   * method. Undefined if it cannot tell.
   */
  explain?(token: string, isOnly: boolean): Rejected | undefined
  /** The value of `DPoP-Nonce` for replies, where clients must use nonces. */
  nonce?(): string | Promise<string>
  /** Is told the URL of our own listener once it has one; may change `resource`. If it throws, the listener is closed. */
  listening?(url: string): void
  /**
   * The same method for another URL of the same server, such as that of HTTP+SSE: it also accepts tokens that are meant for that one.
   * Default: there is none, and the other URL has no metadata.
   */
  at?(resource: string): AuthMethod
  /** Opens the methods of one listener or mount, of which this is the first: an `AuthHost` gets an `Authentication`. */
  open(methods: readonly AuthMethod[], host: object): object
}

/** On whose behalf a token is verified. */
export interface Asker {
  /** Whether the token was accepted before, and is only checked again. */
  readonly isKnown: boolean
  /** What tells clients apart: the account of a token that was accepted before, or else the address of the client; undefined if nothing does. */
  readonly sender: unknown
}

/** The result of verifying a token. */
export type Verdict = Accepted | Rejected

/** A token that is good, and whose it is. */
export interface Accepted {
  /** The caller. */
  readonly auth: Auth
  /** When the token expires, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
  /**
   * When the token was issued, in milliseconds since 1970; `Infinity` if verifying it again tells whether it was revoked.
   * `app.revoke` rejects tokens that were issued earlier. Default: the claim `iat`; a token without it is rejected.
   */
  readonly issuedAt?: number | undefined
  /** When the token must be verified again, in milliseconds since 1970. Default: when it expires. */
  readonly recheckAt?: number | undefined
  /** Checks each request with a token that is bound to a key or a certificate. Returns undefined if it fits. */
  confirm?(request: Presented): Rejected | undefined | Promise<Rejected | undefined>
}

/** Why a token is rejected. `why` is for the client, and contains no part of the token; the other texts are for the log only. */
export interface Rejected {
  /** The kind of the rejection. */
  readonly rejected: Rejection
  /** The reason, for the client: a sentence without any part of the token. */
  readonly why: string
  /** The error behind it, for the log only. Default: none. */
  readonly cause?: unknown
  /** The reason in more detail, with what was expected and found. It may contain claims of the token that are not secret. */
  readonly detail?: string | undefined
  /** Advice for the operator. */
  readonly advice?: string | undefined
  /** Facts for programs that read the log. */
  readonly facts?: JsonObject | undefined
}

/** `unavailable`: it could not be verified, for example because the issuer does not answer. */
export type Rejection = 'invalid' | 'expired' | 'revoked' | 'proof' | 'nonce' | 'unavailable'

/** A request with a token, as far as tokens can be bound to it. */
export interface Presented {
  /** The scheme of the `Authorization` header, in lower case. */
  readonly scheme: 'bearer' | 'dpop'
  /** The token. */
  readonly token: string
  /** The HTTP method, and the URL as the client used it, without its query. */
  readonly method: string
  /** The URL as the client used it, without its query. */
  readonly url: string
  /** The option `resource`, if the client may have used it in place of `url`: mounts do not know what proxies do to the path. */
  readonly resource?: string | undefined
  /** The `DPoP` header; several are joined with commas. */
  readonly proof: string | undefined
  /** The SHA-256 thumbprint of the client certificate of the connection, in base64url. */
  readonly certificate: string | undefined
}

/** What an authentication needs of its server. */
export interface AuthHost {
  /** The path of our own listener; undefined for mounts, where a framework owns the listener. */
  readonly path: string | undefined
  /** Tells the operator. */
  report(level: 'info' | 'warning' | 'error', text: string, facts?: object): void
  /** How long verifying a token may take, in milliseconds. */
  readonly verifyMs: number
  /** Knows which callers `app.revoke` revoked, and ends streams whose token is no longer good. */
  readonly leases: Leases
}

/** The open methods of one listener or mount. */
export interface Authentication {
  /** Identifies the caller of a request. It returns no promise if the token is known. */
  readonly authenticate: Authenticator
  /** The headers that tell a caller which scopes it lacks, or that it needs another token. `path` is that of an added path, if it connected there. */
  challenge(error: McpError, path?: string): Headers
  /** The reply to a request for metadata; undefined if the target is another one. */
  document(head: HttpHead): HttpOut | undefined
  /** Tells the methods the URL of our own listener once it has one. If it throws, the listener is closed. */
  listening?(url: string): void
  /** Gives another path of our own listener, to which clients connect, metadata of its own. Requests at any of `paths` belong to it; a path may have several. */
  addPath?(path: string, paths: { has(path: string): boolean }): void
}
