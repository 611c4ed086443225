import { toHttpUrl } from '../../base/http-url.ts'
import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { isScope } from '../../rpc/scopes.ts'
import { toCanonical } from './canonical.ts'
import { fetchMetadata } from './fetch-metadata.ts'
import { LoginProblem, quoted, shownUrl } from './problem.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const MAX_ISSUERS = 20
const MAX_SCOPES = 200

/** What is known about a server whose metadata is wanted. */
export interface ResourceQuery {
  /** The URL that the client connects to. */
  readonly server: URL
  /** The parameter `resource_metadata` of the challenge. */
  readonly metadataUrl: string | undefined
  readonly fetch: typeof globalThis.fetch
  step(text: string): void
}

/** What a server says about the tokens that it accepts. */
export interface FoundResource {
  /** Its identifier as published, with scheme and host in lower case; undefined if it has no metadata, as at 2025-03-26. */
  readonly resource: string | undefined
  /** The issuers that it trusts. At 2025-03-26 it is its own. */
  readonly issuers: readonly string[]
  /** The scopes that every caller should have; undefined if it does not say. */
  readonly scopes: readonly string[] | undefined
  /** Whether it accepts only tokens that are bound to a key (DPoP). Default: false. */
  readonly needsDpop?: true
}

/** Finds the metadata of a server (RFC 9728): where its challenge says, then under its path, then at the root. */
export async function findResource(query: ResourceQuery): Promise<FoundResource> {
  const { server, metadataUrl, step } = query
  const url = toHttpUrl(server)
  const { origin, pathname } = url
  const named = metadataUrl === undefined ? [] : [readNamed(metadataUrl, origin)]
  const own = `${origin}${WELL_KNOWN}${withoutSlash(pathname)}`
  let problem: LoginProblem | undefined
  for (const place of new Set([...named, own, `${origin}${WELL_KNOWN}`])) {
    // A server with several URLs, such as /mcp and /sse, may always name the document of one of them.
    if (problem !== undefined && place !== own) break
    const described = await readAt(place, url, query)
    if (described === undefined) continue
    const found = described instanceof LoginProblem ? described : await confirm(described, place, url, query)
    if (!(found instanceof LoginProblem)) return found
    if (place === own) throw problem ?? found
    problem ??= found
  }
  if (problem !== undefined) throw problem
  const [promised] = named
  if (promised !== undefined)
    throw new LoginProblem(
      `the server names ${shownUrl(parseUrl(promised))} as its metadata, and there is none`,
    )
  step('took the server for its own issuer, as at 2025-03-26')
  return { resource: undefined, issuers: [origin], scopes: undefined }
}

/** Checks the URL in a challenge. Whoever can write it must not be able to make the client contact others. */
function readNamed(text: string, origin: string): string {
  const url = isUrl(text) ? parseUrl(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new LoginProblem(
      `the metadata that the server names is not an http or https URL without credentials: ${shownIn(text)}`,
    )
  if (url.origin === origin) return url.href
  throw new LoginProblem(
    `the server at ${origin} names metadata at ${url.origin}, and only its own origin may have it; if both are the same server, connect with the URL that it publishes`,
  )
}

/** A URL that is not accepted, up to where it could contain credentials. */
function shownIn(text: string): string {
  return quoted(/^[^@]*$/.test(text) ? text : text.replace(/^([^/]*\/\/)?.*@/, '$1…@'))
}

/** Reads the document at a place; the problem if it is not about this server, and undefined if there is none. */
async function readAt(
  place: string,
  server: URL,
  { fetch, step }: ResourceQuery,
): Promise<FoundResource | LoginProblem | undefined> {
  const response = await fetchMetadata(place, fetch, step)
  if (response === undefined) return undefined
  const document = await readDocument(response)
  const shown = shownUrl(parseUrl(place))
  step(
    document === undefined
      ? `found no JSON object at ${shown}`
      : `read the metadata of the server at ${shown}`,
  )
  return document && readMetadata(document, server, place)
}

/**
 * Confirms a resource that contains more than the server, such as the whole site: a tenant of the site must not get tokens for it. Only a document
 * at the address of that resource, or at its well-known address, says so. All other places may belong to tenants.
 */
async function confirm(
  found: FoundResource,
  place: string,
  server: URL,
  query: ResourceQuery,
): Promise<FoundResource | LoginProblem> {
  const { origin, pathname, search } = parseUrl(found.resource as string)
  const path = withoutSlash(pathname)
  const home = `${origin}${WELL_KNOWN}${path}`
  const at = parseUrl(place)
  // A site may route queries to its tenants, but not that of a mount.
  const isOwn = withoutSlash(at.pathname) === path && ['', `?${WELL_KNOWN}`].includes(at.search)
  // Tenants may differ in their queries only. No tenant serves the well-known address of the site.
  const isSame =
    path === withoutSlash(server.pathname) && (search === server.search || place === origin + WELL_KNOWN)
  if (isSame || place === home || isOwn) return found
  const published = await readAt(home, server, query)
  const isConfirmed = published !== undefined && !(published instanceof LoginProblem)
  if (isConfirmed && withoutSlash(published.resource as string) === origin + path) return published
  return new LoginProblem(
    `${shownUrl(at)} names the resource ${quoted(found.resource)}, which is more than ${shownUrl(server)}${server.search && ' with its query'}, and the metadata at ${shownUrl(parseUrl(home))} does not say so; the server must publish its own URL as its resource, or its site must publish that metadata`,
  )
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '')
}

async function readDocument(response: Response): Promise<JsonObject | undefined> {
  const document: unknown = await response.json().catch(() => undefined)
  return isObject(document) ? document : undefined
}

/** Reads a document; the problem if it is not about this server. */
function readMetadata(document: JsonObject, server: URL, place: string): FoundResource | LoginProblem {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = document
  if (typeof resource !== 'string' || !isResourceOf(resource, server))
    return new LoginProblem(
      `${shownUrl(parseUrl(place))} is the metadata of ${quoted(resource)}, not of ${shownUrl(server)}; connect with the URL that the server publishes`,
    )
  const normal = toCanonical(resource)
  if (normal === undefined)
    throw new LoginProblem(
      `the server publishes the resource ${quoted(resource)}, which is not a URL in its normal form`,
    )
  const trusted = stringsOf(issuers)?.slice(0, MAX_ISSUERS) ?? []
  return {
    resource: normal,
    issuers: trusted.length === 0 ? [server.origin] : trusted,
    scopes: stringsOf(scopes)?.filter(isScope).slice(0, MAX_SCOPES),
    ...(document['dpop_bound_access_tokens_required'] === true && { needsDpop: true }),
  }
}

/** Whether a resource is a server or contains it: it has the same origin, and its path is that of the server or leads to it. */
function isResourceOf(resource: string, server: URL): boolean {
  if (!isUrl(resource) || resource.includes('#')) return false
  const { origin, username, password, pathname, search } = parseUrl(resource)
  if (origin !== server.origin || username !== '' || password !== '') return false
  if (search !== '' && search !== server.search) return false
  const path = withoutSlash(pathname)
  return `${server.pathname}/`.startsWith(`${path}/`)
}

function stringsOf(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) ? [...new Set(list.filter((one) => typeof one === 'string'))] : undefined
}
