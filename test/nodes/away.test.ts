import { expect, test } from 'vitest'
import { call, initialize, message } from '../http/messages.ts'
import { open as openSse } from '../sse/server.ts'
import { frame, handshake, Raw } from '../ws/raw.ts'
import { open } from '../ws/server.ts'
import { send } from '../http/wire.ts'
import { startNodes, type TestNode } from './nodes.ts'

const LISTEN = { http: { port: 0, sse: true }, ws: true }
const NOTE = 'note://a'

/** Two nodes with a tool that counts its calls. */
async function start(): Promise<{
  readonly nodes: readonly [TestNode, TestNode]
  readonly calls: { count: number }
  /** Makes the store of all nodes unreachable, or reachable again. */
  away(isAway: boolean): void
}> {
  const calls = { count: 0 }
  const { nodes } = await startNodes({
    listen: LISTEN,
    limits: { keepAliveMs: 100 },
    define: (app) => void app.tool('count', {}, () => ++calls.count).resource(NOTE, {}, () => 'a'),
  })
  const away = (isAway: boolean): void => nodes.forEach(({ view }) => (view.isAway = isAway))
  return { nodes: nodes as [TestNode, TestNode], calls, away }
}

test('while the store is away, messages over a WebSocket wait, and new connections get 503 with Retry-After', async () => {
  const { nodes, calls, away } = await start()
  const [one, two] = nodes
  const socket = await open(one.port, { 'last-event-id': '0' })
  socket.write(frame(initialize()))
  await socket.until(() => socket.texts.length === 1)
  socket.write(frame(message('notifications/initialized')))
  const id = /^mcp-session-id: (\S+)/im.exec(socket.head)?.[1] ?? ''
  away(true)
  socket.write(frame(call('count', {}, 2)))
  for (const headers of [{ 'last-event-id': '0' }, { 'last-event-id': '1', 'mcp-session-id': id }]) {
    const other = new Raw(two.port)
    expect(await other.ask(handshake(two.port, headers))).toBe(503)
    expect(other.head).toMatch(/^retry-after: 1\r$/im)
  }
  expect([calls.count, socket.texts.length]).toEqual([0, 1])
  // A client that asks for no session that outlives its connection needs no store.
  const plain = await open(two.port)
  plain.write(frame(initialize()), frame(call('count', {}, 3)))
  await plain.until(() => plain.texts.length === 2)
  expect(calls.count).toBe(1)
  away(false)
  await socket.until(() => socket.texts.length === 2)
  expect(JSON.parse(socket.texts[1] as string)).toMatchObject({ id: 2, result: {} })
  expect(calls.count).toBe(2)
})

test('while the store is away, messages of HTTP+SSE get 503 with Retry-After, and its streams go on when it is back', async () => {
  const { nodes, calls, away } = await start()
  const [one] = nodes
  const client = await (await openSse(one.port)).shake()
  await client.post(message('resources/subscribe', { uri: NOTE }, 2))
  await client.answer(2)
  away(true)
  const refused = await client.post(call('count', {}, 3))
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
  const stream = await send(one.port, {
    method: 'GET',
    path: '/sse',
    headers: { accept: 'text/event-stream' },
  })
  expect([stream.status, stream.headers['retry-after'], calls.count]).toEqual([503, '1', 0])
  one.app.updated(NOTE)
  away(false)
  await client.stream.until(() =>
    client.messages.some(({ method }) => method === 'notifications/resources/updated'),
  )
  expect((await client.post(call('count', {}, 3))).status).toBe(202)
  expect(await client.answer(3)).toMatchObject({ result: {} })
  expect(calls.count).toBe(1)
})
