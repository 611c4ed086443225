import { afterEach, expect, test } from 'vitest'
import { closeListeners } from '../harness/connection-http.ts'
import { carries, TRANSPORTS } from '../harness/connection.ts'
import { Busy, expectFinished, expectQueued, expectRefused, OFTEN } from './busy.ts'

afterEach(() => closeListeners())

const KINDS = TRANSPORTS.flatMap((transport) =>
  (['2025-11-25', '2026-07-28'] as const)
    .filter((revision) => carries(transport, revision))
    .map((revision) => [transport, revision] as const),
)
// Over HTTP an unnamed caller of 2026-07-28 is known by its connection, of which each request may have its own.
const KNOWN = KINDS.filter(([transport, revision]) => transport !== 'http' || revision !== '2026-07-28')

test.each(KINDS)(
  'limits.queued requests that are too many for now wait and are answered; one more than may wait is refused, over %s at %s [S2-8.3-3]',
  async (...kind) => {
    const busy = await Busy.start(kind, { queued: 3, waitMs: 60_000 })
    for (const which of [0, 1, 2]) await expectQueued(busy, which, `of ${which}`)
    for (const which of [0, 1, 2]) await expectRefused(busy, which, 1001)
    expect(busy.app.counts.get('queue_full')).toBe(3)
    expect(busy.begun).toEqual(['first'])
    await expectFinished(busy)
  },
)

test.each(KINDS)(
  'limits.queuedBytes a request that is too large to wait is refused, smaller ones wait, over %s at %s [S2-8.3-3]',
  async (...kind) => {
    const busy = await Busy.start(kind, { queuedBytes: 3000, waitMs: 60_000 })
    await expectQueued(busy, 0, 'small')
    await expectRefused(busy, 1, 1002, 'x'.repeat(3000))
    await expectQueued(busy, 1, 'y'.repeat(1500))
    await expectRefused(busy, 2, 1002, 'x'.repeat(1500))
    expect(busy.app.counts.get('queue_bytes')).toBe(2)
    await expectFinished(busy)
  },
)

test.each(KNOWN)(
  'limits.queuedPerCaller one caller cannot take all places, and callers take turns, over %s at %s [S2-8.3-3]',
  async (...kind) => {
    const busy = await Busy.start(kind, { queuedPerCaller: 2, waitMs: 60_000 })
    for (const name of ['a1', 'a2']) await expectQueued(busy, 0, name)
    await expectRefused(busy, 0, 1003)
    for (const name of ['b1', 'b2']) await expectQueued(busy, 1, name)
    await expectRefused(busy, 1, 1003)
    expect(busy.app.counts.get('queue_share')).toBe(2)
    await expectFinished(busy)
    expect(busy.begun).toEqual(['first', 'a1', 'b1', 'a2', 'b2', 'after'])
  },
)

test.each(KINDS)(
  'limits.waitMs who waited for too long is told to come back, over %s at %s [S2-8.3-3]',
  async (...kind) => {
    const busy = await Busy.start(kind, { waitMs: 100 })
    await expectRefused(busy, 0, 1005)
    await expectRefused(busy, 1, 1005)
    expect(busy.app.counts.get('overloaded')).toBe(2)
    await expectFinished(busy)
    expect(busy.begun).toEqual(['first', 'after'])
  },
)

test.each(KINDS)(
  'limits.queued with 0 nobody waits: one request too many is refused at once, over %s at %s',
  async (...kind) => {
    const busy = await Busy.start(kind, { queued: 0, waitMs: 60_000 })
    await expectRefused(busy, 0, 1005)
    await expectRefused(busy, 1, 1005)
    expect(busy.load.waiting).toBe(0)
    await expectFinished(busy)
  },
)

test.each(KINDS)(
  'a request that is cancelled while it waits never begins, and frees its place, over %s at %s',
  async (...kind) => {
    const busy = await Busy.start(kind, { queued: 2, waitMs: 60_000 })
    const stop = new AbortController()
    const given = busy.client(1).call('wait', { name: 'given up' }, { signal: stop.signal })
    given.catch(() => undefined)
    await expect.poll(() => busy.load.waiting, OFTEN).toBe(1)
    await expectQueued(busy, 2, 'kept')
    await expectRefused(busy, 0, 1001)
    stop.abort()
    await expect.poll(() => busy.load.waiting, OFTEN).toBe(1)
    await expectQueued(busy, 0, 'instead')
    await expectFinished(busy)
    expect(busy.begun).toEqual(['first', 'kept', 'instead', 'after'])
  },
)

const LEAVING = KINDS.filter(([transport, revision]) => transport !== 'http' || revision === '2026-07-28')

test.each(LEAVING)(
  'a client that goes away while it waits frees its places, over %s at %s',
  async (transport, revision) => {
    const busy = await Busy.start([transport, revision], { waitMs: 60_000 })
    const leaving = busy.client(2)
    for (const name of ['one', 'two']) leaving.call('wait', { name }).catch(() => undefined)
    await expect.poll(() => busy.load.waiting, OFTEN).toBe(2)
    await leaving.close()
    await expect.poll(() => busy.load.waiting, OFTEN).toBe(0)
    busy.clients.pop()
    await expectFinished(busy)
    expect(busy.begun).toEqual(['first', 'after'])
  },
)

test('what is answered at once waits too when all places are taken, and what lasts takes none', async () => {
  const busy = await Busy.start(['memory', '2026-07-28'], { waitMs: 60_000 })
  const list = busy.client(1).request('tools/list')
  const listening = busy.client(2).follow({ lists: ['tools'] })
  await expect.poll(() => busy.load.waiting, OFTEN).toBe(2)
  await expectQueued(busy, 1, 'behind')
  busy.gate.open()
  expect(await list).toMatchObject({ tools: [{ name: 'wait' }] })
  ;(await listening)()
  expect(busy.load.running).toBe(0)
  await expectFinished(busy)
})

test('ten thousand requests through one place are all answered, each once', async () => {
  const busy = await Busy.start(['memory', '2025-11-25'], {
    waitMs: 60_000,
    queued: 20_000,
    queuedPerCaller: 20_000,
    inFlight: 20_000,
  })
  for (let number = 0; number < 10_000; number++)
    busy.answers.push(busy.client(number % 3).call('wait', { name: String(number) }))
  await expect.poll(() => busy.load.waiting, OFTEN).toBe(10_000)
  await expectFinished(busy)
  expect(new Set(busy.begun).size).toBe(10_002)
  expect(busy.begun).toHaveLength(10_002)
})
