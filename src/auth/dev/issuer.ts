import { createLocalJWKSet, jwtVerify, type JWTPayload } from 'jose'
import type { ScopeHierarchy } from '../scopes.ts'
import { isDocumentId, type Documents } from './documents.ts'
import type { Client, Clients } from './clients.ts'
import type { Grant, Grants } from './grants.ts'
import type { Keys } from './keys.ts'
import { OAuthError } from './oauth-error.ts'
import { randomText } from '../digests.ts'
import type { Services } from './services.ts'
import type { Users } from './users.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** What the endpoints of an authorization server share. */
export interface Issuer {
  readonly url: string
  /** The server that tokens are for. */
  readonly resource: () => string
  /** Other URLs of the same server. */
  readonly others: Set<string>
  /** The scopes of clients that ask for none. */
  readonly scopes: readonly string[]
  readonly includes: ScopeHierarchy
  readonly users: Users
  readonly clients: Clients
  readonly documents: Documents
  /** The clients that act on their own behalf. */
  readonly services: Services
  readonly grants: Grants
  readonly keys: Keys
  /** How long access tokens are valid. */
  readonly tokenMs: number
  /** The client that may introspect tokens, which is the MCP server. */
  readonly introspector: Client
}

/** The typ of access tokens in JWT form (RFC 9068). */
const ACCESS_TOKEN = 'at+jwt'

/** The client with an id. Throws if there is none. */
export async function findClient(issuer: Issuer, id: string): Promise<Client> {
  if (isDocumentId(id)) return issuer.documents.get(id)
  const client = issuer.clients.get(id)
  if (client !== undefined) return client
  const text =
    'the client is not registered here; register again. If you see this in a browser, delete the login that your client stored for this server, and connect again'
  throw new OAuthError('invalid_client', text)
}

/** Rejects all resources but those of the server that it protects. */
export function checkResource(issuer: Issuer, given: readonly string[]): string {
  const resource = issuer.resource()
  const [asked] = given
  if (asked === undefined) throw target(`the resource parameter is missing; send resource=${resource}`)
  if (given.length > 1) throw target('only one resource parameter is supported')
  // Clients may write the URL in another way, such as with a slash after the port.
  const isAsked = (one: string): boolean => isUrl(asked) && parseUrl(asked).href === parseUrl(one).href
  const known = [resource, ...issuer.others].find(isAsked)
  if (known !== undefined) return known
  throw target(`tokens are issued for ${resource} only`)
}

function target(message: string): OAuthError {
  return new OAuthError('invalid_target', message)
}

/** Creates an access token. Its id begins with the id of the grant, so that both can be revoked. */
export function createAccessToken(
  issuer: Issuer,
  grant: Grant,
  scopes: readonly string[],
  tokenMs: number,
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  return issuer.keys.sign(ACCESS_TOKEN, {
    ...grant.user.claims,
    iss: issuer.url,
    sub: grant.user.sub,
    aud: grant.resource,
    client_id: grant.clientId,
    scope: scopes.join(' '),
    iat: now,
    exp: now + Math.floor(tokenMs / 1_000),
    jti: `${grant.id}.${randomText(12)}`,
  })
}

/** Whether an access token with these claims, or its grant, was revoked. */
export function isRevoked({ grants }: Issuer, { jti = '' }: JWTPayload): boolean {
  return grants.isRevoked(jti) || grants.isRevoked(jti.split('.', 1)[0] as string)
}

/** The claims of an access token of this issuer that is valid; undefined for anything else. */
export async function readAccessToken(issuer: Issuer, token: string): Promise<JWTPayload | undefined> {
  const { url, keys } = issuer
  const jwks = createLocalJWKSet({ keys: [...keys.jwks.keys] })
  const options = { issuer: url, typ: ACCESS_TOKEN, algorithms: ['ES256'] }
  const verified = await jwtVerify(token, jwks, options).catch(() => undefined)
  return verified === undefined || isRevoked(issuer, verified.payload) ? undefined : verified.payload
}
