import { toMs, type Duration } from '../../base/duration.ts'
import { callable, DURATION, FLAG, listOf, type Kind, type KindsOf } from '../../base/kinds.ts'
import { toHttpUrl } from '../../base/http-url.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { SCOPE } from '../../rpc/scopes.ts'
import type { AuthServer, ClientAuth } from '../../transport/http/client/auth-method.ts'
import { placeOfHost } from '../../base/places.ts'
import { NAME } from '../token-options.ts'
import { ISSUER } from '../urls.ts'
import { GrantAuthorization, SharedLogin } from './authorization.ts'
import { defineAuth } from './define-auth.ts'
import type { Grant } from './grant.ts'
import { loginRate } from './login-rate.ts'
import type { LoggedOut } from './logout.ts'
import { memoryVault } from './memory-vault.ts'
import { encoded } from './place.ts'
import { createSafeFetch } from './safe-fetch.ts'
import { rateKeyOf, type Setup } from './setup.ts'
import { VAULT } from './vault-kind.ts'
import type { Vault } from './vault.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** Options of all methods that get their tokens from an issuer. */
export interface MethodOptions {
  /** Keeps credentials. Default: a `memoryVault` of this method, so that the next start begins without any. */
  readonly vault?: Vault | undefined
  /**
   * The user whom the credentials belong to, if the program acts for several: each has entries of the vault that no other gets. Any text that
   * identifies the user does. Default: the program has one user.
   */
  readonly user?: string | undefined
  /** Scopes to ask for besides those that the server names. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** The only issuer to use, exactly as the metadata of the server spells it. Secrets need it. Default: whichever the server names. */
  readonly issuer?: string | undefined
  /** Whether tokens must be bound to a key, so that a stolen one is useless (DPoP). Default: if the server accepts only such tokens. */
  readonly dpop?: boolean | undefined
  /**
   * Origins, such as `https://login.example`, where the issuer may have its login page and its endpoints although it is elsewhere
   * itself. They need the option `issuer`, so that no other issuer may use them. Default: none.
   */
  readonly allowOrigins?: readonly string[] | undefined
}

const ORIGIN: Kind<string> = {
  must: 'an origin, such as https://login.example',
  is: (value) => typeof value === 'string' && isUrl(value) && parseUrl(value).origin === value,
  repeats: true,
}

export const METHOD_OPTIONS: KindsOf<MethodOptions> = {
  vault: VAULT,
  user: NAME,
  scopes: listOf(SCOPE),
  issuer: ISSUER,
  dpop: FLAG,
  allowOrigins: listOf(ORIGIN),
}

/** A way to log in that keeps its tokens in a vault, and can therefore log out. */
export interface LoginMethod extends ClientAuth {
  /**
   * Logs out of a server: removes what the vault has for it, and then asks each issuer to revoke its tokens. It never fails because of an
   * issuer. Resolves with an entry for each issuer that had given tokens: none if nobody was logged in.
   *
   * @example
   * for (const { issuer, revoked, reason } of await auth.logout(url)) if (!revoked) console.warn(issuer, reason)
   */
  logout(server: string | URL, options?: LogoutOptions): Promise<readonly LoggedOut[]>
}

