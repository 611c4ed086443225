import { SLOW_SENDER } from '../../../errors/limits.ts'
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { mcpError, type McpError } from '../../../errors/error.ts'
import { BAD_OPTION } from '../../../errors/base.ts'
import {
  BAD_HTTP,
  FORBIDDEN_CERTIFICATE,
  HEAD_TOO_LARGE,
  TOO_MANY_HEADERS,
  UNKNOWN_PATH,
  UPGRADE_REQUIRED,
} from '../../../errors/http.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { replyText } from '../../../wire/reply.ts'
import { throttle } from '../../../base/throttle.ts'
import { Crowd } from '../../io/crowd.ts'
import { guardHeap } from '../../io/heap-guard.ts'
import { authorityOf, listening } from '../../io/listening.ts'
import type { UpgradeHandler, UpgradeSource } from '../../io/upgrade.ts'
import { createRejectionReport, reportBadCertificates } from '../../tls/rejections.ts'
import type { ServerTls } from '../../tls/reload.ts'
import type { Endpoint } from './endpoint.ts'
import { serveNode } from './node.ts'
import { acceptWaiting, answerAccepted, closeSent, dismiss, stopListening } from './closing.ts'
import { afterEarlier } from './after-earlier.ts'
import { ignoreUpgrade } from './ignore-upgrade.ts'
import { rejectUnread } from './node-reply.ts'
import { NodeHead, type NodeRequest } from './node-request.ts'
import { NO_HEADERS, type HttpOut } from './parts.ts'
import { enterPipeline } from './pipeline.ts'
import { replyOn, retireListener } from './retire.ts'

export interface HttpListenOptions {
  readonly port: number
  readonly host: string
  readonly path: string
  /** Whether the path is only for connections that are upgraded to another protocol. */
  readonly upgradesOnly?: boolean
  readonly secure?: ServerTls | undefined
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  /** The source of connections to be upgraded. */
  readonly upgrades: UpgradeSource
  /** Hands WebSocket connections at a path to a handler. */
  upgrade(path: string, handler: UpgradeHandler): void
  /**
   * Takes no new connections, and answers further requests as the last ones of their connections. Resolves when clients have left their idle
   * connections and all requests are answered, or when clients should have left them.
   */
  retire(): Promise<void>
  close(): Promise<void>
}

const TEXT = { 'content-type': 'text/plain' }
const CHECK_MS = 5000
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'
/** After this much silence the system sends TCP keep-alive probes. */
const PROBE_MS = 15_000
/** Close to the longest timeout that Node supports. */
const LARGEST = 2 ** 30

/** The error for a TLS handshake that timed out; Node leaves the connection open. */
const NO_HANDSHAKE = 'ERR_TLS_HANDSHAKE_TIMEOUT'
/** How many connections beyond the limit are accepted, so that upgrades get an error. */
const SPARE = 64

/** Opens our own listener: the endpoint at its path, and two health checks. */
export async function listenHttp(endpoint: Endpoint, options: HttpListenOptions): Promise<HttpServer> {
  const { host, path, upgradesOnly = false, secure } = options
  checkPath(path, endpoint.extraEndpoints)
  const serve = serveNode(endpoint, ({ paths }, target) => paths.has(pathOf({ url: target })))
  let ready = true
  const server = await createListener(endpoint.limits, secure, answer)
  server.on('clientError', (error, socket) => rejectSocket(error, socket as Socket, endpoint))
  const sockets = new Set<Socket>()
  let upgraded: UpgradeHandler | undefined
  /** All connections, including those that have not completed the TLS handshake. */
  const all = secure === undefined ? sockets : new Set<Socket>()
  const connections = admitConnections(server, endpoint, all)
  const reportRejected = createRejectionReport((...line) => endpoint.service.report(...line))
  if (secure !== undefined) {
    server.on('secureConnection', (socket: Socket) => keep(socket, sockets))
    reportBadCertificates(server, reportRejected)
  }
  await listening(server, { host, port: options.port }, `${host}:${options.port}`)
  server.on(
    'error',
    throttle((error: Error, more) =>
      endpoint.service.report('error', 'the listener failed', { error, more }),
    ),
  )
  return {
    url: `${secure === undefined ? 'http' : 'https'}://${authorityOf(host, server)}${path}`,
    port: (server.address() as AddressInfo).port,
    upgrades: upgradesOf(endpoint),
    upgrade,
    retire: () => retireListener(server, sockets, endpoint),
    close,
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (!enterPipeline(request, response, endpoint)) return
    if (!server.listening) {
      // Its client has got the last reply of the connection.
      if (request.socket.writableEnded) return void request.resume()
      response.shouldKeepAlive = false
    }
    const rejection = tooManyHeaders(endpoint, request) ?? identify(endpoint, secure, request, reportRejected)
    if (rejection !== undefined) return rejectUnread(request, response, rejection)
    const asked = request.url === path ? path : pathOf(request)
    const document =
      request.url === path ? undefined : endpoint.document(new NodeHead(request, endpoint.trusts))
    if (document !== undefined) return rejectUnread(request, response, document)
    if (asked === path && upgradesOnly)
      return rejectUnread(request, response, upgradeRequired(endpoint, request))
    // Unless unknown paths accept preflight requests, browsers hide the 404 from the page.
    if (asked === path || isPreflight(request) || isExtra(endpoint, asked)) return serve(request, response)
    const health = healthCheck(asked, ready, endpoint.loopMonitor.well)
    rejectUnread(request, response, health ?? failure(endpoint, request, unknownPath(asked, path)))
  }

  function upgrade(at: string, handler: UpgradeHandler): void {
    upgraded = handler
    endpoint.authentication?.addPath?.(at, new Set([at]))
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      afterEarlier(socket, endpoint.limits.bodyMs, () => {
        if (request.headers.upgrade?.toLowerCase() !== 'websocket')
          return ignoreUpgrade(server, request, socket, head)
        const rejection =
          tooManyHeaders(endpoint, request) ?? identify(endpoint, secure, request, reportRejected)
        if (rejection !== undefined) replyRaw(socket, rejection)
        else if (pathOf(request) === at) accept(endpoint, { request, socket, head }, handler)
        else replyRaw(socket, failure(endpoint, request, unknownPath(pathOf(request), at)))
      }),
    )
  }

  async function close(): Promise<void> {
    ready = false
    await Promise.all([endpoint.close(), endpoint.acceptQueue.emptied(), upgraded?.close()])
    await acceptWaiting(() => connections.accepted)
    const closed = stopListening(server)
    await answerAccepted(sockets)
    if (endpoint.isShared) await dismiss(sockets, rawReply(endpoint.lastReply(NO_HEADERS)))
    await closeSent(sockets)
    for (const socket of all) socket.destroy()
    connections.unguard()
    await closed
  }
}

