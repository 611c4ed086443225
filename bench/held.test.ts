import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type Running } from '../src/index.ts'
import { GOALS } from './goals.ts'
import { type Held, holdSockets } from './load/held-sockets.ts'
import { holdStreams } from './load/held-streams.ts'
import { climb, type Rung } from './rungs.ts'

const COUNT = 30

test.each(['tcp', 'ws'] as const)(
  'sessions held over %s count when they answer a last ping, and only then [S2-11.3-1]',
  async (transport) => {
    const running = await serve()
    const held = hold(holdSockets(transport, portOf(running, transport)))
    await held.open(COUNT)
    expect(await held.ping()).toBe(COUNT)
    await running.close()
    expect(await held.ping()).toBe(0)
  },
)

test('streams held count when their session answers and they tell of a change [S2-11.3-1]', async () => {
  const running = await serve()
  const held = hold(holdStreams(portOf(running, 'http')))
  await held.open(COUNT)
  expect(await held.ping()).toBe(COUNT)
  expect(await held.ping()).toBe(COUNT)
})

test('sessions that the server drops do not count', async () => {
  const sockets: Socket[] = []
  const server = createServerOf((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const held = hold(holdSockets('tcp', (server.address() as { readonly port: number }).port))
  await held.open(COUNT)
  for (const socket of sockets.slice(0, 10)) socket.destroy()
  expect(await held.ping()).toBe(COUNT - 10)
})

test('a session held costs a small part of 2 MB, both of its ends counted [S2-11.3-2]', async () => {
  const running = await serve()
  const held = hold(holdSockets('tcp', portOf(running, 'tcp')))
  await held.open(COUNT)
  const before = process.memoryUsage().rss
  await held.open(COUNT * 10)
  expect((process.memoryUsage().rss - before) / (COUNT * 10)).toBeLessThan(500_000)
  expect(await held.ping()).toBe(COUNT * 11)
})

test('the goals are 45,000 sessions over TCP, and 8 KB more for each than a bare socket costs [S2-11.3-1] [S2-11.3-2]', () => {
  expect(GOALS.filter(({ work }) => work === 'sessions held over TCP')).toEqual([
    { work: 'sessions held over TCP', unit: 'answered', of: 'value', least: 45_000 },
    { work: 'sessions held over TCP', unit: 'KB', of: 'above the limit', most: 8 },
  ])
})

const LIMIT = new URL('subjects/limit-memory.mjs', import.meta.url).href

test.each(['step', 'decode', 'ping', 'call'] as const)(
  'the rung %s of the ladder is climbed with every answer compared [S2-11.1-1]',
  async (rung) => {
    for (const whose of ['limit', 'ours'] as const) {
      const { count, seconds } = await climb({ rung, whose, subject: LIMIT, seconds: 0.05 })
      expect(count).toBeGreaterThan(0)
      expect(seconds).toBeGreaterThanOrEqual(0.05)
    }
  },
)

test.each<[string, Rung]>([
  ['wrong sums', 'call'],
  ['no result', 'ping'],
])('a server in memory that gives %s is not measured [S2-11.1-1]', async (_, rung) => {
  const body = `export const connect = (receive) => ({
    send(text) {
      const { id, method } = JSON.parse(text)
      if (method === 'initialize') receive('{}')
      else if (method === 'tools/call') receive(JSON.stringify({ id, result: { content: [{ text: '1' }] } }))
      else if (method === 'ping') receive(JSON.stringify({ id }))
    },
  })`
  const subject = `data:text/javascript,${encodeURIComponent(body)}`
  await expect(climb({ rung, whose: 'limit', subject, seconds: 0.05 })).rejects.toThrow('wrong answer')
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

/** Lets go of what is held when the test is over. */
function hold(held: Held): Held {
  onTestFinished(() => held.close())
  return held
}

/** A server that answers every request, and tells of its connections. */
function createServerOf(onSocket: (socket: Socket) => void): Server {
  return createNetServer((socket) => {
    onSocket(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      for (const [, id] of bytes.toString('utf8').matchAll(/"id":(\d+)/g))
        socket.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`)
    })
  })
}
