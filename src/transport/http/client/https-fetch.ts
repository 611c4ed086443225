import type { LookupFunction, Socket } from 'node:net'
import { Agent, request as sendRequest, type AgentOptions, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import * as zlib from 'node:zlib'
import { McpError } from '../../../errors/error.ts'
import { openTls, type OpenSocket } from '../../tls/open.ts'
import type { ClientTls } from '../../tls/options.ts'
import { explain } from '../../tls/problems.ts'
import { fromRaw } from './raw-headers.ts'
import { parseUrl } from '../../../protocol/url.ts'

/** How long an unused connection is kept, as in Node's `fetch`. */
const KEPT_MS = 4000
/** Statuses whose replies have no body. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const DECODED = 'gzip, br'

/**
 * Creates a `fetch` for one server with options for TLS, which that of Node does not take. It sends a request only after the certificate of
 * the server was checked, over HTTP/1.1, and follows no redirects. With a function `lookup` in its options, which resolves the name, a request has
 * a connection of its own.
 */
export function createHttpsFetch({ origin }: URL, tls: ClientTls): typeof fetch {
  const open = createOpen(parseUrl(origin), tls)
  const kept = createAgent(open, { keepAlive: true, timeout: KEPT_MS })
  const single = createAgent(open, { keepAlive: false })
  return async (input, init: Init = {}) => {
    const given = input instanceof Request ? new Request(input, init) : init
    const url = parseUrl(input instanceof Request ? input.url : input)
    if (url.origin !== origin) throw new TypeError(`tls is for ${origin}, not for ${url.origin}`)
    const { signal } = given
    signal?.throwIfAborted()
    const { body, headers } = await toBody(given)
    const aborts = signal != null && { signal, unwanted: signal }
    const { lookup } = init
    const connection = lookup === undefined ? { agent: kept } : { agent: single, lookup }
    const options: Sent = { method: given.method ?? 'GET', headers, ...connection, ...aborts }
    return send(url, options, body)
  }
}

interface Init extends RequestInit {
  readonly lookup?: LookupFunction
}

/** The options of a request. */
interface Sent extends RequestOptions {
  /** The signal again, since Node does not pass it on to the function that opens the connection. */
  readonly unwanted?: AbortSignal
}

/** Reads the body and the headers of a request; those that the caller gives take precedence. */
async function toBody({ body, headers }: Pick<RequestInit, 'body' | 'headers'>): Promise<{
  readonly body: Uint8Array | undefined
  readonly headers: Record<string, string>
}> {
  const sent = new Response(body ?? null)
  const all = new Headers({ accept: '*/*', 'accept-encoding': DECODED, 'user-agent': 'node' })
  for (const [name, value] of [...sent.headers, ...new Headers(headers)]) all.set(name, value)
  return {
    body: body == null ? undefined : new Uint8Array(await sent.arrayBuffer()),
    headers: Object.fromEntries(all),
  }
}

function createOpen(url: URL, tls: ClientTls): OpenSocket {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port === '' ? 443 : url.port)
  const address = { host, port, noDelay: true, ALPNProtocols: ['http/1.1'] } as { host: string }
  return openTls(url, address, tls)
}

function createAgent(open: OpenSocket, options: AgentOptions): Agent {
  const connecting: { createConnection: (options: Sent, done: Done) => void } = {
    createConnection({ unwanted, lookup }, done) {
      open(unwanted, lookup).then((socket) => done(null, socket), done)
    },
  }
  return Object.assign(new Agent(options), connecting)
}

type Done = (error: Error | null, socket?: Socket) => void

function send(url: URL, options: Sent, body: Uint8Array | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(url, options)
    request.once('response', (reply) => {
      try {
        resolve(toResponse(reply))
      } catch (error) {
        reply.destroy()
        reject(toFailure(error as Error, url))
      }
    })
    // Nobody asked for another protocol.
    request.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      reject(toFailure(invalid(`the reply has the status ${statusCode}`), url))
    })
    request.on('error', (error) => reject(toFailure(error, url)))
    request.end(body)
  })
}

function toResponse(reply: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = reply
  if (status < 200 || status > 599) throw invalid(`the reply has the status ${status}`)
  const headers = fromRaw(rawHeaders)
  const isEmpty = NO_BODY.has(status)
  if (isEmpty) reply.resume()
  const body = isEmpty ? null : (Readable.toWeb(decoded(reply, headers)) as NodeStream<Uint8Array>)
  return new Response(body as ReadableStream<Uint8Array> | null, { status, statusText, headers })
}

/** The body without its content coding. More than one would let a few bytes keep the decoders busy for minutes. */
function decoded(reply: IncomingMessage, headers: Headers): Readable {
  const codings = (headers.get('content-encoding') ?? '').toLowerCase().split(',')
  if (codings.length > 1) throw invalid('the reply has more than one content coding')
  const decoder = DECODERS.get(codings.join().trim())?.()
  if (decoder === undefined) return reply
  pipeline(reply, decoder, () => undefined)
  return decoder
}

/** An error like that of the parser for a reply that is not valid HTTP. */
function invalid(text: string): Error {
  return Object.assign(new Error(text), { code: 'HPE_INVALID' })
}

/** Decoders that pass on what they have, since events must not wait for the end of a stream. */
const LENIENT = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
const BROTLI = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
}
const DECODERS: ReadonlyMap<string, () => zlib.Gunzip | zlib.BrotliDecompress> = new Map([
  ['gzip', () => zlib.createGunzip(LENIENT)],
  ['x-gzip', () => zlib.createGunzip(LENIENT)],
  ['deflate', () => zlib.createInflate(LENIENT)],
  ['br', () => zlib.createBrotliDecompress(BROTLI)],
])

/** An error in the form of `fetch`, with a remedy if TLS is the reason. */
function toFailure(error: NodeJS.ErrnoException, url: URL): Error {
  if (error instanceof McpError) return error
  const { code = '' } = error
  const isTls = code.startsWith('ERR_SSL_') || code === 'EPROTO'
  const message = isTls ? explain(error, url) : error.message
  return new TypeError('fetch failed', { cause: { code: isTls ? undefined : code, message } })
}
