import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connect, type Socket } from 'node:net'
import { createServer, type App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { open } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { headed, initialize, JSON_TYPE, call } from '../http/messages.ts'
import { Gate, open as openSession, start } from '../http/server.ts'
import { Raw, send } from '../http/wire.ts'
import { frame, handshake } from '../ws/raw.ts'

afterAll(() => closeListeners())

const LARGE = 30_000_000
const MUCH = headed('tools/call', { name: 'much' }, 1)

/** A client that asks for much and reads nothing of it. */
type Lazy = (ports: { readonly http: number; readonly tcp: number }) => Promise<Socket>

function dial(port: number, text: string | Uint8Array): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(text)
  return socket
}

/** Sends one request over a connection of its own and does not read the response. */
function ask(port: number, headers: object, body: string): void {
  const head = Object.entries({ host: 'localhost', 'content-length': body.length, ...headers })
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  dial(port, `POST /mcp HTTP/1.1\r\n${lines}\r\n${body}`).pause()
}

const MANY = 16

/** One caller that asks for much many times before the first response, and reads nothing of it. */
const ASKING: Readonly<Record<'http' | 'tcp' | 'ws' | 'sse', (...ports: Parameters<Lazy>) => Promise<void>>> =
  {
    async http({ http }) {
      const session = await openSession(http)
      for (let id = 0; id < MANY; id++) ask(http, session.headers, call('much', {}, id))
    },
    async tcp({ tcp }) {
      const socket = dial(tcp, '').pause()
      for (let id = 0; id < MANY; id++) socket.write(`${headed('tools/call', { name: 'much' }, id).body}\n`)
    },
    async ws({ http }) {
      const socket = dial(http, handshake(http))
      await new Promise((resolve) => socket.once('data', resolve))
      socket.pause()
      for (let id = 0; id < MANY; id++) socket.write(frame(headed('tools/call', { name: 'much' }, id).body))
    },
    async sse({ http }) {
      const { raw, path } = await openSse(http)
      raw.socket.pause()
      await send(http, { path, body: initialize(), headers: JSON_TYPE })
      for (let id = 2; id < MANY + 2; id++)
        await send(http, { path, body: call('much', {}, id), headers: JSON_TYPE })
    },
  }

/** Opens the stream of an SSE client. */
async function openSse(port: number): Promise<{ readonly raw: Raw; readonly path: string }> {
  const raw = new Raw(port)
  onTestFinished(() => raw.destroy())
  raw.write('GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n')
  await raw.until(/sessionId=[0-9a-f-]{36}/)
  return { raw, path: `/messages?${/sessionId=[0-9a-f-]{36}/.exec(raw.text)?.[0]}` }
}

const LAZY: Readonly<Record<string, Lazy>> = {
  async tcp({ tcp }) {
    return dial(tcp, `${MUCH.body}\n`)
  },
  async http({ http }) {
    const head = Object.entries({ host: 'localhost', 'content-length': MUCH.body.length, ...MUCH.headers })
    const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return dial(http, `POST /mcp HTTP/1.1\r\n${lines}\r\n${MUCH.body}`)
  },
  async ws({ http }) {
    const socket = dial(http, handshake(http))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    socket.write(frame(MUCH.body))
    return socket
  },
  async sse({ http }) {
    const { raw, path } = await openSse(http)
    raw.socket.pause()
    for (const body of [initialize(), call('much', {}, 2)])
      await send(http, { path, body, headers: JSON_TYPE })
    return raw.socket
  },
}

function server(): App {
  return createServer({
    name: 'unsent',
    version: '1',
    limits: { unsentBytes: 20_000_000 },
    log: () => undefined,
  })
    .tool('much', {}, () => 'x'.repeat(LARGE))
    .tool('echo', {}, () => 'echo')
}

