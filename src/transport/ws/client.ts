import { loadSockets } from '#ws'
import { mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { afterMs } from '../io/timer.ts'
import type { ClientSocket, DialOptions, SessionAck, SocketLibrary } from './client-socket.ts'
import { ABNORMAL, statusOf, closeText } from './endings.ts'
import { WsClientTransport, type WsTransportLimits, type Opening } from './client-transport.ts'
import { PROTOCOLS } from './protocols.ts'

export interface ConnectWsOptions extends Pick<DialOptions, 'headers' | 'tls' | 'heartbeatMs'> {
  readonly limits: WsTransportLimits
  /** How long opening the connection may take, if that is less than 30 s. */
  readonly openMs?: number
}

const OPEN_MS = 30_000
const UNEXPLAINED =
  'the server did not accept the connection; in a browser, it must allow the origin of the page'

/** Connects to a server over WebSocket, one message per frame. */
export function connectWs(url: URL, options: ConnectWsOptions): OpenTransport {
  return async (events) => {
    const library = await loadSockets()
    const transport = new WsClientTransport({
      events,
      limits: options.limits,
      open: (opening) => open(url, options, library, opening),
    })
    return transport.begin()
  }
}

/** Opens a connection and passes it on synchronously, because a message may follow at once. */
function open(
  url: URL,
  options: ConnectWsOptions,
  { dial, remedyOf }: SocketLibrary,
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
      fail(whyNot(cause) ?? (code === ABNORMAL ? UNEXPLAINED : closeText(code, reason)))
    if (opening.signal.aborted) stop()
    else opening.signal.addEventListener('abort', stop)

    function end(): void {
      clearTimeout(timer)
      opening.signal.removeEventListener('abort', stop)
    }

    function fail(reason: string): void {
      end()
      drop(socket)
      const status = statusOf(cause)
      const extras = { cause, ...(status !== undefined && { data: { status } }) }
      reject(
        mcpError(CONNECT_FAILED, { target: `${url.protocol}//${url.host}${url.pathname}`, reason }, extras),
      )
    }

    function whyNot(failure: unknown): string | undefined {
      const status = statusOf(failure)
      return status === undefined ? remedyOf(failure, url) : `it answered with HTTP status ${status}`
    }
  })
}

function drop(socket: ClientSocket): void {
  if (socket.terminate === undefined) socket.close()
  else socket.terminate()
}
