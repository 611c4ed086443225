import type { AuthorizationServer, DPoPHandle } from 'oauth4webapi'
import type { TokenClient } from './token-endpoint.ts'
import type { StoredRegistration, StoredTokens } from './vault.ts'

/** A way to get tokens from an issuer: a login in a browser, client credentials and others. */
export interface Grant {
  /** Its name for the list of steps, such as `authorization code`. */
  readonly name: string
  /** Whether a person must do something. */
  readonly isInteractive: boolean
  /**
   * The client id of its options. Only one issuer knows it, so it is sent to no other, and its tokens are stored apart from those of other
   * clients. Default: none; the client registers where it must.
   */
  readonly clientId?: string | undefined
  /** The client as it presents itself to the issuer, with the registration that is stored. */
  clientOf(registration: StoredRegistration | undefined): TokenClient | Promise<TokenClient>
  /** Gets tokens. Its errors say only what the list of steps does not. */
  obtain(context: GrantContext): Promise<Obtained>
  /** Gets new tokens with a refresh token. Default: the grant has none, and `obtain` runs again. */
  refresh?(context: GrantContext, refreshToken: string): Promise<Obtained>
}

/** Tokens, with the registration of the client if it should be stored. */
export interface Obtained {
  readonly tokens: StoredTokens
  readonly registration?: StoredRegistration | undefined
}

/** Says why a user who is logged in has to log in again: the server needs more scopes. */
export interface StepUp {
  /** The scopes that the login lacks; empty if the server does not name them. */
  readonly scopes: readonly string[]
  /** Whether a login before asked for them too, and the issuer did not grant them: perhaps the user did not tick them. */
  readonly wasRequested: boolean
}

/** The facts that a grant needs to request tokens. */
export interface GrantContext {
  /** The URL of the server, for messages. */
  readonly server: URL
  /** The value of the parameter `resource`; undefined for servers of 2025-03-26 without metadata, unless the option `issuer` is set. */
  readonly resource: string | undefined
  /** The metadata of the issuer, checked. */
  readonly issuer: AuthorizationServer
  /** The scopes to ask for; undefined leaves the choice to the issuer. */
  readonly scopes: readonly string[] | undefined
  /** Why a person who is logged in has to log in again; undefined at a first login. */
  readonly stepUp?: StepUp | undefined
  /** The registration that is stored for this issuer. */
  readonly registration: StoredRegistration | undefined
  /** Signs DPoP proofs; undefined if the tokens are bearer tokens. */
  readonly dpop: DPoPHandle | undefined
  /** Sends requests to issuers: it checks addresses, follows no redirects and limits time and size. */
  readonly fetch: typeof globalThis.fetch
  /**
   * Sends requests to an issuer that the user of the client configured: its own address decides which addresses it may have. Default: `fetch`,
   * for which the address of the server decides.
   */
  readonly fetchFor?: ((issuer: URL) => typeof globalThis.fetch) | undefined
  /** Whether URLs of issuers may be `http`, because the server is on this machine. */
  readonly allowsHttp: boolean
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal
  /** Stops the clocks of all who wait while a person acts, until the function that it returns is called. Default: they run on. */
  pauseClocks?(): () => void
  /** Keeps a registration that was just made, also if the login fails. Default: it is kept with the tokens. */
  keepRegistration?(registration: StoredRegistration): Promise<void>
  /** Notes a step, so that a failed login can say how far it came. Never pass secrets. */
  step(text: string): void
}
