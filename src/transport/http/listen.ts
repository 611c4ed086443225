import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { mcpError } from '../../protocol/errors.ts'
import { httpError } from '../../protocol/http-errors.ts'
import type { Limits } from '../../protocol/limits.ts'
import { replyText } from '../../wire/reply.ts'
import { seldom } from '../seldom.ts'
import type { Endpoint } from './answer.ts'
import { Intake } from './intake.ts'
import { serveNode, turnAway } from './node.ts'
import { NO_HEADERS, type HttpOut } from './parts.ts'
import { Pulse } from './pulse.ts'

export interface HttpListenOptions {
  readonly port: number
  readonly host: string
  readonly path: string
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

const TEXT = { 'content-type': 'text/plain' }
const CHECK_MS = 5000
/** After this time of silence the system asks whether the other machine is still there. */
const PROBE_MS = 15_000
const LARGEST = 2 ** 30
const QUIET_TURNS = 5
const MAX_TURNS = 1000
/** How long replies have to leave once everything has been answered. */
const LEAVE_MS = 2000

/** Opens a listener of our own: the endpoint at its path, and two paths that tell whether the server is well. */
export async function listenHttp(endpoint: Endpoint, options: HttpListenOptions): Promise<HttpServer> {
  const { host, path } = options
  if (!path.startsWith('/'))
    throw mcpError('bad_option', { where: 'listen http path', reason: 'it must begin with /' })
  const pulse = new Pulse(endpoint)
  const intake = new Intake({ pulse, maxMs: endpoint.limits.waitMs })
  const serve = serveNode(endpoint, intake)
  let ready = true
  const server = createServer(settingsOf(endpoint.limits), answer)
  // Node would drop those beyond its limit without a word.
  server.maxHeadersCount = 0
  server.on('clientError', (error, socket) => refuseSocket(error, socket as Socket, endpoint))
  const sockets = new Set<Socket>()
  let came = 0
  server.on('connection', (socket) => {
    came++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await listening(server, options)
  server.on(
    'error',
    seldom((error: Error, more) => endpoint.service.report('error', 'the listener failed', { error, more })),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`, port, close }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const limit = endpoint.limits.headers
    if (request.rawHeaders.length > 2 * limit)
      return turnAway(request, response, failure(endpoint, httpError('too_many_headers', { limit })))
    const { url = '' } = request
    if (url === path) return serve(request, response)
    const asked = url.split('?', 1)[0]
    if (asked === path) return serve(request, response)
    const gone = failure(endpoint, httpError('unknown_path', {}))
    turnAway(request, response, wellness(asked, ready, pulse.well) ?? gone)
  }

  async function close(): Promise<void> {
    ready = false
    await Promise.all([endpoint.close(), intake.emptied()])
    await letIn(() => came)
    await left(sockets)
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
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

function failure(endpoint: Endpoint, error: Error): HttpOut {
  return endpoint.fail(undefined, error, undefined, NO_HEADERS)
}

/** How much clients may send before there is a request, and how long they may take; 0 is no time limit to Node. */
function settingsOf(limits: Limits): ServerOptions {
  const whole = (ms: number): number => (Number.isFinite(ms) ? Math.ceil(ms) : 0)
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
  if (!socket.writable || error.code === 'ECONNRESET' || begun?.headersSent === true)
    return void socket.destroy()
  const { status, body = '' } = failure(endpoint, toProblem(error, endpoint.limits))
  const text = replyText(body)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json`
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`, () => socket.destroy())
}

function toProblem({ code }: NodeJS.ErrnoException, { headBytes }: Limits): Error {
  if (code === 'HPE_HEADER_OVERFLOW') return httpError('head_too_large', { limit: headBytes })
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? httpError('slow_sender', {}) : httpError('bad_http', {})
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

function listening(server: Server, { port, host }: HttpListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(explained(error, port, host))
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

function explained(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const reason =
    error.code === 'EADDRINUSE' ? `port ${port} is in use; choose another, or 0 for any` : error.message
  return mcpError('bad_option', { where: `listen on ${host}:${port}`, reason }, { cause: error })
}
