import { TOO_MANY_CONNECTIONS } from '../../errors/limits.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServerOptions } from 'ws'
import { mcpError } from '../../errors/error.ts'
import { BAD_UPGRADE } from '../../errors/http.ts'
import { SHUTTING_DOWN } from '../../errors/rpc.ts'
import { LATER, SOON } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { UpgradeHandler, UpgradeSource } from '../io/upgrade.ts'
import { checkHeap, guardHeap } from '../io/heap-guard.ts'
import { everyMs } from '../io/timer.ts'
import type { Sharing } from '../http/server/replicas.ts'
import { loadWs } from './load.ts'
import { Peer, type PeerOptions } from './peer.ts'
import { chooseProtocol, PROTOCOLS } from './protocols.ts'
import type { ServerSocket } from './server-socket.ts'
import type { Opening } from './session.ts'
import { Crowd } from '../io/crowd.ts'
import { WsSessions } from './sessions.ts'
import type { SharedOpening, SharedSessions } from './shared-sessions.ts'

/** The most fragments of one message: each costs memory, however small it is. */
const FRAGMENTS = 16_384
/** How long a client has to complete the closing handshake. */
const FAREWELL_MS = 2000
const LARGEST = 2 ** 31 - 1

type Request = IncomingMessage & Pick<RequestSource, 'auth' | 'certified'>

/** The options of the library, including those missing from its types. */
interface Settings extends ServerOptions<typeof ServerSocket> {
  readonly maxFragments: number
  readonly closeTimeout: number
  readonly autoPong: boolean
}

/** A session, and the number of messages that it received. */
type AnyOpening = Opening | SharedOpening

export interface WsServer extends UpgradeHandler {
  /** The sessions of clients that can resume. */
  readonly sessions: WsSessions
}

/**
 * Serves clients over WebSocket. The connections come from an HTTP listener, which authenticates them. With `sharing`, other nodes serve
 * the same sessions.
 */
export async function serveWs(source: UpgradeSource, sharing?: Sharing): Promise<WsServer> {
  const library = await loadWs(() => import('./server-socket.ts'))
  const { limits, service } = source
  const peers = new Set<Peer>()
  const crowd = new Crowd()
  const sessions = new WsSessions(service, limits)
  const unguard = guardHeap(service, limits, () => crowd.shed() + sessions.shed())
  const shared =
    sharing && new (await import('./shared-sessions.ts')).SharedSessions(sharing, service, limits)
  /** The session of the connection being accepted, and one that other nodes know already. */
  let opening: AnyOpening | undefined
  let prepared: SharedOpening | undefined
  let closing: Promise<unknown> | undefined
  const server = new library.WebSocketServer(settingsOf(limits, library.ServerSocket))
  server.on('wsClientError', ({ message }, socket, request) => {
    const error = mcpError(BAD_UPGRADE, { reason: message })
    source.reject(request, socket, error, { 'sec-websocket-version': '13' })
  })
  server.on('headers', (headers, request: Request) => {
    opening = shared === undefined ? sessions.open(request.headers, request.auth) : prepared
    prepared = undefined
    if (opening === undefined) return
    const { id, received } = opening.session
    headers.push(`Mcp-Session-Id: ${id}`, `Last-Event-ID: ${received}`)
  })
  const timer = everyMs(intervalOf(limits), () => {
    const now = performance.now()
    for (const peer of peers) peer.check(now)
    sessions.sweep()
    shared?.sweep()
  })
  return { accept, close, sessions }

  function accept(request: Request, stream: Duplex, head: Buffer): void {
    try {
      source.check(request)
      if (closing !== undefined) throw mcpError(SHUTTING_DOWN, {}, shared === undefined ? LATER : SOON)
      checkHeap(service)
      checkProtocols(request.headers['sec-websocket-protocol'])
      const limit = limits.connections
      // A client that resumes replaces its lost connection, even if the loss was not noticed yet.
      const hasRoom = peers.size < limit || (shared ?? sessions).makeRoom(request.headers, request.auth)
      if (!hasRoom && !crowd.makeRoom(source.ipOf(request)))
        throw mcpError(TOO_MANY_CONNECTIONS, { limit }, LATER)
    } catch (thrown) {
      return source.reject(request, stream, thrown)
    }
    if (shared === undefined) upgrade(request, stream, head)
    else {
      const isClosing = (): boolean => closing !== undefined
      void prepare(shared, source, { request, stream, isClosing }, (found) => {
        prepared = found
        upgrade(request, stream, head)
        return prepared === undefined
      })
    }
  }

  function upgrade(request: Request, stream: Duplex, head: Buffer): void {
    server.handleUpgrade(request, stream, head, (socket) => {
      const session = opening?.session
      const ip = source.ipOf(request)
      const peer = newPeer(source, { socket, request, session })
      peers.add(peer)
      if (opening !== undefined) opening.session.carryOn(peer, { ...opening, ip })
      opening = undefined
      const leave = crowd.add(ip, () => peer.abort())
      void peer.gone.then(() => {
        peers.delete(peer)
        leave()
      })
    })
  }

  async function close(): Promise<void> {
    clearInterval(timer)
    unguard()
    sessions.close()
    closing ??= Promise.all([...peers].map((peer) => peer.close())).then(() => shared?.close())
    await closing
  }
}

