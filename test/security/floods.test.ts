import { expect, test } from 'vitest'
import type { Revision } from '../../src/protocol/revisions.ts'
import { heldBuffers, heldHeap } from '../harness/memory.ts'
import { endOf, until } from '../hostile/peer.ts'
import { meetFlood, type FloodWay } from './floods.ts'

const WAYS = ['stdio', 'tcp', 'ws'] as const
const SHORT = { timeout: 300, total: 1500 } as const
/** The pings of one turn, and those of a batch that began in it, for two turns that this test cannot tell apart. */
const MOST_PER_TURN = 2 * (128 + 100)
const MB = 1_048_576
/** A few messages of the largest size. */
const MOST_HELD = 6 * 16 * MB

function held(): number {
  return heldHeap() + heldBuffers()
}

const REQUESTS = WAYS.flatMap((way): (readonly [FloodWay, Revision, string])[] => [
  [way, '2025-03-26', 'batches'],
  [way, '2025-06-18', 'pings'],
  [way, '2025-11-25', 'pings'],
])

test.each(REQUESTS)(
  'C.flood-requests a call times out while the server floods the client with requests, over %s at %s in %s',
  async (way, revision, kind) => {
    const { client, pings, mostPerTurn, ticks } = await meetFlood(way, kind, { revision })
    expect(await endOf(client.call('flood', {}, SHORT))).toBe('timeout')
    const before = { pings: pings(), ticks: ticks() }
    // The flood goes on.
    await until(() => pings() > before.pings + 1000 && ticks() > before.ticks + 10)
    expect(mostPerTurn()).toBeLessThanOrEqual(MOST_PER_TURN)
    await client.close()
  },
)

test.each(WAYS)(
  'C.flood-unread replies that the server does not read take little memory, over %s',
  async (way) => {
    const { client, ticks } = await meetFlood(way, 'unread', { revision: '2025-11-25' })
    const before = held()
    expect(await endOf(client.call('flood', {}, SHORT))).toBe('timeout')
    const after = ticks()
    await until(() => ticks() > after + 100)
    expect(held() - before).toBeLessThan(32 * MB)
    await client.close()
  },
)

const KINDS = ['changes', 'logs', 'progress', 'answers', 'forms', 'unknown', 'giant']
const MESSAGES: (readonly [FloodWay, string])[] = [
  ...KINDS.map((kind) => ['tcp', kind] as const),
  ['stdio', 'logs'],
  ['stdio', 'stderr'],
  ['ws', 'logs'],
]

test.each(MESSAGES)(
  'C.flood-messages a call times out while the server floods the client, over %s with %s',
  async (way, kind) => {
    const answers = { elicit: () => new Promise<never>(() => undefined) }
    const { client, ticks } = await meetFlood(way, kind, { revision: '2025-11-25', answers })
    const before = held()
    expect(await endOf(client.call('flood', {}, SHORT))).toBe('timeout')
    const after = ticks()
    await until(() => ticks() > after + 10)
    expect(held() - before).toBeLessThan(MOST_HELD)
    await client.close()
  },
)

test('C.flood-requests a call times out while the server floods the client with control frames, over ws', async () => {
  const { client, ticks } = await meetFlood('ws', 'control', { revision: '2025-11-25' })
  expect(await endOf(client.call('flood', {}, SHORT))).toBe('timeout')
  const after = ticks()
  await until(() => ticks() > after + 10)
  await client.close()
})

test.each(WAYS)(
  'C.flood-requests connecting times out while the server floods the client with requests, over %s',
  async (way) => {
    const opening = meetFlood(way, 'opening', { revision: '2025-11-25', ...SHORT })
    expect(await endOf(opening)).toBe('timeout')
  },
)
