import { clip } from '../base/clip.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { AuthHost, AuthMethod } from '../transport/http/server/auth-method.ts'
import type { HttpHead, HttpOut } from '../transport/http/server/parts.ts'
import { parseUrl } from '../protocol/url.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** How much of a path the log repeats. */
const MAX_SHOWN = 200
const ALLOW = 'GET, HEAD, OPTIONS'
const CORS = { 'access-control-allow-origin': '*' }

/** The metadata of a protected resource (RFC 9728), and where it is. */
export interface Metadata {
  /** The URL that challenges name. */
  readonly url: string
  /** The reply to a request for it; undefined if the target is another one. */
  answer(head: HttpHead): HttpOut | undefined
}

/**
 * Serves the metadata of a server. On our own listener it is at the two well-known places. A mount does not know its path, so there
 * every target that contains the well-known path leads to it: below the mount, at routes of the framework, and with the well-known
 * path as the query, which works wherever MCP does, also behind a proxy that changes the path.
 */
export function createMetadata(
  resource: string,
  methods: readonly AuthMethod[],
  { path, report }: Pick<AuthHost, 'path' | 'report'>,
): Metadata {
  const { origin, pathname } = parseUrl(resource)
  const own = pathname === '/' ? '' : pathname.replace(/\/$/, '')
  const places = new Set([WELL_KNOWN, `${WELL_KNOWN}/`, `${WELL_KNOWN}${own}`, `${WELL_KNOWN}${pathname}`])
  if (path !== undefined)
    for (const place of [`${WELL_KNOWN}${path}`, `${path}?${WELL_KNOWN}`, `${path}${WELL_KNOWN}`])
      places.add(place)
  const isAtItsPath = path !== undefined && (own === '' || path.replace(/\/$/, '') === own)
  let mayWarn = path === undefined && own === ''
  const url = isAtItsPath ? `${origin}${WELL_KNOWN}${own}` : `${resource}?${WELL_KNOWN}`
  const body = JSON.stringify(documentOf(resource, methods))
  const isTemporary = methods.some((method) => method.isTemporary === true)
  const common = { ...CORS, 'cache-control': isTemporary ? 'no-store' : 'public, max-age=3600' }
  const headers = { ...common, 'content-type': 'application/json' }

  return { url, answer }

  function answer({ method, target = '' }: HttpHead): HttpOut | undefined {
    const at = target.indexOf(WELL_KNOWN)
    if (at < 0) return mayWarn ? warn(target.split('?', 1)[0] as string) : undefined
    const isQuery = target.lastIndexOf('?', at) >= 0
    const place = isQuery ? target : (target.split('?', 1)[0] as string)
    if (path !== undefined && !places.has(place)) return undefined
    if (method === 'GET') return { status: 200, headers, body }
    if (method === 'HEAD')
      return {
        status: 200,
        headers: { ...headers, 'content-length': String(new TextEncoder().encode(body).length) },
      }
    if (method !== 'OPTIONS') return { status: 405, headers: { ...common, allow: ALLOW } }
    return {
      status: 204,
      headers: {
        ...common,
        'access-control-allow-methods': ALLOW,
        'access-control-allow-headers': '*',
        'access-control-max-age': '600',
      },
    }
  }

  /** Says once that the URL in challenges may lead nowhere: a mount elsewhere than at the root does not get requests for it. */
  function warn(asked: string): undefined {
    if (asked === '/' || asked === '') return
    mayWarn = false
    const used = JSON.stringify(clip(`${origin}${asked}`, MAX_SHOWN))
    const text = `resource has no path, so clients cannot find the metadata of a mount at ${used}; write resource: ${used}`
    report('warning', `${text}, and audience: "${origin}" if that is what the tokens name`)
  }
}

/**
 * The methods whose scopes clients can ask an issuer for: those that the metadata is about. Without such a method there is no metadata, and all count.
 */
export function describedMethods(methods: readonly AuthMethod[]): readonly AuthMethod[] {
  const described = methods.filter(({ resource, issuers }) => resource !== undefined || issuers.length > 0)
  return described.length === 0 ? methods : described
}

function documentOf(resource: string, methods: readonly AuthMethod[]): JsonObject {
  const issuers = [...new Set(methods.flatMap((method) => method.issuers))]
  const scopes = [...new Set(describedMethods(methods).flatMap((method) => method.scopes))]
  return {
    resource,
    ...(issuers.length > 0 && { authorization_servers: issuers }),
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...Object.assign({}, ...methods.map((method) => method.metadata)),
  } as JsonObject
}
