import { HEAP_FULL, TOO_MANY_CONNECTIONS } from '../../errors/limits.ts'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { readAddress } from '../../base/address.ts'
import { LONGEST_MS } from '../../base/duration.ts'
import { mcpError, type McpError } from '../../errors/error.ts'
import { LATER } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { Scopes } from '../../rpc/scopes.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import { Crowd } from '../io/crowd.ts'
import type { Framing } from '../lines/framing.ts'
import { checkUnsent } from '../io/budgets.ts'
import { guardHeap } from '../io/heap-guard.ts'
import { throttle } from '../../base/throttle.ts'
import { everyMs } from '../io/timer.ts'
import { linger } from './linger.ts'
import { Peer } from './peer.ts'
import { createRejectionReport, whyRejected } from '../tls/rejections.ts'
import type { ServerTls } from '../tls/reload.ts'

/** Where to listen: a port or a socket file. */
export interface Door {
  readonly tls: ServerTls | undefined
  readonly framing: Framing
  /** The scopes of everyone who can connect, where callers are not identified. */
  readonly scopes?: Scopes
  /** Starts listening; returns the URL for `connect`. */
  open(server: Server): Promise<string>
}

export interface TcpServer {
  readonly url: string
  /** Takes no new connections. */
  retire(): Promise<void>
  /** Answers running requests, then closes all connections. */
  close(): Promise<void>
}

/** After this much silence the system sends TCP keep-alive probes. */
const PROBE_MS = 15_000
const CHECK_MS = 1000
/** How many connections beyond the limit still get an error. */
const SPARE = 64
const CLOSE_MS = 1000

/** Listens on a port or socket file and serves each connection. */
export async function listenTcp(
  door: Door,
  { service, limits }: { readonly service: Service; readonly limits: Limits },
): Promise<TcpServer> {
  const { tls, framing, scopes } = door
  checkUnsent(service, limits)
  const peers = new Set<Peer>()
  /** All connections, and those that are served, by network. */
  const crowds = { all: new Crowd(), served: new Crowd() }
  const unguard = guardHeap(service, limits, () => crowds.all.shed())
  const sockets = new Set<Socket>()
  const reportRejected = createRejectionReport((...line) => service.report(...line))
  const server = createListener(tls, limits)
  server.on('connection', count)
  if (tls === undefined) server.on('connection', (socket: Socket) => serve(socket, undefined))
  else {
    server.on('secureConnection', (socket: TLSSocket) => admit(socket, tls))
    server.on('tlsClientError', onTlsError)
  }
  const url = await door.open(server)
  server.on(
    'error',
    throttle((error: Error, more) => service.report('error', 'the listener failed', { error, more })),
  )
  const timer = everyMs(checkMs(limits), () => {
    const now = performance.now()
    for (const peer of peers) peer.check(now)
  })
  return { url, retire, close }

  function count(socket: Socket): void {
    const places = service.load.isShort ? 0 : limits.connections
    const isFull = sockets.size >= places + (tls === undefined ? SPARE : 0)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // Before the TLS handshake, errors cannot be sent; during a flood, they are not sent either.
    if (crowds.all.admit(socket, isFull)) return
    service.observers.count('too_many_connections')
    socket.destroy()
  }

  /** Aborts a connection whose TLS handshake failed; Node leaves it open when the handshake times out. */
  function onTlsError(error: NodeJS.ErrnoException, socket: TLSSocket): void {
    if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') service.observers.count('slow_sender')
    reportRejected(whyRejected(error, socket))
    socket.destroy()
  }

  function admit(socket: TLSSocket, { callerOf }: ServerTls): void {
    const caller = callerOf(socket)
    const isRevoked =
      'auth' in caller && caller.auth !== undefined && service.leases.isRevoked(caller.auth, undefined)
    if ('auth' in caller && !isRevoked) return serve(socket, caller.auth)
    reportRejected('auth' in caller ? 'the owner of the certificate was revoked' : caller.problem)
    socket.destroy()
  }

  function serve(socket: Socket, auth: Auth | undefined): void {
    if (socket.destroyed) return
    const limit = limits.connections
    if (service.load.isShort) return reject(socket, mcpError(HEAP_FULL, {}, LATER))
    if (!crowds.served.admit(socket, peers.size >= limit))
      return reject(socket, mcpError(TOO_MANY_CONNECTIONS, { limit }, LATER))
    const source = { auth, scopes, ip: readAddress(socket.remoteAddress) }
    const peer = new Peer(socket, { service, limits, source, framing, onForeign: reportRejected })
    peers.add(peer)
    void peer.gone.then(() => peers.delete(peer))
  }

  function reject(socket: Socket, error: McpError): void {
    const send = (text: string): void => void socket.write(framing.encode(text), framing.encoding)
    socket.on('error', () => undefined)
    new Connection({ service, limits, source: {}, send }).reject(error)
    void linger(socket, CLOSE_MS)
  }

  async function retire(): Promise<void> {
    server.close()
  }

  async function close(): Promise<void> {
    clearInterval(timer)
    unguard()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await Promise.all([...peers].map((peer) => peer.close()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
}

function createListener(tls: ServerTls | undefined, { headersMs }: Limits): Server {
  const settings = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS }
  if (tls === undefined) return createServer(settings)
  const handshakeTimeout = Math.min(headersMs, LONGEST_MS)
  const server = createTlsServer({ ...settings, ...tls.settings, handshakeTimeout })
  tls.attach(server)
  return server
}

/** How often to check connections: often enough for the shortest timeout. */
function checkMs({ bodyMs, idleMs, sessionIdleMs }: Limits): number {
  return Math.min(CHECK_MS, Math.max(10, Math.min(bodyMs, idleMs, sessionIdleMs) / 4))
}
