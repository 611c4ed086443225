import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import { connect, type Client } from '../../src/client.ts'
import { failureOf } from '../harness/failure.ts'

const OPENING = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'loop', version: '1' },
}
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/x"}'
const LIMITS = { reconnectFirstMs: 1, reconnectMaxMs: 1, reconnectFloorMs: 1, clientBytes: 4000 }

interface Loop {
  readonly client: Client
  /** The messages that arrived over each connection. */
  readonly heard: string[][]
}

/** A client of a server that lets it resume, and says of each connection how many messages it has received. */
async function loop(
  countOf: (nth: number) => number,
  onText: (text: string, nth: number, socket: WebSocket) => void,
  onResumed: (socket: WebSocket) => void = () => undefined,
): Promise<Loop> {
  const heard: string[][] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  server.on('headers', (headers, _: IncomingMessage) =>
    headers.push('mcp-session-id: S', `last-event-id: ${countOf(heard.length)}`),
  )
  server.on('connection', (socket) => {
    const nth = heard.push([]) - 1
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      heard[nth]!.push(text)
      const { id, method } = JSON.parse(text) as { id?: number; method?: string }
      if (nth === 0 && method === 'initialize')
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: OPENING }))
      else onText(text, nth, socket)
    })
    if (nth > 0) onResumed(socket)
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = await connect(`ws://127.0.0.1:${port}/mcp`, { revision: '2025-11-25', limits: LIMITS })
  onTestFinished(() => client.close())
  return { client, heard }
}

const breakAfterNotice = (socket: WebSocket): void => socket.send(NOTICE, () => socket.terminate())
const isCall = (text: string): boolean => text.includes('"tools/call"')

test('a session whose server never takes the messages is resumed only a few times [C.resume-loop]', async () => {
  const { client, heard } = await loop(
    () => 0,
    (text, nth, socket) => nth === 0 && isCall(text) && socket.terminate(),
    breakAfterNotice,
  )
  const options = { timeout: 5000, idempotent: false }
  expect(await failureOf(client.call('big', { text: 'x'.repeat(3000) }, options))).toMatchObject({
    kind: 'stream_lost',
  })
  expect(heard).toHaveLength(5)
})

test('a session is resumed as long as the server takes one more message each time', async () => {
  const calls = Array.from({ length: 8 }, (_, nth) => nth)
  const { client, heard } = await loop(
    (nth) => 2 + nth,
    (text, nth, socket) => {
      if (nth === 0) return heard[0]!.filter(isCall).length === calls.length && socket.terminate()
      const { id } = JSON.parse(text) as { id: number }
      if (nth < calls.length - 1) socket.terminate()
      else socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }))
    },
  )
  const all = calls.map((n) => client.call('one', { n }, { timeout: 5000 }))
  expect(await Promise.any(all)).toEqual([])
  expect(heard).toHaveLength(calls.length)
  void Promise.allSettled(all)
})

test('requests that nobody waits for are not sent again', async () => {
  const payload = 'x'.repeat(3000)
  const { client, heard } = await loop(
    () => 0,
    (text, nth, socket) => nth === 0 && text.includes('notifications/cancelled') && socket.terminate(),
  )
  expect(await failureOf(client.call('big', { payload }, { timeout: 50 }))).toMatchObject({ kind: 'timeout' })
  await expect.poll(() => heard[1]?.length === heard[0]!.length).toBe(true)
  expect(heard.map((texts) => texts.some((text) => text.includes(payload)))).toEqual([true, false])
  const cancelled = heard[1]!.filter((text) => text.includes('notifications/cancelled'))
  expect(
    cancelled.map((text) => (JSON.parse(text) as { params: { requestId: number } }).params.requestId),
  ).toEqual([
    (JSON.parse(heard[0]!.find(isCall) as string) as { id: number }).id,
    (JSON.parse(heard[0]!.find(isCall) as string) as { id: number }).id,
  ])
})
