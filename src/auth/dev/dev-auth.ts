import { toHttpUrl } from '../../base/http-url.ts'
import { isLoopback } from '../../base/loopback.ts'
import { toMs, type Duration } from '../../base/duration.ts'
import { DURATION, listOf, object, PORT, required, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { readEnv } from '../../base/runtime.ts'
import { SCOPE } from '../../rpc/scopes.ts'
import type { AuthMethod } from '../../transport/http/server/auth-method.ts'
import { openAuthentication } from '../authentication.ts'
import { explainForeign } from '../jwt.ts'
import { createMethod } from '../method.ts'
import { COMMON_AUTH_OPTIONS, readResource } from '../options.ts'
import type { ScopeHierarchy } from '../scopes.ts'
import { decide, readLogin, type Decision } from './authorize.ts'
import { Clients, type Client } from './clients.ts'
import { Documents } from './documents.ts'
import { createEndpoints } from './endpoints.ts'
import { fetchDocument } from './fetch-document.ts'
import { Grants } from './grants.ts'
import { createAccessToken, readAccessToken, type Issuer } from './issuer.ts'
import { Keys } from './keys.ts'
import { openListener, type Listener } from './listener.ts'
import { digestOf, randomText } from '../digests.ts'
import { BROWSER_SCHEMES } from './redirects.ts'
import { SERVER_ID, Services, type DevClient } from './services.ts'
import { checkClaims, Users, type DevUser } from './users.ts'
import { verify } from './verify.ts'
import { parseUrl } from '../../protocol/url.ts'

/** Options of `devAuth`. */
export interface DevAuthOptions {
  /**
   * The URL of the MCP server, on this computer. Default: the URL that `app.listen` opens. Mounts in a framework need it, unless it is
   * `http://127.0.0.1:3000/mcp`.
   */
  readonly resource?: string | undefined
  /** The scopes that every caller needs. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** The scopes that others include: `{ admin: ['read', 'write'] }`. Default: none. */
  readonly includes?: ScopeHierarchy | undefined
  /** The users who can log in: their subjects, or more about them. Default: `alice`, `bob` and every name that is typed. */
  readonly users?: readonly (string | DevUser)[] | undefined
  /** The services that get tokens on their own behalf, with `clientCredentials`. Default: none. */
  readonly clients?: readonly DevClient[] | undefined
  /** The address of the login server, which must be one of this computer. Default: `'127.0.0.1'`. */
  readonly host?: string | undefined
  /**
   * The port of the login server; 0 means any free port. If it changes from one start to the next, clients may need to forget their
   * login. Default: `3999`, or any free port if that is in use.
   */
  readonly port?: number | undefined
  /** How long access tokens are valid. Clients refresh them. Default: `'1h'`. */
  readonly tokenTtl?: Duration | undefined
  /** Schemes of apps that clients may be redirected to, besides `https` and `http` on this computer: `['cursor']`. Default: none. */
  readonly redirectSchemes?: readonly string[] | undefined
}

/** Options of `token`. */
export interface DevTokenOptions {
  /** The subject of the token. */
  readonly sub: string
  /** The scopes of the token. Default: those that every caller needs. */
  readonly scopes?: readonly string[] | undefined
  /** The URL of the server that the token is for. Default: the MCP server. */
  readonly resource?: string | undefined
  /** How long the token is valid. Default: `tokenTtl` of `devAuth`. */
  readonly expiresIn?: Duration | undefined
  /** Further claims. Default: those of the user. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** A method for the option `auth`, with its own authorization server for development and tests. */
export interface DevAuth extends AuthMethod {
  /** The URL of the authorization server. */
  readonly issuer: string
  /** The credentials with which a server introspects tokens: `introspection({ issuer, ...credentials, resource })`. */
  readonly credentials: {
    /** The id of the server at the authorization server. */
    readonly clientId: string
    /** Its secret. */
    readonly clientSecret: string
  }
  /** Creates an access token without a login. */
  token(options: DevTokenOptions): Promise<string>
  /**
   * Answers the login page for a user, in tests without a browser. It takes the URL that a client wants to open, and returns the URL that
   * the browser would be sent to.
   */
  login(url: string | URL, decision: Decision): Promise<string>
  /** Revokes an access token. */
  revoke(token: string): Promise<void>
  /** Signs with a new key from now on. Tokens that the previous key signed stay valid. */
  rotateKeys(): Promise<void>
  /** Closes the login server. Otherwise it is closed when the process ends, which it does not delay. */
  close(): Promise<void>
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const SCHEME: Kind<string> = {
  must: 'a scheme of an app, such as cursor',
  is: (value) =>
    typeof value === 'string' && /^[a-z][a-z0-9+.-]*$/.test(value) && !BROWSER_SCHEMES.has(value),
  repeats: true,
}

const OPTIONS: KindsOf<DevAuthOptions> = {
  resource: TEXT,
  scopes: COMMON_AUTH_OPTIONS.scopes,
  includes: COMMON_AUTH_OPTIONS.includes,
  users: {
    must: `a list of subjects or users, such as ['alice', { sub: 'bob', scopes: ['read'] }]`,
    is: (value) => Array.isArray(value),
  },
  clients: {
    must: `a list of services, such as [{ clientId: 'reports', clientSecret: 'a secret' }]`,
    is: (value) => Array.isArray(value),
  },
  host: TEXT,
  port: PORT,
  tokenTtl: DURATION,
  redirectSchemes: listOf(SCHEME),
}

const TOKEN_OPTIONS: KindsOf<DevTokenOptions> = {
  sub: required(TEXT),
  scopes: listOf(SCOPE),
  resource: TEXT,
  expiresIn: DURATION,
  claims: object(),
}

/** Where `app.listen({ http: {} })` listens. */
const DEFAULT_RESOURCE = 'http://127.0.0.1:3000/mcp'
const DEFAULT_PORT = 3999

/**
 * Starts an authorization server for development and tests, with a login page that asks for no password, and returns the method that
 * protects a server with it. It works on this computer only, and not in production.
 *
 * @example
 * const app = createServer({ name: 'notes', version: '1.0.0', auth: await devAuth() })
 */
export async function devAuth(options: DevAuthOptions = {}): Promise<DevAuth> {
  checkOptions<DevAuthOptions>('devAuth', options, OPTIONS)
  checkPlace(options)
  const { host = '127.0.0.1', port } = options
  const users = new Users(options.users)
  const services = await Services.from(options.clients)
  const listener = await (port === undefined ? openUsual(host) : openListener(host, Number(port)))
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`
  return startIssuer(options, { url, users, services, listener })
}

/** Opens the usual port, which clients know from the last time, or any other if that is in use. */
function openUsual(host: string): Promise<Listener> {
  return openListener(host, DEFAULT_PORT).catch(() => openListener(host, 0))
}

/** Anyone who reaches the login page can be anyone, so it must not be reached from elsewhere. */
function checkPlace({ host = '127.0.0.1', resource }: DevAuthOptions): void {
  if (readEnv('NODE_ENV')?.trim().toLowerCase() === 'production') {
    const reason =
      'it lets anyone log in as anyone, so it does not run when NODE_ENV is production; use oauth({ issuer, resource }) of pierhead/auth'
    throw badOption('devAuth', reason)
  }
  if (!isLoopback(host))
    throw badOption('devAuth', `other computers could reach "${host}"; use 127.0.0.1, ::1 or localhost`)
  if (resource !== undefined) checkResource(resource)
}

function checkResource(resource: string): void {
  readResource('devAuth', resource)
  if (!isLoopback(parseUrl(resource).hostname))
    throw badOption('devAuth', `${resource} is not on this computer; use oauth({ issuer, resource }) there`)
}

function checkListener(address: string): void {
  if (isLoopback(parseUrl(address).hostname)) return
  const reason = `other computers can reach ${address}; listen on 127.0.0.1, or use oauth({ issuer, resource })`
  throw badOption('devAuth', reason)
}

function protectsAnother(known: string): Error {
  return badOption('devAuth', `it protects ${known} already; call devAuth() once for each server`)
}

async function startIssuer(
  options: DevAuthOptions,
  {
    url,
    users,
    services,
    listener,
  }: Pick<Issuer, 'url' | 'users' | 'services'> & { readonly listener: Listener },
): Promise<DevAuth> {
  const { scopes = [], includes = {}, redirectSchemes: schemes = [], tokenTtl = '1h' } = options
  const tokenMs = toMs(tokenTtl, 'devAuth tokenTtl')
  const clientSecret = randomText()
  let resource = options.resource ?? DEFAULT_RESOURCE
  const grants = new Grants(tokenMs)
  const issuer: Issuer = {
    url,
    resource: () => resource,
    others: new Set(),
    scopes,
    includes,
    users,
    clients: new Clients(schemes, () => grants.clientsInUse()),
    documents: new Documents(schemes, fetchDocument),
    services,
    grants,
    keys: new Keys(),
    tokenMs,
    introspector: await createIntrospector(clientSecret),
  }
  await issuer.keys.rotate()
  listener.serve(createEndpoints(issuer))
  const close = (): Promise<void> => listener.close()
  let known = ''
  const listening = (address: string): void => {
    checkListener(address)
    // A WebSocket on a port of its own belongs to the server whose URL is already known.
    if (options.resource !== undefined || (known !== '' && address.startsWith('ws'))) return
    if (known.startsWith('http') && known !== address) throw protectsAnother(known)
    known = address
    resource = toHttpUrl(address).href
  }
  const parts: Omit<AuthMethod, 'resource' | 'verify' | 'open'> = {
    name: 'devAuth',
    issuers: [url],
    scopes,
    includes,
    metadata: {},
    isTemporary: true,
    explain: (token, isOnly) => explainForeign(token, [url], isOnly),
  }
  return {
    ...parts,
    get resource() {
      return resource
    },
    verify: (token) => verify(issuer, token),
    listening,
    at(other) {
      issuer.others.add(other)
      return createMethod({ ...parts, resource: other, verify: (token) => verify(issuer, token, other) })
    },
    open: openAuthentication,
    issuer: url,
    credentials: { clientId: issuer.introspector.id, clientSecret },
    token: (wanted) => createToken(issuer, wanted),
    revoke: (token) => revokeToken(issuer, token),
    login: (target, decision) => login(issuer, target, decision),
    rotateKeys: () => issuer.keys.rotate(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function createIntrospector(secret: string): Promise<Client> {
  const parts = { id: SERVER_ID, name: 'MCP server', redirectUris: [], refreshes: false }
  return { ...parts, authMethod: 'client_secret_basic', secret: await digestOf(secret) }
}

async function createToken(issuer: Issuer, options: DevTokenOptions): Promise<string> {
  checkOptions<DevTokenOptions>('token', options, TOKEN_OPTIONS)
  checkClaims('token claims', options.claims)
  const { sub, scopes = issuer.scopes, resource = issuer.resource(), expiresIn = issuer.tokenMs } = options
  const claims = options.claims ?? issuer.users.find(sub)?.claims
  const user = { sub, claims }
  const grant = { id: randomText(12), clientId: 'dev', user, scopes, resource, refreshes: false }
  return createAccessToken(issuer, grant, scopes, toMs(expiresIn, 'token expiresIn'))
}

async function revokeToken(issuer: Issuer, token: string): Promise<void> {
  const claims = await readAccessToken(issuer, token)
  if (claims?.jti !== undefined) issuer.grants.revoke(claims.jti)
}

async function login(issuer: Issuer, url: string | URL, decision: Decision): Promise<string> {
  if (decision !== 'deny' && typeof (decision as Partial<typeof decision> | undefined)?.sub !== 'string')
    throw badOption('login', "say who logs in, or that the user refuses: { sub: 'ann' } or 'deny'")
  const read = await readLogin(issuer, parseUrl(url).searchParams)
  return 'redirect' in read ? read.redirect : decide(issuer, read.login, decision)
}
