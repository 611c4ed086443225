import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

export interface Asked extends JsonObject {
  readonly id: number
  readonly method: string
}

/** A server that answers the opening rightly, and everything else as a test likes. */
export async function scripted(
  answer: (asked: Asked, socket: WebSocket) => void,
): Promise<{ readonly url: string; readonly server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      const asked = JSON.parse(data.toString()) as Asked
      if (asked.method === 'initialize')
        return socket.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: OPENING }))
      if (asked.method !== 'notifications/initialized') answer(asked, socket)
    })
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server }
}

const OPENING = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
}
