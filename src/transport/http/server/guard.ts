import { isLoopback } from '../../../base/loopback.ts'
import { mcpError, type McpError } from '../../../errors/error.ts'
import { FORBIDDEN_HOST, FORBIDDEN_ORIGIN } from '../../../errors/http.ts'
import type { Service } from '../../../rpc/service.ts'
import { hostOf, readHost, readOrigin } from './hosts.ts'
import { NO_HEADERS, type Headers, type HttpHead } from './parts.ts'

export interface GuardOptions {
  /**
   * Accepted hosts, without port, whose own pages may send requests. `loopback` stands for every loopback name, on any
   * port. If it is undefined, any host is accepted, but only pages of loopback names.
   */
  readonly hosts: readonly string[] | undefined
  /** Origins of web pages that may send requests and read the replies, or `'*'`. */
  readonly cors: readonly string[]
}

export interface Guard {
  /** Throws unless the request may be served; returns the headers that let its web page read the reply. */
  check(head: HttpHead): Headers
  /** The headers that let a web page read a reply, including errors; none for a page that is not allowed. */
  cors(head: HttpHead): Headers
  /** The reply headers for a CORS preflight request. */
  preflight(head: HttpHead, methods?: string): Headers
}

const REQUEST_HEADERS =
  'Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name, DPoP'
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After'

/** Protects a server from web pages that reach it under a foreign name or from a foreign origin. */
export function createGuard({ hosts, cors: pages }: GuardOptions, warnOnce?: Service['warnOnce']): Guard {
  const served = new Set((hosts ?? ['*', 'loopback']).map(readHost))
  const anyHost = served.has('*')
  const origins = new Set(pages.map(readOrigin))

  /** The last accepted host: most requests name the same one. */
  let lastServed: string | undefined

  return { check, cors, preflight }

  function check(head: HttpHead): Headers {
    const host = head.header('host')
    if (!anyHost && (host === undefined || host !== lastServed)) {
      if (!isServed(hostOf(host))) throw forbiddenHost(host ?? '')
      lastServed = host
    }
    const origin = head.header('origin')
    if (origin === undefined) {
      if (hosts === undefined && isForeignPage(head)) throw forbiddenHost(host ?? '')
      return NO_HEADERS
    }
    if (mayRead(origin, host))
      return {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': EXPOSED,
        vary: 'Origin',
      }
    if (isOwn(origin, head)) return NO_HEADERS
    const error = mcpError(FORBIDDEN_ORIGIN, { origin: origin.slice(0, 128) })
    warn('cors', readable(origin), error)
    throw error
  }

  function forbiddenHost(host: string): McpError {
    const error = mcpError(FORBIDDEN_HOST, { host: host.slice(0, 128) })
    warn('hosts', hostOf(host), error)
    return error
  }

  /** Tells the operator, who alone can change it, what to add to an option. */
  function warn(option: 'hosts' | 'cors', value: string | undefined, { message }: McpError): void {
    if (value === undefined) return
    const remedy = `if it should be, add it: ${option}: ['${value.slice(0, 128)}']`
    warnOnce?.(option, value, `a request was rejected: ${message}; ${remedy}`)
  }

  function cors(head: HttpHead): Headers {
    if (head.header('origin') === undefined) return NO_HEADERS
    try {
      return check(head)
    } catch {
      return NO_HEADERS
    }
  }

  function preflight(head: HttpHead, methods = 'POST, GET, DELETE, OPTIONS'): Headers {
    const asked = (head.header('access-control-request-headers') ?? '').split(',').map((name) => name.trim())
    const params = asked.filter((name) => /^mcp-param-[!-~]+$/i.test(name))
    return {
      ...check(head),
      'access-control-allow-methods': methods,
      'access-control-allow-headers': [REQUEST_HEADERS, ...params].join(', '),
      'access-control-max-age': '600',
    }
  }

  function isServed(host: string | undefined): boolean {
    if (host === undefined) return false
    return served.has(host) || (served.has('loopback') && isLoopback(host))
  }

  /** Whether a page may read replies: a listed one, or one of this machine that calls this machine. */
  function mayRead(origin: string, host: string | undefined): boolean {
    if (origins.has('*') || origins.has(origin.toLowerCase())) return true
    return isLocal(origin) && (hosts !== undefined || isLoopback(hostOf(host) ?? ''))
  }

  /**
   * Whether a page belongs to the server, so that its browser needs no headers. If no hosts were named, a page whose
   * origin equals the Host does not belong to it: after DNS rebinding, every foreign page looks like that.
   */
  function isOwn(origin: string, head: HttpHead): boolean {
    return isLocal(origin) || (hosts !== undefined && isSame(origin, head))
  }

  /** Whether a page comes from this machine, and such pages are let in. */
  function isLocal(origin: string): boolean {
    return served.has('loopback') && isLoopback(hostOf(pageOf(origin)?.host) ?? '')
  }
}

/**
 * Whether a page that is not of this machine sends a request without an origin, as browsers do for `GET` to the host of the page, and
 * so after DNS rebinding. Pages of other sites cannot read where they lead a browser to, so that is no reason.
 */
function isForeignPage(head: HttpHead): boolean {
  const site = head.header('sec-fetch-site')
  if (site === undefined || site === 'none') return false
  if (site === 'cross-site' && head.header('sec-fetch-mode') === 'navigate') return false
  return !isLoopback(hostOf(head.header('host')) ?? '')
}

/** An origin as the option takes it; undefined if it is not one, such as `null`. */
function readable(origin: string): string | undefined {
  return /^https?:\/\/[\w.:[\]-]{1,128}$/i.test(origin) ? origin.toLowerCase() : undefined
}

/** Whether a page has the same host and port as the server, and its scheme. Without TLS, a proxy may change the scheme. */
function isSame(origin: string, head: HttpHead): boolean {
  const page = pageOf(origin)
  if (page === undefined || (head.scheme === 'https' && page.usualPort !== 443)) return false
  const asked = head.header('host')?.toLowerCase()
  return asked === page.host || asked === `${page.host}:${page.usualPort}`
}

interface PageHost {
  /** The host of the page and its port, if that is not the usual one, in lower case. */
  readonly host: string
  readonly usualPort: number
}

function pageOf(origin: string): PageHost | undefined {
  const [, scheme, host] = /^(https?):\/\/(.+)$/.exec(origin.toLowerCase()) ?? []
  return host === undefined ? undefined : { host, usualPort: scheme === 'https' ? 443 : 80 }
}
