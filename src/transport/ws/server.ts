import { TOO_MANY_CONNECTIONS } from '../../errors/limits.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type ServerOptions } from 'ws'
import { mcpError } from '../../errors/error.ts'
import { BAD_UPGRADE } from '../../errors/http.ts'
import { SHUTTING_DOWN } from '../../errors/rpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { UpgradeHandler, UpgradeSource } from '../io/upgrade.ts'
import { everyMs } from '../io/timer.ts'
import { Peer } from './peer.ts'
import { chooseProtocol, PROTOCOLS } from './protocols.ts'
import { ServerSocket } from './server-socket.ts'
import type { Opening } from './session.ts'
import { WsSessions } from './sessions.ts'

/** The most fragments of one message: each costs memory, however few bytes it brings. */
const FRAGMENTS = 16_384
/** How long a client has to agree to the end of a connection. */
const FAREWELL_MS = 2000
const LATER = { retryAfterMs: 5000 }
const LARGEST = 2 ** 31 - 1

type Request = IncomingMessage & { readonly auth?: Auth }

/** The options of the library, with those that its types do not name yet. */
interface Settings extends ServerOptions<typeof ServerSocket> {
  readonly maxFragments: number
  readonly closeTimeout: number
}

export interface WsServer extends UpgradeHandler {
  /** The sessions of clients that can come back. */
  readonly sessions: WsSessions
}

/** Serves clients over WebSocket. The connections come from an HTTP listener, which decides who may connect. */
export function serveWs(source: UpgradeSource): WsServer {
  const { limits, service } = source
  const peers = new Set<Peer>()
  const sessions = new WsSessions(service, limits)
  /** The session of the connection that is being accepted. */
  let opening: Opening | undefined
  let closing: Promise<unknown> | undefined
  const settings: Settings = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: Math.min(limits.wsBytes, LARGEST),
    maxFragments: FRAGMENTS,
    closeTimeout: FAREWELL_MS,
    handleProtocols: (offered) => chooseProtocol(offered) ?? false,
    WebSocket: ServerSocket,
  }
  const server = new WebSocketServer(settings)
  server.on('wsClientError', ({ message }, socket, request) => {
    const error = mcpError(BAD_UPGRADE, { reason: message })
    source.reject(request, socket, error, { 'sec-websocket-version': '13' })
  })
  server.on('headers', (headers, request: Request) => {
    opening = sessions.open(request.headers, request.auth)
    if (opening === undefined) return
    const { id, received } = opening.session
    headers.push(`Mcp-Session-Id: ${id}`, `Last-Event-ID: ${received}`)
  })
  const watch = everyMs(beatOf(limits), () => {
    const now = performance.now()
    for (const peer of peers) peer.check(now)
    sessions.sweep()
  })
  return { accept, close, sessions }

  function accept(request: Request, stream: Duplex, head: Buffer): void {
    try {
      source.check(request)
      if (closing !== undefined) throw mcpError(SHUTTING_DOWN, {}, LATER)
      checkProtocols(request.headers['sec-websocket-protocol'])
      const limit = limits.connections
      // Who comes back takes the place of the connection that was lost, though that may not have been noticed yet.
      if (peers.size >= limit && !sessions.makeRoom(request.headers, request.auth))
        throw mcpError(TOO_MANY_CONNECTIONS, { limit }, LATER)
    } catch (thrown) {
      return source.reject(request, stream, thrown)
    }
    server.handleUpgrade(request, stream, head, (socket) => {
      const session = opening?.session
      const peer = new Peer({ service, limits, socket, stream: request.socket, auth: request.auth, session })
      peers.add(peer)
      if (opening !== undefined) opening.session.carryOn(peer, opening)
      void peer.gone.then(() => peers.delete(peer))
    })
  }

  async function close(): Promise<void> {
    clearInterval(watch)
    sessions.close()
    closing ??= Promise.all([...peers].map((peer) => peer.leave()))
    await closing
  }
}

/** Refuses a client that offers sub-protocols, but none that is spoken here. */
function checkProtocols(offered: string | undefined): void {
  if (offered === undefined || chooseProtocol(offered.split(',').map((name) => name.trim())) !== undefined)
    return
  throw mcpError(BAD_UPGRADE, {
    reason: `none of the offered sub-protocols is one of ${PROTOCOLS.join(', ')}`,
  })
}

/** How often connections are looked after, so that no limit is overstepped by much. */
function beatOf({ pingMs, pongMs, bodyMs, resumeMs }: Limits): number {
  return Math.max(10, Math.min(pingMs, pongMs, bodyMs, resumeMs || pingMs) / 4)
}