test.each([
  ['tcp', 'http'],
  ['http', 'tcp'],
  ['ws', 'memory'],
  ['sse', 'ws'],
] as const)(
  'limits.unsentBytes clients over %s that read nothing shut out a client over %s for seconds only: they are cut off [S2-8.3-3] [F12]',
  async (lazy, transport) => {
    const app = server() as unknown as AnyApp
    const running = await app.listen({
      http: { port: 0, sse: true },
      ws: true,
      tcp: { port: 0 },
      onUncaught: 'exit',
    })
    onTestFinished(() => running.close())
    const port = (name: 'http' | 'tcp'): number => Number(new URL(running.addresses[name] as string).port)
    const client = await open(app, { transport, revision: '2026-07-28' })
    const sockets = [1, 2].map(() => (LAZY[lazy] as Lazy)({ http: port('http'), tcp: port('tcp') }))
    await Promise.all(sockets)
    await expect
      .poll(() => budgetsOf(serviceOf(app), app.limits).write.total, { interval: 5 })
      .toBeGreaterThan(20_000_000)
    await expect(client.call('echo')).rejects.toMatchObject({
      code: 1004,
      data: { refusal: { name: 'BUFFER_OVERFLOW', retryable: true, retryAfterMs: 1000 } },
    })
    const served = async (): Promise<unknown> => client.call('echo').catch(() => undefined)
    await expect.poll(served).toMatchObject({ isError: false })
    expect(app.counts.get('slow_reader')).toBeGreaterThan(0)
    await client.close()
  },
)

test('limits.unsentBytes counts for one server: another in the same process is not shut out', async () => {
  const [busy, idle] = [server(), server()]
  const [slow, calm] = await Promise.all(
    [busy, idle].map((app) => app.listen({ http: { port: 0, sse: true }, tcp: { port: 0 } })),
  )
  onTestFinished(async () => void (await Promise.all([slow?.close(), calm?.close()])))
  const portOf = (name: 'http' | 'tcp'): number => Number(new URL(slow?.addresses[name] as string).port)
  const ports = { http: portOf('http'), tcp: portOf('tcp') }
  await Promise.all([1, 2].map(() => (LAZY['tcp'] as Lazy)(ports)))
  const unsent = (app: App): number => budgetsOf(serviceOf(app), app.limits).write.total
  await expect.poll(() => unsent(busy), { interval: 5 }).toBeGreaterThan(20_000_000)
  expect(unsent(idle)).toBe(0)
  const client = await open(idle as unknown as AnyApp, { transport: 'http', revision: '2026-07-28' })
  expect(await client.call('echo')).toMatchObject({ isError: false })
})

test('limits.unsentBytes one session that reads nothing takes at most its share, and the others are served', async () => {
  const app = createServer({ name: 'unsent', version: '1', log: () => undefined })
    .tool('much', {}, () => 'x'.repeat(2_000_000))
    .tool('echo', {}, () => 'echo')
  const { port } = await start(app, { limits: { unsentBytes: 20_000_000 } })
  const [greedy, calm] = [await openSession(port), await openSession(port)]
  const requests = Array.from({ length: 16 }, (_, id) => {
    const body = call('much', {}, id)
    const head = Object.entries({ host: 'localhost', 'content-length': body.length, ...greedy.headers })
    return `POST /mcp HTTP/1.1\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`
  })
  dial(port, requests.join('')).pause()
  await expect.poll(() => app.counts.get('too_much_unsent') ?? 0).toBeGreaterThan(0)
  expect((await calm.post(call('echo'))).status).toBe(200)
  expect(budgetsOf(serviceOf(app), app.limits).write.total).toBeLessThan(10_000_000)
})

