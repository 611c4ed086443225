import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { LONGEST_MS } from '../../base/duration.ts'
import { mcpError } from '../../errors/error.ts'
import { TOO_MANY_CONNECTIONS } from '../../errors/transport.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import type { Framing } from '../lines/framing.ts'
import { budgetsOf } from '../io/budgets.ts'
import { throttle } from '../../base/throttle.ts'
import { everyMs } from '../io/timer.ts'
import { linger } from './linger.ts'
import { Peer } from './peer.ts'
import type { ServerTls } from '../tls/server.ts'

/** Something that clients come in by. */
export interface Door {
  readonly tls: ServerTls | undefined
  readonly framing: Framing
  /** Begins to listen; gives back where, in the form that `connect` takes. */
  open(server: Server): Promise<string>
}

export interface TcpServer {
  readonly url: string
  /** Answers what is running, then ends all connections. */
  close(): Promise<void>
}

/** After this time of silence the system asks whether the other machine is still there. */
const PROBE_MS = 15_000
const LOOK_MS = 1000
/** So many connections beyond the limit are told so. */
const SPARE = 64
const LEAVE_MS = 1000

/** Serves everybody who comes in by a door, each on a connection of its own. */
export async function listenTcp(
  door: Door,
  { service, limits }: { readonly service: Service; readonly limits: Limits },
): Promise<TcpServer> {
  const { tls, framing } = door
  const { write } = budgetsOf(service, limits)
  service.load.check = () => write.check()
  const peers = new Set<Peer>()
  const sockets = new Set<Socket>()
  const refused = throttle((why: string, more) =>
    service.report('warning', 'a connection was refused', { why, more }),
  )
  const settings = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS }
  const server =
    tls === undefined
      ? createServer(settings)
      : createTlsServer({
          ...settings,
          ...tls.settings,
          handshakeTimeout: Math.min(limits.headersMs, LONGEST_MS),
        })
  server.on('connection', count)
  if (tls === undefined) server.on('connection', (socket: Socket) => serve(socket, undefined))
  else {
    server.on('secureConnection', (socket: TLSSocket) => admit(socket, tls))
    server.on('tlsClientError', giveUp)
  }
  const url = await door.open(server)
  server.on(
    'error',
    throttle((error: Error, more) => service.report('error', 'the listener failed', { error, more })),
  )
  const timer = everyMs(lookMs(limits), () => {
    const now = performance.now()
    for (const peer of peers) peer.check(now)
  })
  return { url, close }

  function count(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const room = limits.connections + (tls === undefined ? SPARE : 0)
    // Whoever has not shown yet that they speak TLS can only be dropped, and so are those in a flood.
    if (sockets.size <= room) return
    service.observers.count('too_many_connections')
    socket.destroy()
  }

  /** Ends a connection whose client did not agree on TLS; Node leaves it open when that takes too long. */
  function giveUp({ code, message }: NodeJS.ErrnoException, socket: TLSSocket): void {
    if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') service.observers.count('slow_sender')
    refused(message)
    socket.destroy()
  }

  function admit(socket: TLSSocket, { callerOf }: ServerTls): void {
    const caller = callerOf(socket)
    if ('auth' in caller) return serve(socket, caller.auth)
    refused(caller.problem)
    socket.destroy()
  }

  function serve(socket: Socket, auth: Auth | undefined): void {
    if (socket.destroyed) return
    if (peers.size >= limits.connections) return turnAway(socket)
    const peer = new Peer(socket, { service, limits, auth, framing })
    peers.add(peer)
    void peer.gone.then(() => peers.delete(peer))
  }

  function turnAway(socket: Socket): void {
    const limit = limits.connections
    const send = (text: string): void => void socket.write(framing.encode(text), framing.encoding)
    socket.on('error', () => undefined)
    new Connection({ service, limits, source: {}, send }).refuse(
      mcpError(TOO_MANY_CONNECTIONS, { limit }, { retryAfterMs: 5000 }),
    )
    void linger(socket, LEAVE_MS)
  }

  async function close(): Promise<void> {
    clearInterval(timer)
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await Promise.all([...peers].map((peer) => peer.leave()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
}

/** How often to look after the connections: often enough for the shortest time that they are given. */
function lookMs({ bodyMs, idleMs, sessionIdleMs }: Limits): number {
  return Math.min(LOOK_MS, Math.max(10, Math.min(bodyMs, idleMs, sessionIdleMs) / 4))
}
