import { badOption } from '../../base/options.ts'
import type { ClientSocket, DialOptions, SocketLibrary } from './client-socket.ts'

/** What opens WebSockets on runtimes that have their own. */
export function loadSockets(): Promise<SocketLibrary> {
  return Promise.resolve({ dial, remedyOf })
}

/** Opens the runtime's own WebSocket, which answers pings by itself and does not support headers. */
function dial(url: URL, { protocols, headers }: DialOptions): ClientSocket {
  if (Object.keys(headers).length > 0) {
    const reason = 'this runtime cannot send custom headers with a WebSocket; omit them, or connect over HTTP'
    throw badOption('connect headers', reason)
  }
  return new WebSocket(url, [...protocols]) as ClientSocket
}

/** Runtimes do not say why a connection failed. */
function remedyOf(): string | undefined {
  return undefined
}