test.each(['http', 'tcp', 'ws', 'sse'] as const)(
  'limits.unsentBytes the responses of running requests that one caller does not read exceed its share by one over %s',
  async (transport) => {
    const gate = new Gate()
    const limits = { unsentBytes: 20_000_000 }
    const app = createServer({ name: 'unsent', version: '1', log: () => undefined, limits })
      .tool('much', {}, async () => {
        await gate.opened
        return 'x'.repeat(2_000_000)
      })
      .tool('echo', {}, () => 'echo') as unknown as AnyApp
    const running = await app.listen({ http: { port: 0, sse: true }, ws: true, tcp: { port: 0 } })
    onTestFinished(() => running.close())
    const portOf = (name: 'http' | 'tcp'): number => Number(new URL(running.addresses[name] as string).port)
    await ASKING[transport]({ http: portOf('http'), tcp: portOf('tcp') })
    const { load } = serviceOf(app)
    await expect.poll(() => load.running).toBe(MANY)
    gate.open()
    await expect.poll(() => load.running).toBe(0)
    expect(app.counts.get('too_much_unsent')).toBeGreaterThan(MANY / 4)
    expect(budgetsOf(serviceOf(app), app.limits).write.total).toBeLessThan(5_000_000 + 2_100_000)
    const client = await open(app, { transport, revision: '2025-11-25' })
    expect(await client.call('echo')).toMatchObject({ content: [{ text: 'echo' }] })
    await client.close()
  },
)

test('limits.unsentBytes what an SSE client leaves unread counts for the messages that it posts over other connections', async () => {
  const limits = { unsentBytes: 20_000_000 }
  const app = createServer({ name: 'unsent', version: '1', log: () => undefined, limits }).tool(
    'much',
    {},
    () => 'x'.repeat(2_000_000),
  )
  const running = await app.listen({ http: { port: 0, sse: true } })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.addresses.http as string).port)
  const { raw, path } = await openSse(port)
  raw.socket.pause()
  await send(port, { path, body: initialize(), headers: JSON_TYPE })
  const statuses: number[] = []
  for (let id = 2; id < MANY; id++)
    statuses.push((await send(port, { path, body: call('much', {}, id), headers: JSON_TYPE })).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([202, 503])
  expect(budgetsOf(serviceOf(app), app.limits).write.total).toBeLessThan(5_000_000 + 2_100_000)
})

test('limits.unsentBytes a running request whose response nobody would read gets an error that says so', async () => {
  const gate = new Gate()
  const app = createServer({ name: 'unsent', version: '1', log: () => undefined })
    .tool('much', {}, async () => {
      await gate.opened
      return 'x'.repeat(2_000_000)
    })
    .tool('little', {}, async () => {
      await gate.opened
      return 'little'
    })
  const { port } = await start(app, { limits: { unsentBytes: 20_000_000 } })
  const session = await openSession(port)
  for (let id = 0; id < 8; id++) ask(port, session.headers, call('much', {}, id))
  await expect.poll(() => serviceOf(app).load.running).toBe(8)
  const [refused, served] = [session.post(call('much', {}, 10)), session.post(call('little', {}, 11))]
  await expect.poll(() => serviceOf(app).load.running).toBe(10)
  gate.open()
  const error = { code: 1004, data: { mayHaveRun: true, refusal: { name: 'BUFFER_OVERFLOW' } } }
  expect(await refused).toMatchObject({ status: 503, json: { id: 10, error } })
  expect(await served).toMatchObject({ status: 200, json: { id: 11, result: {} } })
})

test('limits.unsentBytes a response that is complete before it is read arrives whole, however large its share', async () => {
  const app = createServer({ name: 'unsent', version: '1', log: () => undefined }).tool(
    'much',
    {},
    (_, ctx) => {
      ctx.progress(1)
      return 'x'.repeat(400_000)
    },
  )
  const { port } = await start(app, { limits: { unsentBytes: 1_000_000 } })
  const session = await openSession(port)
  const { events } = await (await session.stream(call('much', {}, 2, { progressToken: 1 }))).end()
  expect(JSON.parse(events.at(-1)?.data ?? '{}')).toMatchObject({ id: 2, result: { isError: false } })
})
