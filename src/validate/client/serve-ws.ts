import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { react, type Behaviour, type Connection } from './scenario.ts'
import type { Served } from './serve.ts'
import { NOT_HTTP, type Channel } from './turn.ts'
import type { Visit } from './visit.ts'

/** The largest frame that is read. */
const MOST_BYTES = 8_000_000

/** Serves WebSocket on a free port of this machine, with one message in each text frame. */
export async function serveWs(stage: {
  readonly visit: Visit
  readonly behaviour: Behaviour
}): Promise<Served> {
  const { visit, behaviour } = stage
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    maxPayload: MOST_BYTES,
    handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
  })
  await once(server, 'listening')
  let count = 0
  server.on('connection', (socket, request) => {
    // A frame is complete long after its first bytes came.
    request.socket.on('data', (chunk: Buffer) => {
      if (!visit.receive(chunk.length)) socket.terminate()
    })
    const stream = `ws ${++count}`
    const raw = (text: string): Promise<void> => {
      visit.give(text, stream)
      return new Promise((resolve) => socket.send(text, () => resolve()))
    }
    const channel: Channel = { stream, send: raw, finish: raw, ...NOT_HTTP }
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer, isBinary) => {
      const text = isBinary ? `(a binary frame of ${data.length} bytes)` : data.toString('utf8')
      const seen = visit.take(text, stream)
      if (seen !== undefined) void react(seen, channel, stage)
    })
    socket.on('close', () => visit.note('closed', stream))
    visit.note('open', stream)
    const connection: Connection = {
      stream,
      raw,
      stderr: () => undefined,
      close: () => socket.close(),
    }
    behaviour.opened?.(connection, visit)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: { transport: 'ws', url: `ws://127.0.0.1:${port}/mcp` },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of server.clients) socket.terminate()
      await closed
    },
  }
}
