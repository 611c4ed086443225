import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_ANSWER } from '../../../errors/client.ts'
import { CONNECT_FAILED, STREAM_LOST } from '../../../errors/transport.ts'
import type { ClientAuth } from '../../../rpc/client-auth.ts'
import type { Clock } from '../../../rpc/clock.ts'
import { Deadline } from '../../../rpc/deadline.ts'
import { loginsOf, type AuthOwner, type LoginRequest } from '../../../rpc/logins.ts'
import { dropBody } from './body.ts'
import type { HeaderRecord } from './headers.ts'
import { isUrl, parseUrl } from '../../../protocol/url.ts'

export interface Sending extends LoginRequest {
  readonly verb: 'POST' | 'GET' | 'DELETE'
  readonly body?: string
  /** Replaces the credentials of the client. */
  readonly auth?: ClientAuth | undefined
}

/** Sends one HTTP request and returns the reply, whatever its status. */
export type Send = (sending: Sending) => Promise<Response>

const MAX_REDIRECTS = 3
const SEND_MS = 60_000
/** Failures after which it is unknown whether the request arrived. */
const BROKEN: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

/** Creates a function that sends to one URL. It follows only redirects within the origin that keep method and body. */
export function createSend(start: URL, fetch: typeof globalThis.fetch, owner?: AuthOwner): Send {
  return async (sending) => {
    let url = start
    for (let hops = 0; ; hops++) {
      const response = await attempt(url, sending)
      const { status, type } = response
      if (type !== 'opaqueredirect' && !(status >= 300 && status < 400))
        return checkOrigin(response, sending.method)
      dropBody(response)
      const target = targetOf(response, url)
      const repeats = (status === 307 || status === 308) && target?.origin === start.origin
      if (!repeats || hops === MAX_REDIRECTS) throw await redirected(sending.method, status, target)
      url = target
    }
  }

  async function attempt(url: URL, sending: Sending): Promise<Response> {
    const { verb, body, signal, method, auth = owner?.auth } = sending
    const send = async (headers: HeaderRecord): Promise<Response> => {
      try {
        return await fetch(url, {
          method: verb,
          headers,
          signal,
          redirect: 'manual',
          ...(body !== undefined && { body }),
        })
      } catch (error) {
        throw signal.aborted ? signal.reason : toNetworkError(error, nameOf(url), method)
      }
    }
    if (auth === undefined || owner === undefined) return send(sending.headers)
    return loginsOf(owner, auth).attempt(auth, url, sending, send)
  }

  /** The caller's `fetch` may have followed redirects by itself. */
  async function checkOrigin(response: Response, method: string): Promise<Response> {
    const url = response.redirected ? parseUrl(response.url) : start
    if (url.origin === start.origin) return response
    dropBody(response)
    throw await redirected(method, response.status, url)
  }
}

/** Limits how long the server may take for a message that expects no response. */
export function sendingDeadline(method: string, idleMs: number = SEND_MS, clock?: Clock): Deadline {
  return new Deadline({ method, idleMs, totalMs: Infinity, signal: undefined, clock })
}

/** A URL without the parts that may be secret. */
export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 256)
}

function targetOf(response: Response, base: URL): URL | undefined {
  const address = response.headers.get('location')
  return address !== null && isUrl(address, base.href) ? parseUrl(address, base) : undefined
}

/** Code that only redirects need is loaded with the first one. */
async function redirected(method: string, status: number, target: URL | undefined): Promise<McpError> {
  return (await import('./redirect.ts')).toRedirected(method, status, target)
}

function toNetworkError(error: unknown, target: string, method: string): McpError {
  if (error instanceof McpError) return error
  const cause = (error as { cause?: { code?: unknown; name?: unknown; message?: unknown } }).cause
  // Browsers give no reason, to protect servers that do not allow the page's origin.
  if (cause === undefined) {
    const data = { opaque: true }
    const reason = 'the request failed; in a browser, the server must allow the origin of the page'
    return mcpError(CONNECT_FAILED, { target, reason }, { cause: error, data })
  }
  const code = typeof cause.code === 'string' ? cause.code : undefined
  const extras = { cause: error, ...(code !== undefined && { data: { code } }) }
  if (code !== undefined && BROKEN.has(code)) return mcpError(STREAM_LOST, { method }, extras)
  // Newer runtimes give the parser's error a name but no code.
  if (
    cause.name === 'HTTPParserError' ||
    code?.startsWith('HPE_') === true ||
    code === 'UND_ERR_HEADERS_OVERFLOW'
  )
    return mcpError(BAD_ANSWER, { method, issue: 'the reply is not valid HTTP' }, extras)
  const reason = code === 'ECONNREFUSED' ? `nothing listens there (${code})` : (code ?? String(cause.message))
  return mcpError(CONNECT_FAILED, { target, reason }, extras)
}
