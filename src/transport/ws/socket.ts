import type { TLSSocket } from 'node:tls'
import { WebSocket, type ClientOptions } from 'ws'
import { clientTls, type SecureClient } from '../tcp/client-tls.ts'
import { explain } from '../tcp/problems.ts'
import { everyMs } from '../timer.ts'
import type { ClientSocket, DialOptions } from './client-socket.ts'

/** The options of the library, with those that its types do not name yet. */
interface Settings extends ClientOptions {
  readonly closeTimeout: number
}

/** How long a server has to agree to the end of a connection. */
const FAREWELL_MS = 2000
const LARGEST = 2 ** 31 - 1

/** Begins to open a WebSocket. Refuses messages that are too large while they come, and notices when the server is gone. */
export function dial(
  url: URL,
  { protocols, headers, tls, maxBytes, heartbeatMs }: DialOptions,
): ClientSocket {
  const settings: Settings = {
    ...(url.protocol === 'wss:' && secured(clientTls(url.hostname.replace(/^\[|\]$/g, ''), tls))),
    headers,
    maxPayload: Math.min(maxBytes, LARGEST),
    perMessageDeflate: false,
    followRedirects: false,
    closeTimeout: FAREWELL_MS,
  }
  const socket = new WebSocket(url, [...protocols], settings)
  keepAlive(socket, heartbeatMs)
  return socket as ClientSocket
}

/** What can be done about a connection that failed. */
export function remedyOf(cause: unknown, url: URL): string | undefined {
  return cause instanceof Error ? explain(cause, url) : undefined
}

/** TLS for the library, which sends its request only when the server has proved who it is. */
function secured({ settings, problemOf }: SecureClient): ClientOptions {
  return {
    ...(settings as object),
    finishRequest(request) {
      request.once('socket', (socket) => {
        socket.once('secureConnect', () => {
          const problem = problemOf(socket as TLSSocket)
          if (problem === undefined) request.end()
          else request.destroy(new Error(problem))
        })
      })
    },
  }
}

/** Asks a silent server whether it is still there; one that does not say so until the next time is left. */
function keepAlive(socket: WebSocket, everyBeatMs: number): void {
  let heard = true
  let asked = false
  const hear = (): void => void (heard = true)
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, hear)
  const timer = everyMs(everyBeatMs, () => {
    if (socket.readyState !== socket.OPEN) return
    if (!heard && asked) return socket.terminate()
    asked = !heard
    heard = false
    if (asked) socket.ping()
  })
  socket.once('close', () => clearInterval(timer))
}
