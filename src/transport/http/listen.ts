import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { mcpError } from '../../protocol/errors.ts'
import type { Endpoint } from './answer.ts'
import { serveNode, turnAway } from './node.ts'
import { NO_HEADERS } from './parts.ts'

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
/** How long replies have to leave once everything has been answered. */
const LEAVE_MS = 2000

/** Opens a listener of our own: the endpoint at its path, and two paths that tell whether the server is well. */
export async function listenHttp(endpoint: Endpoint, options: HttpListenOptions): Promise<HttpServer> {
  const { host, path } = options
  if (!path.startsWith('/'))
    throw mcpError('bad_option', { where: 'listen http path', reason: 'it must begin with /' })
  const serve = serveNode(endpoint)
  let ready = true
  const server = createServer(timesOf(endpoint), answer)
  server.keepAliveTimeout = 75_000
  // The size of the head bounds their number; Node would drop those beyond 2,000 without a word.
  server.maxHeadersCount = 0
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await listening(server, options)
  server.on('error', (error) => endpoint.report('the listener failed', error))
  const { port } = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`, port, close }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const asked = (request.url ?? '').split('?', 1)[0]
    if (asked === path) return serve(request, response)
    const gone = endpoint.fail(undefined, mcpError('unknown_path', {}), undefined, NO_HEADERS)
    turnAway(request, response, wellness(asked, ready) ?? gone)
  }

  async function close(): Promise<void> {
    ready = false
    await endpoint.close()
    await left(sockets)
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
}

function wellness(
  asked: string | undefined,
  ready: boolean,
): { status: number; headers: typeof TEXT; body: string } | undefined {
  if (asked === '/healthz') return { status: 200, headers: TEXT, body: 'ok\n' }
  if (asked !== '/readyz') return undefined
  return ready
    ? { status: 200, headers: TEXT, body: 'ready\n' }
    : { status: 503, headers: TEXT, body: 'closing\n' }
}

/** How long clients may take to send; 0 is no limit to Node. */
function timesOf({ limits }: Endpoint): {
  headersTimeout: number
  requestTimeout: number
  connectionsCheckingInterval: number
} {
  const whole = (ms: number): number => (Number.isFinite(ms) ? Math.ceil(ms) : 0)
  return {
    headersTimeout: whole(limits.headersMs),
    requestTimeout: whole(limits.bodyMs + limits.headersMs),
    connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
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