/** Counts connections as they are accepted, and aborts those beyond the limit. */
function admitConnections(
  server: Server,
  { service, limits }: Endpoint,
  all: Set<Socket>,
): { readonly accepted: number; unguard(): void } {
  const crowd = new Crowd()
  const counted = { accepted: 0, unguard: guardHeap(service, limits, () => crowd.shed()) }
  server.on('connection', (socket) => {
    counted.accepted++
    // A connection comes again after an upgrade that was not accepted.
    if (all.has(socket)) return
    // While the heap is nearly full, few are accepted, so that they get an error.
    const isFull = all.size >= (service.load.isShort ? 0 : limits.connections) + SPARE
    keep(socket, all)
    if (crowd.admit(socket, isFull)) return
    service.observers.count('too_many_connections')
    socket.destroy()
  })
  return counted
}

function tooManyHeaders(endpoint: Endpoint, request: IncomingMessage): HttpOut | undefined {
  const limit = endpoint.limits.headers
  if (request.rawHeaders.length <= 2 * limit) return undefined
  return failure(endpoint, request, mcpError(TOO_MANY_HEADERS, { limit }))
}

/** Identifies the caller by certificate, if client certificates are required. */
function identify(
  endpoint: Endpoint,
  secure: ServerTls | undefined,
  request: NodeRequest,
  report: (why: string) => void,
): HttpOut | undefined {
  if (secure?.asksClients !== true) return undefined
  const caller = secure.callerOf(request.socket as TLSSocket)
  const reject = (reason: string): HttpOut => {
    report(reason)
    return failure(endpoint, request, mcpError(FORBIDDEN_CERTIFICATE, { reason }))
  }
  if ('problem' in caller) return reject(caller.problem)
  const { auth } = caller
  if (auth !== undefined && endpoint.service.leases.isRevoked(auth, undefined))
    return reject('its owner was revoked')
  request.auth = request.certified = auth
  return undefined
}

function isExtra({ extraEndpoints }: Endpoint, path: string): boolean {
  return extraEndpoints.some(({ paths }) => paths.has(path))
}

function checkPath(path: string, extraEndpoints: Endpoint['extraEndpoints']): void {
  const where = 'listen http path'
  if (!path.startsWith('/')) throw mcpError(BAD_OPTION, { where, reason: 'it must begin with /' })
  const option = extraEndpoints.find(({ paths }) => paths.has(path))?.option
  if (option === undefined) return
  const reason = `${path} belongs to the option ${option}; choose another path, or remove ${option}`
  throw mcpError(BAD_OPTION, { where, reason })
}

async function createListener(
  limits: Limits,
  secure: ServerTls | undefined,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const settings = settingsOf(limits)
  const server = secure === undefined ? createServer(settings, answer) : await createHttps(secure)
  // Node would silently discard headers beyond its own limit.
  server.maxHeadersCount = 0
  return server

  async function createHttps(tls: ServerTls): Promise<Server> {
    const https = await import('node:https')
    const handshakeTimeout = Math.min(limits.headersMs, LARGEST)
    const server = https.createServer({ ...settings, ...tls.settings, handshakeTimeout }, answer)
    tls.attach(server)
    return server as unknown as Server
  }
}

