import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { ClientSocket, DialOptions } from './client-socket.ts'

/** Begins to open a WebSocket where the runtime has them: it answers pings by itself, and takes no headers. */
export function dial(url: URL, { protocols, headers }: DialOptions): ClientSocket {
  if (Object.keys(headers).length > 0) {
    const reason =
      'this runtime sends no headers of ours with a WebSocket; leave them out, or connect over HTTP'
    throw mcpError(BAD_OPTION, { where: 'connect headers', reason })
  }
  return new WebSocket(url, [...protocols]) as ClientSocket
}

/** Runtimes do not say why a connection failed. */
export function remedyOf(): string | undefined {
  return undefined
}
