import { processDiscoveryResponse, type AuthorizationServer } from 'oauth4webapi'
import { placeOfHost } from '../../base/places.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { issuerMetadataUrls } from '../well-known.ts'
import { isCanonical } from './canonical.ts'
import { fetchMetadata } from './fetch-metadata.ts'
import { LoginProblem, quoted, shownUrl } from './problem.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** What is known about an issuer whose metadata is wanted. */
export interface IssuerQuery {
  /** Its identifier, as the server published it. */
  readonly issuer: string
  /** Whether the server has no metadata, as at 2025-03-26, and is its own issuer. */
  readonly isLegacy: boolean
  readonly fetch: typeof globalThis.fetch
  step(text: string): void
  /** Other origins that may have its endpoints. Default: none, and no option can allow any. */
  readonly allowOrigins?: readonly string[] | undefined
  /** Whether URLs may be `http`, because the server is on this machine. */
  readonly allowsHttp: boolean
  /** Whether a person logs in there: then its login page counts, and it must advertise PKCE. Default: true. */
  readonly needsPkce?: boolean | undefined
}

/**
 * The endpoints that are used. They must be on the origin of the issuer: some get credentials, and with the login page of another issuer a hostile one would
 * get its codes.
 */
const ENDPOINTS = [
  { member: 'authorization_endpoint', isRequired: false, isForLogins: true },
  { member: 'token_endpoint', isRequired: true, isForLogins: false },
  { member: 'registration_endpoint', isRequired: false, isForLogins: true },
] as const

/** The longest identifier of an issuer. People read it before they log in. */
const MAX_ISSUER = 2_048

/** Finds the metadata of an issuer and checks all of it that a login relies on. */
export async function findIssuer(query: IssuerQuery): Promise<AuthorizationServer> {
  const { issuer, isLegacy, fetch, step } = query
  checkIssuer(issuer, query.allowsHttp)
  let problem: LoginProblem | undefined
  for (const place of issuerMetadataUrls(issuer)) {
    const response = await fetchMetadata(place, fetch, step)
    if (response === undefined) continue
    const found = await readMetadata(response, query, place)
    if (!(found instanceof LoginProblem)) {
      step(`read the metadata of the issuer at ${shownUrl(parseUrl(place))}`)
      checkMetadata(found, query)
      return found
    }
    step(found.message)
    problem ??= found
  }
  if (problem !== undefined) throw problem
  if (!isLegacy)
    throw new LoginProblem(`the issuer ${quoted(issuer)} has no metadata at its well-known addresses`)
  step('took the default endpoints /authorize, /token and /register, as at 2025-03-26')
  return defaultsOf(parseUrl(issuer).origin)
}

function defaultsOf(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  }
}

function checkIssuer(issuer: string, allowsHttp: boolean): void {
  const { length } = issuer
  if (length > MAX_ISSUER)
    throw new LoginProblem(
      `the issuer ${quoted(issuer)} has ${length} characters, and at most ${MAX_ISSUER} are accepted`,
    )
  const url = isUrl(issuer) ? parseUrl(issuer) : undefined
  const isWeb = url?.protocol === 'https:' || (allowsHttp && url?.protocol === 'http:')
  if (isWeb && !/[?#@]/.test(issuer) && isCanonical(issuer)) return
  const scheme = allowsHttp ? 'https or http' : 'https'
  const shown = issuer.includes('@') ? 'a URL with an @' : quoted(issuer)
  throw new LoginProblem(
    `${shown} is not the URL of an issuer: it must be an ${scheme} URL in its normal form, without user name, query and fragment`,
  )
}

/** The document, or what is wrong with it. It must name the issuer character by character (RFC 8414, section 3.3). */
async function readMetadata(
  response: Response,
  { issuer, isLegacy }: IssuerQuery,
  place: string,
): Promise<AuthorizationServer | LoginProblem> {
  const shown = shownUrl(parseUrl(place))
  const document: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  if (!isObject(document)) return new LoginProblem(`${shown} is not metadata of an issuer`)
  const { issuer: named } = document
  // Nobody published the issuer of an old server, so either spelling of its origin may be meant. The library parses the name, so it comes second.
  if (named === issuer || (isLegacy && typeof named === 'string' && isCanonical(named)))
    try {
      return await processDiscoveryResponse(parseUrl(issuer), response)
    } catch {
      // It names another issuer, or is not JSON by its type.
    }
  return new LoginProblem(`${shown} is the metadata of ${quoted(named)}, not of ${quoted(issuer)}`)
}

function checkMetadata(found: AuthorizationServer, query: IssuerQuery): void {
  const { issuer, isLegacy, allowOrigins, needsPkce = true } = query
  const { origin } = parseUrl(issuer)
  const allowed = [
    origin,
    ...(allowOrigins ?? []).flatMap((text) => (isUrl(text) ? parseUrl(text).origin : [])),
  ]
  for (const { member, isRequired, isForLogins } of ENDPOINTS) {
    const value: unknown = found[member]
    if ((value === undefined && !isRequired) || (isForLogins && !needsPkce)) continue
    const url = readEndpoint(value, query)
    const subject = `the ${member} of the issuer ${shownUrl(parseUrl(issuer)).replace(/\/$/, '')}`
    if (url === undefined)
      throw new LoginProblem(`${subject} is not an https URL without user name (http only on this computer)`)
    const remedy =
      allowOrigins && `; if you trust it, allow it: issuer: "${issuer}", allowOrigins: ["${url.origin}"]`
    if (!allowed.includes(url.origin)) throw new LoginProblem(`${subject} is on ${url.origin}${remedy ?? ''}`)
  }
  const methods: unknown = found.code_challenge_methods_supported
  // Metadata had to name the methods only from 2025-11-25 on. S256 is used in any case.
  const isAdvertised = methods === undefined ? isLegacy : Array.isArray(methods) && methods.includes('S256')
  if (!needsPkce || isAdvertised || found.authorization_endpoint === undefined) return
  throw new LoginProblem(
    `the issuer ${quoted(issuer)} does not advertise PKCE with S256 (code_challenge_methods_supported), without which a login is not safe`,
  )
}

/** The URL of an endpoint. Browsers open one of them without our checks of addresses, so http must be visibly on this computer. */
function readEndpoint(value: unknown, { allowsHttp }: IssuerQuery): URL | undefined {
  if (typeof value !== 'string' || !isUrl(value)) return undefined
  const url = parseUrl(value)
  if (url.username !== '' || url.password !== '') return undefined
  const isLocal = allowsHttp && url.protocol === 'http:' && placeOfHost(url.hostname) === 'loopback'
  return url.protocol === 'https:' || isLocal ? url : undefined
}
