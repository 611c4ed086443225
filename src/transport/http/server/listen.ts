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
import { mcpError } from '../../../errors/error.ts'
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
import type { Auth } from '../../../rpc/call.ts'
import { replyText } from '../../../wire/reply.ts'
import { throttle } from '../../../base/throttle.ts'
import { authorityOf, listening } from '../../io/listening.ts'
import type { UpgradeHandler, UpgradeSource } from '../../io/upgrade.ts'
import type { ServerTls } from '../../tls/server.ts'
import type { Endpoint } from './endpoint.ts'
import { NodeHead, rejectUnread, serveNode } from './node.ts'
import { NO_HEADERS, type HttpOut } from './parts.ts'

export interface HttpListenOptions {
  readonly port: number
  readonly host: string
  readonly path: string
  /** Whether the path is only for connections that ask for something else than HTTP. */
  readonly upgradesOnly?: boolean
  readonly secure?: ServerTls | undefined
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  /** Where connections to be upgraded come from. */
  readonly upgrades: UpgradeSource
  /** Hands WebSocket connections at a path to a handler. */
  upgrade(path: string, handler: UpgradeHandler): void
  close(): Promise<void>
}

const TEXT = { 'content-type': 'text/plain' }
const CHECK_MS = 5000
/** After this time of silence the system asks whether the other machine is still there. */
const PROBE_MS = 15_000
/** Timers of Node take little more. */
const LARGEST = 2 ** 30
const QUIET_TURNS = 5
const MAX_TURNS = 1000
/** How long replies have to leave once everything has been answered. */
const LEAVE_MS = 2000

/** The error of a client that does not agree on TLS in time; Node leaves its connection open. */
const NO_HANDSHAKE = 'ERR_TLS_HANDSHAKE_TIMEOUT'
/** So many connections beyond the limit are let in, to be told so where they ask for more than HTTP. */
const SPARE = 64

/** Opens a listener of our own: the endpoint at its path, and two paths that tell whether the server is well. */
export async function listenHttp(endpoint: Endpoint, options: HttpListenOptions): Promise<HttpServer> {
  const { host, path, upgradesOnly = false, secure } = options
  const { extraEndpoints } = endpoint
  checkPath(path, extraEndpoints)
  const serve = serveNode(endpoint)
  let ready = true
  const server = await createListener(endpoint.limits, secure, answer)
  server.on('clientError', (error, socket) => refuseSocket(error, socket as Socket, endpoint))
  const sockets = new Set<Socket>()
  let came = 0
  let upgraded: UpgradeHandler | undefined
  /** With those below TLS, of which some never get to speak it. */
  const all = secure === undefined ? sockets : new Set<Socket>()
  server.on('connection', (socket) => {
    came++
    keep(socket, all)
    if (all.size <= endpoint.limits.connections + SPARE) return
    endpoint.service.observers.count('too_many_connections')
    socket.destroy()
  })
  if (secure !== undefined) server.on('secureConnection', (socket: Socket) => keep(socket, sockets))
  await listening(server, { host, port: options.port }, `${host}:${options.port}`)
  server.on(
    'error',
    throttle((error: Error, more) =>
      endpoint.service.report('error', 'the listener failed', { error, more }),
    ),
  )
  const { port } = server.address() as AddressInfo
  return {
    url: `${secure === undefined ? 'http' : 'https'}://${authorityOf(host, server)}${path}`,
    port,
    upgrades: upgradesOf(endpoint),
    upgrade,
    close,
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const refused = tooManyHeaders(request) ?? identify(request)
    if (refused !== undefined) return rejectUnread(request, response, refused)
    const asked = request.url === path ? path : pathOf(request)
    if (asked === path && upgradesOnly) return rejectUnread(request, response, upgradeRequired(endpoint))
    if (asked === path || extraEndpoints.some(({ paths }) => paths.has(asked)))
      return serve(request, response)
    const gone = failure(endpoint, mcpError(UNKNOWN_PATH, {}))
    rejectUnread(request, response, wellness(asked, ready, endpoint.loopMonitor.well) ?? gone)
  }

  function upgrade(at: string, handler: UpgradeHandler): void {
    upgraded = handler
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') return stay(server, request, socket, head)
      const refused = tooManyHeaders(request) ?? identify(request)
      if (refused !== undefined) replyRaw(socket, refused)
      else if (pathOf(request) === at) accept(endpoint, { request, socket, head }, handler)
      else replyRaw(socket, failure(endpoint, mcpError(UNKNOWN_PATH, {})))
    })
  }

  function tooManyHeaders({ rawHeaders }: IncomingMessage): HttpOut | undefined {
    const limit = endpoint.limits.headers
    if (rawHeaders.length <= 2 * limit) return undefined
    return failure(endpoint, mcpError(TOO_MANY_HEADERS, { limit }))
  }

  /** Finds out by its certificate who calls, where certificates are asked for. */
  function identify(request: IncomingMessage & { auth?: Auth | undefined }): HttpOut | undefined {
    if (secure?.asksClients !== true) return undefined
    const caller = secure.callerOf(request.socket as TLSSocket)
    if ('problem' in caller)
      return failure(endpoint, mcpError(FORBIDDEN_CERTIFICATE, { reason: caller.problem }))
    request.auth = caller.auth
    return undefined
  }

  async function close(): Promise<void> {
    ready = false
    await Promise.all([endpoint.close(), endpoint.acceptQueue.emptied(), upgraded?.close()])
    await letIn(() => came)
    await left(sockets)
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of all) socket.destroy()
    await closed
  }
}

