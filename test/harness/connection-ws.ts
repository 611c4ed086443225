import { once } from 'node:events'
import { WebSocket } from 'ws'
import { listenerOf } from './connection-http.ts'
import type { AnyApp, Connection, ConnectionOptions } from './connection.ts'

/** A WebSocket connection on the HTTP port of the server. */
export async function openWs(app: AnyApp, { receive }: ConnectionOptions): Promise<Connection> {
  const { addresses } = await listenerOf(app)
  const socket = new WebSocket(addresses.ws as string, ['mcp'])
  socket.on('message', (data: Buffer) => receive(data.toString('utf8'), undefined))
  await once(socket, 'open')
  return {
    send: async (text) => socket.send(text),
    watch: async () => undefined,
    abandon: () => false,
    async close() {
      if (socket.readyState === socket.CLOSED) return
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
