import { Agent } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { BOTH, call, headed, initialize } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { begin, Raw, send } from '../http/wire.ts'
import { Program } from './program.ts'

const KIB = 1024
const MIB = 1024 * KIB

function agentOf(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets })
  onTestFinished(() => agent.destroy())
  return agent
}

/** Calls one after the other, all of which are answered. */
async function expectServed(port: number, calls: number): Promise<void> {
  const agent = agentOf(1)
  for (let id = 0; id < calls; id++) expect((await send(port, { ...echo(id), agent })).status).toBe(200)
}

const echo = (id: number): ReturnType<typeof headed> =>
  headed('tools/call', { name: 'echo', arguments: { text: 'x' } }, id)

test('a thousand open streams cost little and keep nobody from being served, whatever the revision [L3]', async () => {
  // On a busy machine, opening so many at once would otherwise be shed.
  const program = await Program.start({ limits: { waitMs: 60_000 } })
  const { port } = program
  await expectServed(port, 20)
  const before = await program.state()
  const listen = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const streams = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const session = await open(port)
      const own = begin(port, {
        method: 'GET',
        headers: { ...session.headers, accept: 'text/event-stream' },
      })
      return Promise.all([own, begin(port, listen)])
    }),
  )
  onTestFinished(() => streams.flat().forEach((response) => response.destroy()))
  for (const response of streams.flat()) {
    expect(response.statusCode).toBe(200)
    response.on('error', () => undefined).resume()
  }
  const held = await program.state()
  expect((held.heap - before.heap) / 1000).toBeLessThan(20 * KIB)
  expect(held.sessions).toBe(500)
  await expectServed(port, 50)
  streams.flat().forEach((response) => response.destroy())
  await expect.poll(async () => (await program.state()).running).toBe(0)
})

test('ten thousand sessions are held, and end when nobody used them for their time [L4]', async () => {
  const program = await Program.start({ limits: { sessionIdleMs: 6000, keepAliveMs: 300 } })
  const agent = agentOf(32)
  const before = await program.state()
  for (let round = 0; round < 10; round++) {
    const opened = await Promise.all(
      Array.from({ length: 1000 }, () => send(program.port, { body: initialize(), headers: BOTH, agent })),
    )
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
  }
  const held = await program.state()
  expect((held.heap - before.heap) / 10_000).toBeLessThan(4 * KIB)
  await expect.poll(async () => (await program.state()).sessions).toBe(0)
  const { heap, counts } = await program.state()
  expect(counts['session_expired']).toBe(10_000)
  expect(heap - before.heap).toBeLessThan(8 * MIB)
}, 120_000)

test('three hundred abandoned sessions leave when their time is over [S.flood]', async () => {
  const program = await Program.start({ limits: { sessionIdleMs: 500, keepAliveMs: 200 } })
  await Promise.all(Array.from({ length: 300 }, () => open(program.port)))
  await expect.poll(async () => (await program.state()).sessions).toBe(0)
  expect((await program.state()).counts['session_expired']).toBe(300)
})

test('twenty clients that do not read four megabytes keep nobody from being served [L7] [F12]', async () => {
  const program = await Program.start()
  const { port } = program
  await expectServed(port, 20)
  const before = await program.state()
  const request = headed('tools/call', { name: 'big', arguments: { of: 4 * MIB } })
  const slow = await Promise.all(Array.from({ length: 20 }, () => begin(port, request)))
  onTestFinished(() => slow.forEach((response) => response.destroy()))
  slow.forEach((response) => response.on('error', () => undefined).pause())
  await expectServed(port, 100)
  const held = await program.state()
  expect(held.rss - before.rss).toBeLessThan(200 * MIB)
  expect(held.unsent).toBeGreaterThan(20 * MIB)
  slow.forEach((response) => response.destroy())
  await expect.poll(async () => (await program.state()).unsent).toBe(0)
})

test.each(['2026-07-28', '2025-11-25'])(
  'two hundred clients that vanish in the middle of a call leave nothing at %s [H.abort-200]',
  async (revision) => {
    const program = await Program.start({ limits: { sessionIdleMs: 1000, keepAliveMs: 200 } })
    const { port } = program
    await expectServed(port, 20)
    const before = await program.state()
    const vanish = async (): Promise<void> => {
      const raw = new Raw(port)
      const { body, headers } =
        revision === '2026-07-28'
          ? headed('tools/call', { name: 'sleep', arguments: { of: 500 } })
          : { body: call('sleep', { of: 500 }), headers: (await open(port)).headers }
      const head = Object.entries({ host: 'localhost', 'content-length': String(body.length), ...headers })
      raw.write(`POST /mcp HTTP/1.1\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
      raw.destroy()
    }
    await Promise.all(Array.from({ length: 200 }, vanish))
    await expect
      .poll(async () => {
        const { running, sessions } = await program.state()
        return running + sessions
      })
      .toBe(0)
    const after = await program.state()
    const sockets = (names: readonly string[]): number =>
      names.filter((name) => name === 'TCPSocketWrap').length
    await expect.poll(async () => sockets((await program.state()).resources)).toBeLessThanOrEqual(1)
    expect(after.heap - before.heap).toBeLessThan(4 * MIB)
    expect((await send(port, echo(1))).status).toBe(200)
  },
)
