import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'
import { failure } from '../hostile/peer.ts'
import { Gate } from '../http/server.ts'
import { createRelay } from './relay.ts'
import { after, serve } from './wire.ts'

function make(gate: Gate = new Gate()): AnyApp {
  return createServer({ name: 'pooled', version: '1', log: () => undefined })
    .tool('echo', { input: { type: 'object' } }, (input) => String((input as { at?: unknown }).at))
    .tool('wait', {}, async (_, { signal }) => {
      signal.addEventListener('abort', () => gate.open())
      await gate.opened
      return 'waited'
    }) as AnyApp
}

test('requests of 2026-07-28 use several connections in turn, and every response reaches its request [S2-10.3-5]', async () => {
  const relay = await createRelay((await serve(make())).addresses.tcp as string)
  const client = await connect(relay.url, { connections: 4 })
  after(() => client.close())
  expect(relay.sent).toHaveLength(1)
  // What is asked before the others are open goes over the first.
  await expect
    .poll(async () => {
      await Promise.all([1, 2, 3, 4].map((at) => client.call('echo', { at })))
      return relay.sent.length
    })
    .toBe(4)
  const before = [...relay.sent]
  const calls = Array.from({ length: 400 }, (_, at) => client.call('echo', { at }))
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 400 }, (_, at) => String(at)))
  const each = relay.sent.map((bytes, at) => bytes - (before[at] ?? 0))
  for (const bytes of each) expect(bytes).toBeGreaterThan(Math.max(...each) / 2)
})

test('a request is cancelled on whichever connection carries it', async () => {
  for (let round = 0; round < 4; round++) {
    const app = make()
    const relay = await createRelay((await serve(app)).addresses.tcp as string)
    const client = await connect(relay.url, { connections: 3 })
    after(() => client.close())
    await expect
      .poll(async () => {
        await Promise.all([1, 2, 3].map((at) => client.call('echo', { at })))
        return relay.sent.length
      })
      .toBe(3)
    for (let at = 0; at < round; at++) await client.call('echo', { at })
    const stop = new AbortController()
    const waiting = failure(client.call('wait', {}, { signal: stop.signal }))
    await expect.poll(() => serviceOf(app).load.running).toBe(1)
    stop.abort()
    expect((await waiting).kind).toBe('cancelled')
    await expect.poll(() => serviceOf(app).load.running).toBe(0)
  }
})

test('a lost connection fails only its own requests, and is opened again', async () => {
  const app = make()
  const relay = await createRelay((await serve(app)).addresses.tcp as string)
  const client = await connect(relay.url, { connections: 2 })
  after(() => client.close())
  await expect
    .poll(async () => {
      await Promise.all([1, 2].map((at) => client.call('echo', { at })))
      return relay.sent.length
    })
    .toBe(2)
  relay.cut(1)
  // What is on its way on that connection is lost; what comes after it is not.
  const ask = (): Promise<unknown[]> => Promise.all([1, 2, 3, 4].map((at) => client.call('echo', { at })))
  await expect.poll(() => ask().catch(() => [])).toEqual(['1', '2', '3', '4'])
  expect(client.state).toBe('ready')
  await expect
    .poll(
      async () => {
        await Promise.all([1, 2].map((at) => client.call('echo', { at })))
        return relay.sent.length
      },
      { timeout: 4000 },
    )
    .toBe(3)
  relay.cut(0)
  await expect.poll(() => client.call('echo', { at: 5 }).catch(() => 'lost')).toBe('5')
})

test('older revisions, whose requests share a session, use one connection', async () => {
  const relay = await createRelay((await serve(make())).addresses.tcp as string)
  const client = await connect(relay.url, { connections: 4, revision: '2025-11-25' })
  after(() => client.close())
  await Promise.all(Array.from({ length: 40 }, (_, at) => client.call('echo', { at })))
  expect(relay.sent).toHaveLength(1)
})

test('an invalid number of connections is rejected', async () => {
  for (const connections of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    await expect(connect('tcp://127.0.0.1:1', { connections })).rejects.toThrow('a whole number above 0')
})
