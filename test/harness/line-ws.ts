import { once } from 'node:events'
import { WebSocket } from 'ws'
import { listenerOf } from './line-http.ts'
import type { AnyApp, Line, LineOptions } from './line.ts'

/** A connection over a WebSocket on the port of the server's HTTP. */
export async function openWs(app: AnyApp, { receive }: LineOptions): Promise<Line> {
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
