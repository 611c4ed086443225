import { lazy } from '../../../base/lazy.ts'
import { McpError, mcpError } from '../../../errors/error.ts'
import { CONNECT_FAILED } from '../../../errors/transport.ts'
import { parseUrl } from '../../../protocol/url.ts'
import type { ClientTls } from '../../tls/options.ts'
import { nameOf } from './fetch.ts'

/** The parts of Node's dispatchers that are used here. */
interface Dispatcher {
  readonly isMockActive?: boolean
  dispatch(options: unknown, handler: Handler): boolean
}

type OnHeaders = (status: number, headers: readonly Uint8Array[], ...rest: readonly unknown[]) => unknown

interface Handler {
  onHeaders?: OnHeaders
}

/** Where Node keeps the dispatcher of `fetch`, which programs may replace. */
const CURRENT = Symbol.for('undici.globalDispatcher.1')
const global = globalThis as { readonly [CURRENT]?: Dispatcher }
/**
 * The platform's `fetch`. Node accepts five content codings in one reply. With two, a few hundred bytes keep its decoders busy for
 * minutes without any output, and neither a signal nor the end of the connection stops them. With six, the end of the reply ends
 * the process. So the connection is closed if a reply has more than one. In Bun, replies must not be coded at all.
 */
export const platformFetch: typeof fetch = (input, init) => {
  // Node 20 loads `fetch` with the first use of this class.
  void globalThis.Headers
  if ('Bun' in globalThis) return fetchUncoded(input, init)
  return globalThis
    .fetch(input, global[CURRENT] === undefined ? init : Object.assign({}, init, { dispatcher }))
    .catch((error: unknown) => {
      throw explained(error, input)
    })
}

/** The error of a request over TLS to a port without it says which URL to use; others stay. */
function explained(error: unknown, input: Parameters<typeof fetch>[0]): unknown {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  const code = cause?.code
  if (code !== 'ERR_SSL_WRONG_VERSION_NUMBER') return error
  const target = nameOf(parseUrl(input instanceof Request ? input.url : input))
  const reason = `this port does not use TLS, so it probably serves plain HTTP (${code})`
  const hint = `Connect to ${target.replace('https:', 'http:')} instead, or correct the port.`
  return mcpError(CONNECT_FAILED, { target, reason }, { cause, data: { code }, hint })
}

/** Sends requests to the origin of a URL with options for TLS. The code for this is loaded with the first one. */
export const fetchOver: ((url: URL, tls: ClientTls) => typeof fetch) | undefined = (url, tls) => {
  const load = lazy(async () => (await import('./https-fetch.ts')).createHttpsFetch(url, tls))
  return async (...request) => (await load())(...request)
}

/** Bun decodes Brotli to the end even if the reply was cancelled, so a few kilobytes take gigabytes of memory. */
async function fetchUncoded(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const headers = new Headers(init?.headers)
  headers.set('accept-encoding', 'identity')
  const response = await globalThis.fetch(input, Object.assign({}, init, { headers, decompress: false }))
  const coding = response.headers.get('content-encoding') ?? 'identity'
  if (coding === '' || coding.toLowerCase() === 'identity') return response
  await response.body?.cancel()
  const text = 'the server sent a compressed reply, although the client asked it not to'
  throw new McpError('bad_answer', text)
}

const dispatcher: Dispatcher = {
  get isMockActive() {
    return current().isMockActive === true
  },
  dispatch(options, handler) {
    const { onHeaders } = handler
    if (onHeaders !== undefined)
      handler.onHeaders = (status, headers, ...rest) => {
        checkCodings(headers)
        return onHeaders.call(handler, status, headers, ...rest)
      }
    return current().dispatch(options, handler)
  },
}

function current(): Dispatcher {
  return global[CURRENT] as Dispatcher
}

/** Throws if a reply with these headers, names and values in turn, has too many codings. */
function checkCodings(headers: readonly Uint8Array[]): void {
  let codings = 0
  for (let at = 0; at < headers.length; at += 2)
    if (textOf(headers[at]).toLowerCase() === 'content-encoding')
      codings += textOf(headers[at + 1]).split(',').length
  if (codings <= 1) return
  const code = 'UND_ERR_HEADERS_OVERFLOW'
  throw Object.assign(new Error('the reply has more than one content coding'), { code })
}

function textOf(bytes: Uint8Array | undefined): string {
  return String(bytes)
}
