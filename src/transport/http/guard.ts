import { mcpError } from '../../protocol/errors.ts'
import { NO_HEADERS, type Headers, type HttpHead } from './parts.ts'

export interface GuardOptions {
  /** Hosts that are served, without port; undefined serves any. `loopback` stands for every name of this machine. */
  readonly hosts: readonly string[] | undefined
  /** Origins of web pages that may call, or `'*'`. Pages on a served host always may. */
  readonly cors: readonly string[]
}

export interface Guard {
  /** Throws unless the request may be served; returns the headers that let its web page read the reply. */
  check(head: HttpHead): Headers
  /** The reply headers to a browser that asks before it calls. */
  preflight(head: HttpHead): Headers
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])
const REQUEST_HEADERS =
  'Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name'
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After'

/** Protects a server from web pages that reach it under a foreign name or from a foreign origin. */
export function createGuard({ hosts, cors }: GuardOptions): Guard {
  const anyHost = hosts === undefined || hosts.includes('*')
  const served = new Set((hosts ?? []).map(readHost))
  const origins = new Set(cors.map(readOrigin))

  return { check, preflight }

  function check(head: HttpHead): Headers {
    const host = head.header('host')
    if (!anyHost && !isServed(hostOf(host)))
      throw mcpError('forbidden_host', { host: (host ?? '').slice(0, 128) })
    const origin = head.header('origin')
    if (origin === undefined) return NO_HEADERS
    if (!isAllowed(origin, host, head.local === true))
      throw mcpError('forbidden_origin', { origin: origin.slice(0, 128) })
    return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' }
  }

  function preflight(head: HttpHead): Headers {
    const asked = (head.header('access-control-request-headers') ?? '').split(',').map((name) => name.trim())
    const params = asked.filter((name) => /^mcp-param-[!-~]+$/i.test(name))
    return {
      ...check(head),
      'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
      'access-control-allow-headers': [REQUEST_HEADERS, ...params].join(', '),
      'access-control-max-age': '600',
    }
  }

  function isServed(host: string | undefined): boolean {
    if (host === undefined) return false
    return served.has(host) || (served.has('loopback') && LOOPBACK.has(host))
  }

  /**
   * Without a list of hosts a page may call the host it came from, except under a foreign name over loopback: that is
   * what a page does which had its own name point here.
   */
  function isAllowed(origin: string, host: string | undefined, local: boolean): boolean {
    if (origins.has('*') || origins.has(origin.toLowerCase())) return true
    const name = originHost(origin)
    if (name === undefined) return false
    if (!anyHost) return isServed(name)
    if (local && hosts === undefined && !LOOPBACK.has(name)) return false
    return origin.toLowerCase().replace(/^https?:\/\//, '') === host?.toLowerCase()
  }
}

/** The host without its port, or undefined when the header is not a plain host. */
function hostOf(header: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1]?.toLowerCase()
}

function originHost(origin: string): string | undefined {
  return hostOf(/^https?:\/\/(.+)$/i.exec(origin)?.[1])
}

function readHost(host: string): string {
  const name = host.includes('::') && !host.startsWith('[') ? `[${host}]` : host
  if (name === '*' || (hostOf(name) ?? '') === name.toLowerCase()) return name.toLowerCase()
  throw mcpError('bad_option', {
    where: 'hosts',
    reason: `"${host}" is not a host; write it without scheme, port and path`,
  })
}

function readOrigin(origin: string): string {
  if (origin === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(origin)) return origin.toLowerCase()
  throw mcpError('bad_option', {
    where: 'cors',
    reason: `"${origin}" is not an origin; write scheme://host, and the port if there is one`,
  })
}
