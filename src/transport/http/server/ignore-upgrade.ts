import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { inNextTurn } from '../../../base/turn.ts'

/** The headers that ask for the upgrade. */
const ASKS = /^(?:connection|upgrade|http2-settings)$/i

/**
 * Ignores an upgrade to anything but WebSocket, such as HTTP/2, and continues in HTTP/1.1. Node has handed the connection over, so
 * the request is read again without the offer. Others get a turn before that: many requests in one piece would otherwise be
 * answered without a pause, and `limits.pipelined` does not apply to them, since each waits for the one before.
 */
export function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Duplex, rest: Buffer): void {
  const leave = (): void => void socket.destroy()
  socket.once('error', leave)
  inNextTurn(() => {
    socket.off('error', leave)
    if (socket.destroyed) return
    // Two parts, because what follows would otherwise be copied for each request in it.
    if (rest.length > 0) socket.unshift(rest)
    socket.unshift(Buffer.from(headOf(request), 'latin1'))
    // Node leaves these behind, and will add them again.
    for (const event of ['pause', 'resume']) socket.removeAllListeners(event)
    // On a TLS connection the handshake is already complete.
    server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
  })
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  let head = `${method} ${url} HTTP/1.1\r\n`
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!ASKS.test(rawHeaders[at] as string)) head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  return `${head}\r\n`
}
