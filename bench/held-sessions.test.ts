import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type Running } from '../src/index.ts'
import { redis as openRedis } from '../src/stores.ts'
import { startRedis } from '../test/harness/redis.ts'
import { GOALS } from './goals.ts'
import { type HeldSessions, holdSockets } from './load/held-sockets.ts'
import { holdStreams } from './load/held-streams.ts'
import { measureLayer, type Layer } from './layer-thread.ts'

const COUNT = 30

test.each(['tcp', 'ws'] as const)(
  'a session held over %s counts only if it answers a last ping [S2-11.3-1]',
  async (transport) => {
    const running = await serve()
    const held = closeLater(holdSockets(transport, portOf(running, transport)))
    await held.open(COUNT)
    expect(await held.ping()).toBe(COUNT)
    await running.close()
    expect(await held.ping()).toBe(0)
  },
)

test('a held stream counts if its session answers and the stream delivers a notification [S2-11.3-1]', async () => {
  const running = await serve()
  const held = closeLater(holdStreams(portOf(running, 'http')))
  await held.open(COUNT)
  expect(await held.ping()).toBe(COUNT)
  expect(await held.ping()).toBe(COUNT)
})

test('sessions that the server aborts do not count', async () => {
  const sockets: Socket[] = []
  const server = createBareServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const held = closeLater(holdSockets('tcp', (server.address() as { readonly port: number }).port))
  await held.open(COUNT)
  for (const socket of sockets.slice(0, 10)) socket.destroy()
  expect(await held.ping()).toBe(COUNT - 10)
})

test('a held session takes far less than 2 MB, counting both of its ends [S2-11.3-2]', async () => {
  const running = await serve()
  const held = closeLater(holdSockets('tcp', portOf(running, 'tcp')))
  await held.open(COUNT)
  const before = process.memoryUsage().rss
  await held.open(COUNT * 10)
  expect((process.memoryUsage().rss - before) / (COUNT * 10)).toBeLessThan(500_000)
  expect(await held.ping()).toBe(COUNT * 11)
})

test('the goals are 45,000 sessions over TCP, each at most 8 KB above a bare socket [S2-11.3-1] [S2-11.3-2]', () => {
  expect(GOALS.filter(({ work }) => work === 'sessions held over TCP')).toEqual([
    { work: 'sessions held over TCP', unit: 'answered', of: 'value', least: 45_000 },
    { work: 'sessions held over TCP', unit: 'KB', of: 'above the limit', most: 8 },
  ])
})

test('connections held over several nodes count if each answers a last ping; the goal is 100,000 over ten [S2-11.3-4]', async () => {
  const goals = GOALS.filter(({ work }) => work === 'connections held over ten nodes')
  expect(goals).toMatchObject([{ unit: 'answered', of: 'value', least: 100_000 }])
  const redis = await startRedis()
  onTestFinished(() => redis.close())
  let answered = 0
  for (let node = 0; node < 3; node++) {
    const store = openRedis(redis.url)
    const running = await createServer({ name: 'held', version: '1', store }).listen({ tcp: { port: 0 } })
    onTestFinished(async () => {
      await running.close()
      await store.close()
    })
    const held = closeLater(holdSockets('tcp', portOf(running, 'tcp')))
    await held.open(COUNT)
    answered += await held.ping()
  }
  expect(answered).toBe(3 * COUNT)
})

const LIMIT = new URL('subjects/limit-memory.mjs', import.meta.url).href

test.each(['step', 'decode', 'ping', 'call'] as const)(
  'every answer is checked while the layer %s is measured [S2-11.1-1]',
  async (layer) => {
    for (const whose of ['limit', 'ours'] as const) {
      const { count, seconds } = await measureLayer({
        layer,
        whose,
        subject: LIMIT,
        extent: { seconds: 0.05 },
      })
      expect(count).toBeGreaterThan(0)
      expect(seconds).toBeGreaterThanOrEqual(0.05)
    }
  },
)

test.each<[string, Layer]>([
  ['wrong sums', 'call'],
  ['no result', 'ping'],
])('an in-memory server with %s is not measured [S2-11.1-1]', async (_, layer) => {
  const body = `export const connect = (receive) => ({
    send(text) {
      const { id, method } = JSON.parse(text)
      if (method === 'initialize') receive('{}')
      else if (method === 'tools/call') receive(JSON.stringify({ id, result: { content: [{ text: '1' }] } }))
      else if (method === 'ping') receive(JSON.stringify({ id }))
    },
  })`
  const subject = `data:text/javascript,${encodeURIComponent(body)}`
  await expect(measureLayer({ layer, whose: 'limit', subject, extent: { seconds: 0.05 } })).rejects.toThrow(
    'wrong answer',
  )
})

async function serve(): Promise<Running> {
  let changes = 0
  const app = createServer({ name: 'held', version: '1', log: () => undefined })
  app.tool('change', {}, () => {
    app.tool(`more-${++changes}`, {}, () => 'more')
    return 'changed'
  })
  const running = await app.listen({ http: { port: 0 }, ws: true, tcp: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => running.close())
  return running
}

function portOf({ addresses }: Running, transport: 'tcp' | 'ws' | 'http'): number {
  return Number(new URL(addresses[transport] as string).port)
}

/** Closes the sessions when the test ends. */
function closeLater(held: HeldSessions): HeldSessions {
  onTestFinished(() => held.close())
  return held
}

/** A server that answers every request and reports its connections. */
function createBareServer(onSocket: (socket: Socket) => void): Server {
  return createNetServer((socket) => {
    onSocket(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      for (const [, id] of bytes.toString('utf8').matchAll(/"id":(\d+)/g))
        socket.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`)
    })
  })
}