/** Rejects a client that offers only unsupported subprotocols. */
function checkProtocols(offered: string | undefined): void {
  if (offered === undefined || chooseProtocol(offered.split(',').map((name) => name.trim())) !== undefined)
    return
  throw mcpError(BAD_UPGRADE, {
    reason: `none of the offered subprotocols is supported; offer ${PROTOCOLS.join(' or ')}`,
  })
}

/** How often to check connections, so that no limit is exceeded by much. */
function intervalOf({ pingMs, pongMs, bodyMs, resumeMs }: Limits): number {
  return Math.max(10, Math.min(pingMs, pongMs, bodyMs, resumeMs || pingMs) / 4)
}

interface NewPeer extends Pick<PeerOptions, 'socket' | 'session'> {
  readonly request: Request
}

function newPeer({ service, limits, ipOf }: UpgradeSource, { request, ...rest }: NewPeer): Peer {
  const { auth, certified } = request
  const source = { auth, certified, ip: ipOf(request) }
  return new Peer({ service, limits, stream: request.socket, source, ...rest })
}

/** The settings of the library. */
function settingsOf({ wsBytes }: Limits, WebSocket: typeof ServerSocket): Settings {
  return {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: Math.min(wsBytes, LARGEST),
    maxFragments: FRAGMENTS,
    closeTimeout: FAREWELL_MS,
    handleProtocols: (offered) => chooseProtocol(offered) ?? false,
    autoPong: false,
    WebSocket,
  }
}

interface Waiting {
  readonly request: Request
  readonly stream: Duplex
  isClosing(): boolean
}

/** Finds or creates a session in the store before its connection is accepted. `upgrade` says whether it was. */
async function prepare(
  shared: SharedSessions,
  source: UpgradeSource,
  { request, stream, isClosing }: Waiting,
  upgrade: (found: SharedOpening | undefined) => boolean,
): Promise<void> {
  const onError = (): void => void stream.destroy()
  const isGone = (): boolean => stream.destroyed || stream.readableEnded
  const isWanted = (): boolean => !isClosing() && !isGone()
  stream.on('error', onError)
  try {
    const caller = { auth: request.auth, ip: source.ipOf(request) }
    const found = await shared.open(request.headers, caller, isWanted)
    stream.off('error', onError)
    if (isWanted() && upgrade(found)) return
    found?.abandon()
    if (isGone()) stream.destroy()
    if (isClosing()) throw mcpError(SHUTTING_DOWN, {}, SOON)
  } catch (thrown) {
    stream.off('error', onError)
    source.reject(request, stream, thrown)
  }
}