/** Options of `logout`. */
export interface LogoutOptions {
  /** How long a logout may wait in all: for others who change the same entry, and for issuers that revoke tokens. Default: `'10s'`. */
  readonly timeout?: Duration | undefined
  /** Sends the requests, as the option `fetch` of the client does. Default: that of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const LOGOUT_OPTIONS: KindsOf<LogoutOptions> = {
  timeout: DURATION,
  fetch: callable('a function like fetch'),
}

/** Servers whose logins are remembered after their clients closed. */
const MAX_CLOSED = 64

/** Creates a method that authenticates with tokens of an issuer, which it gets with a grant. All clients with it share its logins. */
export function createMethod(name: string, grant: Grant, options: MethodOptions & Own): LoginMethod {
  checkIssuer(name, options)
  const { vault = memoryVault(), scopes, issuer, dpop, allowOrigins = [], storedOnly = false } = options
  const owner = ownerOf(name, grant, options)
  const logins = new Map<string, SharedLogin>()
  const setupFor = (server: URL, given: Pick<AuthServer, 'fetch' | 'ownFetch'>): Setup => ({
    server,
    owner,
    grant,
    vault,
    fetch: fetchOf(server, given),
    fetchFor: (own: URL) => createSafeFetch({ server: own, fetch: given.fetch }),
    allowsHttp: placeOfHost(server.hostname) === 'loopback',
    scopes,
    issuer,
    dpop,
    allowOrigins,
    storedOnly,
  })
  const open = (given: AuthServer): GrantAuthorization => {
    const server = toHttpUrl(given.url)
    warnOfPlainText(server, given)
    return new GrantAuthorization(setupFor(server, given), sharedLogin(logins, server), () =>
      given.loggedOut?.(),
    )
  }
  return {
    ...defineAuth({ name, open }),
    async logout(url, given = {}) {
      const where = `${name}().logout`
      checkOptions<LogoutOptions>(where, given, LOGOUT_OPTIONS)
      if (!isUrl(String(url))) throw badOption(where, 'it takes the URL of the server, as connect does')
      const server = toHttpUrl(url)
      const setup = setupFor(server, given)
      const timeoutMs = toMs(given.timeout ?? '10s', `${where} timeout`)
      const signal = AbortSignal.timeout(timeoutMs)
      loginRate.reset(rateKeyOf(setup))
      const shared = logins.get(server.href) ?? sharedLogin(logins, server)
      const removed = await shared.leave(async () => {
        const { removeLogins } = await import('./logout.ts')
        return removeLogins(setup, signal)
      }, signal)
      const { revokeLogins } = await import('./logout.ts')
      return revokeLogins(setup, removed, signal)
    },
  }
}

/**
 * Keeps the credentials of different clients, roles and users apart. None of the parts has a space, and only a user follows on two, so that no two
 * owners are the same.
 */
function ownerOf(name: string, grant: Grant, { scopes, user }: MethodOptions): string {
  const client = grant.clientId === undefined ? [name] : [name, grant.clientId]
  // A person who logs in may grant more later. A service gets what it asks for, so other scopes mean another role.
  const roles = grant.isInteractive ? [] : [...(scopes ?? [])].toSorted()
  const parts = [...client, ...roles, ...(user === undefined ? [] : ['', user])]
  return parts.map(encoded).join(' ')
}

/** Options that only some methods have. */
interface Own {
  readonly storedOnly?: boolean | undefined
  readonly clientSecret?: string | undefined
}

/** A server names its issuer. A hostile one must not get what is meant for another, so the program says whose it is. */
function checkIssuer(name: string, { issuer, clientSecret, allowOrigins }: MethodOptions & Own): void {
  if (issuer !== undefined) return
  if (clientSecret !== undefined)
    throw badOption(
      name,
      'clientSecret needs the option issuer: the secret is sent only to the issuer that gave it to this client',
    )
  if (allowOrigins !== undefined && allowOrigins.length > 0)
    throw badOption(
      name,
      'allowOrigins needs the option issuer: otherwise any issuer that a server names could use these origins',
    )
}

/** The login that all open clients of a server share. Once they are closed, the next client starts from the contents of the vault. */
function sharedLogin(logins: Map<string, SharedLogin>, { href }: URL): SharedLogin {
  for (const [key, { clients, history }] of logins) {
    if (clients > 0) continue
    if (logins.size > MAX_CLOSED) logins.delete(key)
    else logins.set(key, new SharedLogin(history))
  }
  const shared = logins.get(href) ?? new SharedLogin()
  logins.set(href, shared)
  return shared
}

/** Others on the network can read tokens that are not encrypted, and use them. */
function warnOfPlainText(server: URL, { url, warn }: AuthServer): void {
  if (server.protocol === 'https:' || placeOfHost(server.hostname) === 'loopback') return
  const secure = url.protocol.replace(':', 's')
  warn(`tokens are sent to ${server.origin}${server.pathname} without encryption; use ${secure}`)
}

/** Sends requests to issuers, and those for the metadata of the server itself with its own TLS options. */
function fetchOf(
  server: URL,
  { fetch, ownFetch }: Pick<AuthServer, 'fetch' | 'ownFetch'>,
): typeof globalThis.fetch {
  const safe = createSafeFetch({ server, fetch })
  if (ownFetch === undefined) return safe
  const own = createSafeFetch({ server, ownFetch })
  return (input, init) => {
    const { origin } = parseUrl(input instanceof Request ? input.url : input)
    return (origin === server.origin ? own : safe)(input, init)
  }
}