function checkPath(path: string, beside: Endpoint['extraEndpoints']): void {
  const where = 'listen http path'
  if (!path.startsWith('/')) throw mcpError(BAD_OPTION, { where, reason: 'it must begin with /' })
  const option = beside.find(({ paths }) => paths.has(path))?.option
  if (option === undefined) return
  const reason = `${path} belongs to the option ${option}; choose another path, or leave out ${option}`
  throw mcpError(BAD_OPTION, { where, reason })
}

async function createListener(
  limits: Limits,
  secure: ServerTls | undefined,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const settings = settingsOf(limits)
  const server = secure === undefined ? createServer(settings, answer) : await createHttps(secure)
  // Node would silently drop headers beyond its own limit.
  server.maxHeadersCount = 0
  return server

  async function createHttps(tls: ServerTls): Promise<Server> {
    const https = await import('node:https')
    const handshakeTimeout = Math.min(limits.headersMs, LARGEST)
    return https.createServer({ ...settings, ...tls.settings, handshakeTimeout }, answer) as unknown as Server
  }
}

function keep(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function wellness(
  asked: string | undefined,
  ready: boolean,
  well: boolean,
): { status: number; headers: typeof TEXT; body: string } | undefined {
  if (asked !== '/healthz' && asked !== '/readyz') return undefined
  if (!well) return { status: 503, headers: TEXT, body: 'the event loop stood still\n' }
  if (asked === '/healthz') return { status: 200, headers: TEXT, body: 'ok\n' }
  return ready
    ? { status: 200, headers: TEXT, body: 'ready\n' }
    : { status: 503, headers: TEXT, body: 'closing\n' }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string
}

function upgradeRequired(endpoint: Endpoint): HttpOut {
  return endpoint.fail(undefined, mcpError(UPGRADE_REQUIRED, {}), undefined, { upgrade: 'websocket' })
}

function failure(endpoint: Endpoint, error: Error): HttpOut {
  return endpoint.fail(undefined, error, undefined, NO_HEADERS)
}

/** How much clients may send before there is a request, and how long they may take; 0 is no time limit to Node. */
function settingsOf(limits: Limits): ServerOptions {
  const whole = (ms: number): number => (Number.isFinite(ms) ? Math.ceil(Math.min(ms, LARGEST)) : 0)
  return {
    // Node refuses a head of this size already.
    maxHeaderSize: Math.min(limits.headBytes, LARGEST) + 1,
    headersTimeout: whole(limits.headersMs),
    requestTimeout: whole(limits.bodyMs + limits.headersMs),
    keepAliveTimeout: whole(limits.idleMs),
    connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
  }
}

/** Replies to what never became a request, unless a reply is on its way already, and closes the connection. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, endpoint: Endpoint): void {
  // The reply that has begun is known to Node alone.
  const { _httpMessage: begun } = socket as { _httpMessage?: { readonly headersSent: boolean } | null }
  const isMute = error.code === 'ECONNRESET' || error.code === NO_HANDSHAKE
  if (error.code === NO_HANDSHAKE) endpoint.service.observers.count('slow_sender')
  if (!socket.writable || isMute || begun?.headersSent === true) return void socket.destroy()
  replyRaw(socket, failure(endpoint, toProblem(error, endpoint.limits)))
}

/** Goes on in HTTP/1.1 with a client that would rather have had something else, such as HTTP/2, as the client expects. */
function stay(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  rest: Buffer,
): void {
  let head = `${method} ${url} HTTP/1.1\r\n`
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(?:connection|upgrade|http2-settings)$/i.test(rawHeaders[at] as string))
      head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  socket.unshift(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), rest]))
  // A connection with TLS has agreed on it already.
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}