function keep(socket: Socket, sockets: Set<Socket>): void {
  if (sockets.has(socket)) return
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function healthCheck(
  asked: string | undefined,
  ready: boolean,
  well: boolean,
): { status: number; headers: typeof TEXT; body: string } | undefined {
  if (asked !== '/healthz' && asked !== '/readyz') return undefined
  if (!well) return { status: 503, headers: TEXT, body: 'the event loop was blocked\n' }
  if (asked === '/healthz') return { status: 200, headers: TEXT, body: 'ok\n' }
  return ready
    ? { status: 200, headers: TEXT, body: 'ready\n' }
    : { status: 503, headers: TEXT, body: 'closing\n' }
}

function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return url.split('?', 1)[0] as string
}

/** The error for a wrong path. It names the right one, unless that may be a secret. */
function unknownPath(asked: string, path: string): McpError {
  const isPlain = /^(?:\/[a-z._-]{1,20})+$/i.test(path)
  const served = isPlain ? `; MCP is served at ${path}` : ''
  return mcpError(UNKNOWN_PATH, { path: asked.slice(0, 128), served })
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function upgradeRequired(endpoint: Endpoint, request: IncomingMessage): HttpOut {
  const out = failure(endpoint, request, mcpError(UPGRADE_REQUIRED, {}))
  return { ...out, headers: { ...out.headers, upgrade: 'websocket' } }
}

/** An error reply that the web page of the request may read, if it is allowed to. */
function failure(endpoint: Endpoint, request: IncomingMessage, thrown: unknown): HttpOut {
  return endpoint.rejectUnread(new NodeHead(request, endpoint.trusts), thrown)
}

/** Size and time limits for request heads; 0 means no time limit to Node. */
function settingsOf(limits: Limits): ServerOptions {
  const whole = (ms: number): number => (Number.isFinite(ms) ? Math.ceil(Math.min(ms, LARGEST)) : 0)
  return {
    // Node rejects a head of exactly this size.
    maxHeaderSize: Math.min(limits.headBytes, LARGEST) + 1,
    headersTimeout: whole(limits.headersMs),
    requestTimeout: whole(limits.bodyMs + limits.headersMs),
    keepAliveTimeout: whole(limits.idleMs),
    connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
  }
}

/** Replies to a malformed request, unless a reply has already started, and closes the connection. */
function rejectSocket(error: NodeJS.ErrnoException, socket: Socket, endpoint: Endpoint): void {
  const begun = replyOn(socket)
  // A client may open a connection ahead of time; it would take a reply for the response to its first request.
  const isUnused = error.code === REQUEST_TIMEOUT && socket.bytesRead === 0
  const isMute = error.code === 'ECONNRESET' || error.code === NO_HANDSHAKE || isUnused
  if (error.code === NO_HANDSHAKE || isUnused) endpoint.service.observers.count('slow_sender')
  if (!socket.writable || isMute || begun?.headersSent === true) return void socket.destroy()
  replyRaw(socket, endpoint.fail(undefined, toProblem(error, endpoint.limits), undefined, NO_HEADERS))
}

interface Upgrade {
  readonly request: NodeRequest
  readonly socket: Duplex
  readonly head: Buffer
}

/** Passes a connection to its handler once the caller is authenticated. */
function accept(endpoint: Endpoint, { request, socket, head }: Upgrade, handler: UpgradeHandler): void {
  if (endpoint.authenticate === undefined) return handler.accept(request, socket, head)
  const asked = new NodeHead(request, endpoint.trusts)
  try {
    endpoint.guard.check(asked)
  } catch (thrown) {
    return replyRaw(socket, endpoint.rejectUnread(asked, thrown))
  }
  const onError = (): void => void socket.destroy()
  socket.on('error', onError)
  void Promise.resolve(endpoint.authenticate(asked)).then((caller) => {
    socket.off('error', onError)
    if ('reply' in caller) return replyRaw(socket, caller.reply)
    request.auth = caller.auth
    handler.accept(request, socket, head)
  })
}

function upgradesOf(endpoint: Endpoint): UpgradeSource {
  const { service, limits, guard, trusts } = endpoint
  return {
    service,
    limits,
    check: (request) => void guard.check(new NodeHead(request, trusts)),
    ipOf: (request) => new NodeHead(request, trusts).ip,
    reject(request, socket, thrown, more) {
      const reply = failure(endpoint, request, thrown)
      replyRaw(socket, { ...reply, headers: { ...reply.headers, ...more } })
    },
  }
}

/** Replies on a connection that Node no longer manages, and closes it. */
function replyRaw(socket: Duplex, reply: HttpOut): void {
  socket.on('error', () => undefined)
  socket.end(rawReply(reply), () => socket.destroy())
}

/** The last reply of a connection as it is sent. */
function rawReply({ status, headers, body = '' }: HttpOut): string {
  const text = replyText(body)
  const all = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`
}

function toProblem({ code }: NodeJS.ErrnoException, { headBytes }: Limits): Error {
  if (code === 'HPE_HEADER_OVERFLOW') return mcpError(HEAD_TOO_LARGE, { limit: headBytes })
  return code === REQUEST_TIMEOUT ? mcpError(SLOW_SENDER, {}) : mcpError(BAD_HTTP, {})
}
