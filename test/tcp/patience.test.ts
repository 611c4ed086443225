import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'
import { dial, echo, greet, serve, type Reply, type Wire } from './wire.ts'

const LATEST = '2026-07-28'
const LIMITS = { bodyMs: 10_000, idleMs: 20_000, sessionIdleMs: 60_000 }
const HALF = '{"jsonrpc":"2.0",'

/** A server whose time passes when the test says so. */
async function listen(): Promise<{ readonly app: AnyApp; readonly address: string }> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  // Clocks that have run for long show what is counted from zero by mistake.
  vi.advanceTimersByTime(1_000_000)
  const app = createServer({ name: 'patient', version: '1', limits: LIMITS, log: () => undefined }).tool(
    'echo',
    { input: { type: 'object' } },
    (input) => String((input as { text?: unknown }).text),
  ) as AnyApp
  return { app, address: (await serve(app)).addresses.tcp as string }
}

/** Resolves when the server has seen the connections and the bytes that came before. */
async function settled(address: string): Promise<void> {
  const other = await dial(address)
  await other.write(echo(LATEST, 1), '\n')
  await other.heard(1)
  other.socket.destroy()
}

/** What the server says when the rest of a message came. */
async function answer(wire: Wire, rest: string): Promise<Reply | undefined> {
  const before = wire.said.split('\n').length
  await wire.write(rest)
  return (await wire.heard(before)).at(-1)
}

const [FIRST, REST] = [echo(LATEST, 7).slice(0, 20), `${echo(LATEST, 7).slice(20)}\n`]

test('a first message that starts late gets the full timeout, and no more', async () => {
  const { app, address } = await listen()
  const slow = await dial(address)
  await settled(address)
  vi.advanceTimersByTime(9_000)
  await slow.write(FIRST)
  await settled(address)
  vi.advanceTimersByTime(10_000)
  expect(await answer(slow, REST)).toMatchObject({ id: 7, result: {} })
  await slow.write(HALF)
  await settled(address)
  vi.advanceTimersByTime(12_001)
  await slow.ended()
  expect(app.counts.get('slow_sender')).toBe(1)
})

test('each message has its own timeout, however long the previous one took', async () => {
  const { app, address } = await listen()
  const slow = await dial(address)
  for (let count = 1; count <= 3; count++) {
    await slow.write(FIRST)
    await settled(address)
    vi.advanceTimersByTime(8_000)
    expect(await answer(slow, REST)).toMatchObject({ id: 7, result: {} })
    await settled(address)
  }
  expect(app.counts.get('slow_sender') ?? 0).toBe(0)
})

test('a client that never sent anything times out sooner than one that did', async () => {
  const { app, address } = await listen()
  const [silent, known] = [await dial(address), await dial(address)]
  await answer(known, `${echo(LATEST, 1)}\n`)
  vi.advanceTimersByTime(20_000)
  expect([silent.socket.readableEnded, app.counts.get('session_expired') ?? 0]).toEqual([false, 0])
  vi.advanceTimersByTime(2_000)
  await silent.ended()
  expect(app.counts.get('session_expired')).toBe(1)
  vi.advanceTimersByTime(36_000)
  expect(app.counts.get('session_expired')).toBe(1)
  vi.advanceTimersByTime(4_000)
  await known.ended()
  expect(app.counts.get('session_expired')).toBe(2)
})

test('a connection on which only the server sends is not idle', async () => {
  const { app, address } = await listen()
  const listener = await greet(await dial(address))
  await listener.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await settled(address)
  for (let count = 1; count <= 3; count++) {
    vi.advanceTimersByTime(40_000)
    expect(app.counts.get('session_expired') ?? 0).toBe(0)
    app.tool(`new-${count}`, {}, () => 'ok')
    expect(await listener.heard(count)).toHaveLength(count)
  }
  vi.advanceTimersByTime(64_000)
  await listener.ended()
  expect(app.counts.get('session_expired')).toBe(1)
})