interface Upgrade {
  readonly request: IncomingMessage & { auth?: Auth | undefined }
  readonly socket: Duplex
  readonly head: Buffer
}

/** Hands a connection to its handler, once it is known who calls. */
function accept(endpoint: Endpoint, { request, socket, head }: Upgrade, handler: UpgradeHandler): void {
  if (endpoint.authenticate === undefined) return handler.accept(request, socket, head)
  const onError = (): void => void socket.destroy()
  socket.on('error', onError)
  void Promise.resolve(endpoint.authenticate(new NodeHead(request))).then((caller) => {
    socket.off('error', onError)
    if ('reply' in caller) return replyRaw(socket, caller.reply)
    request.auth = caller.auth
    handler.accept(request, socket, head)
  })
}

function upgradesOf(endpoint: Endpoint): UpgradeSource {
  const { service, limits, guard } = endpoint
  return {
    service,
    limits,
    check: (request) => void guard.check(new NodeHead(request)),
    reject(request, socket, thrown, more) {
      const reply = endpoint.rejectUnread(new NodeHead(request), thrown)
      replyRaw(socket, { ...reply, headers: { ...reply.headers, ...more } })
    },
  }
}

/** Replies on a connection that Node has let go of, and closes it. */
function replyRaw(socket: Duplex, { status, headers, body = '' }: HttpOut): void {
  const text = replyText(body)
  const all = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`
  socket.on('error', () => undefined)
  socket.end(`${head}\r\n${text}`, () => socket.destroy())
}

function toProblem({ code }: NodeJS.ErrnoException, { headBytes }: Limits): Error {
  if (code === 'HPE_HEADER_OVERFLOW') return mcpError(HEAD_TOO_LARGE, { limit: headBytes })
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? mcpError(SLOW_SENDER, {}) : mcpError(BAD_HTTP, {})
}

/** Lets in whoever was at the door already, so that they hear that we close: Node lets in one each turn of the loop. */
async function letIn(came: () => number): Promise<void> {
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MAX_TURNS; turns++) {
    const before = came()
    await new Promise((resolve) => setImmediate(resolve))
    quiet = came() === before ? quiet + 1 : 0
  }
}

/** Closes connections once what was written to them has left. Node itself would cut them off in the middle. */
function left(sockets: ReadonlySet<Socket>): Promise<unknown> {
  const all = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  for (const socket of sockets) socket.destroySoon()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, LEAVE_MS)))
  return Promise.race([Promise.all(all), late]).finally(() => clearTimeout(timer))
}
