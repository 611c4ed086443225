import { loadSockets } from '#ws'
import { orAborted } from '../../base/backoff.ts'
import { badOption } from '../../base/options.ts'
import { mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { loginsOf, type AuthOwner, type Bound } from '../../rpc/logins.ts'
import { afterMs } from '../io/timer.ts'
import type { ClientSocket, DialOptions, SessionAck, SocketLibrary } from './client-socket.ts'
import { ABNORMAL, closeText } from './endings.ts'
import { WsClientTransport, type WsTransportLimits, type Opening } from './client-transport.ts'
import { PROTOCOLS } from './protocols.ts'

export interface ConnectWsOptions extends Pick<DialOptions, 'headers' | 'tls' | 'heartbeatMs'> {
  readonly limits: WsTransportLimits
  /** How long opening the connection may take, if that is less than 30 s. */
  readonly openMs?: number
  /** Has the credentials. */
  readonly owner?: AuthOwner | undefined
}

const OPEN_MS = 30_000
const UNEXPLAINED =
  'the server did not accept the connection; in a browser, it must allow the origin of the page'

/** Connects to a server over WebSocket, one message per frame. */
export function connectWs(url: URL, options: ConnectWsOptions): OpenTransport {
  return async (events) => {
    const library = await loadSockets()
    const { owner, limits } = options
    if (owner !== undefined) owner.events = events
    const bound: Bound = {}
    const logins = owner?.auth && loginsOf(owner, owner.auth)
    const transport = new WsClientTransport({
      events,
      limits,
      Session: library.Session,
      Inbox: library.Inbox,
      stepUp: logins && stepUpOf(owner),
      confirm: logins && ((method, stop) => logins.check(stop, { method, bound })),
      open: openWith(url, options, library, bound),
    })
    const { signal } = events
    if (signal === undefined) return transport.begin()
    const stop = (): void => void transport.close()
    signal.addEventListener('abort', stop)
    return orAborted(transport.begin(), signal).finally(() => signal.removeEventListener('abort', stop))
  }
}

/** The function that notes the scopes that a connection lacks. Calls that fail after the next one has opened are only repeated. */
function stepUpOf(owner: AuthOwner): (scopes: readonly string[]) => void {
  let isFirst = true
  return (scopes) => {
    if (isFirst || owner.missing !== undefined) owner.missing = [...(owner.missing ?? []), ...scopes]
    isFirst = false
  }
}

/** The function that opens connections, with credentials if there are any. */
function openWith(
  url: URL,
  options: ConnectWsOptions,
  library: SocketLibrary,
  bound: Bound,
): (opening: Opening) => Promise<void> {
  const { owner, headers } = options
  if (owner?.auth === undefined) return (opening) => open(url, options, library, opening)
  const { openAuthorized } = library
  if (openAuthorized === undefined)
    throw badOption('connect auth', 'this runtime sends no credentials with a WebSocket; connect over HTTP')
  return (opening) => {
    // A session is resumed only with the login that began it.
    const opens = opening.session?.id === undefined
    return openAuthorized({ owner, headers, signal: opening.signal, bound, opens }, (all) =>
      open(url, { ...options, headers: all }, library, opening),
    )
  }
}

/** Opens a connection and passes it on synchronously, because a message may follow at once. */
function open(
  url: URL,
  options: ConnectWsOptions,
  { dial, remedyOf, extrasOf }: SocketLibrary,
  opening: Opening,
): Promise<void> {
  const { headers, tls, heartbeatMs, limits } = options
  const openMs = Math.min(OPEN_MS, options.openMs ?? OPEN_MS, opening.timeoutMs)
  let session: SessionAck | undefined
  return new Promise((resolve, reject) => {
    const socket = dial(url, {
      protocols: PROTOCOLS,
      headers,
      tls,
      heartbeatMs,
      maxBytes: limits.clientBytes,
      ...(opening.session !== undefined && { session: opening.session }),
      onSession: (ack) => void (session = ack),
      onPong: opening.onPong,
    })
    const timer = afterMs(openMs, () => fail(`it did not answer within ${openMs} ms`))
    const stop = (): void => fail('it is no longer wanted')
    let cause: unknown
    socket.onopen = () => {
      end()
      opening.take(socket, session)
      resolve()
    }
    socket.onerror = ({ error }) => (cause = error)
    socket.onclose = ({ code, reason }) =>
      fail(remedyOf(cause, url) ?? (code === ABNORMAL ? UNEXPLAINED : closeText(code, reason)))
    if (opening.signal.aborted) stop()
    else opening.signal.addEventListener('abort', stop)

    function end(): void {
      clearTimeout(timer)
      opening.signal.removeEventListener('abort', stop)
    }

    function fail(reason: string): void {
      end()
      drop(socket)
      const target = `${url.protocol}//${url.host}${url.pathname}`
      reject(mcpError(CONNECT_FAILED, { target, reason }, { cause, ...extrasOf?.(cause) }))
    }
  })
}

function drop(socket: ClientSocket): void {
  if (socket.terminate === undefined) socket.close()
  else socket.terminate()
}
