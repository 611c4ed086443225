import { describe, expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import type { EventStore } from '../rpc/event-store.ts'
import { MemoryChangeBus } from '../store/changes-memory.ts'
import { MemoryEventStore } from '../store/events-memory.ts'
import { Lifetime } from '../store/lifetime.ts'
import { ChangeHistory, type PastChanges } from './change-history.ts'

const ROOM = { events: 10_000, bytes: 1 << 26, idleMs: 600_000 }
const LISTS = 'lists a'

/** Stores that several nodes share. Every hundredth message is a change of a list. */
class Shared {
  readonly events: MemoryEventStore = new MemoryEventStore(new Lifetime())
  changes: MemoryChangeBus = new MemoryChangeBus(new Lifetime())
  isAway = false

  /** A node that has heard of nothing up to a position. */
  history(after = 0): ChangeHistory {
    const events = new Proxy<EventStore>(this.events, {
      get: (target, name: keyof EventStore) => {
        const step = target[name] as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          if (this.isAway) throw mcpError(STORE_UNREACHABLE, {})
          return step.apply(target, args)
        }
      },
    })
    const history = new ChangeHistory({ events, changes: this.changes }, 'a')
    history.start(after)
    return history
  }

  /** Publishes messages, and tells nodes of them. */
  async publish(count: number, ...nodes: readonly ChangeHistory[]): Promise<void> {
    for (let number = 0; number < count; number++) {
      const position = this.changes.publish('')
      for (const node of nodes) hear(node, position)
      if (number % 100 === 0) await settle()
    }
    await settle()
  }

  /** The parts in the log. */
  parts(): readonly { readonly after: number; readonly upTo: number }[] {
    const page = this.events.read('changes', LISTS, -1, 10_000)
    return (page?.events ?? []).map(({ text }) => JSON.parse(text) as { after: number; upTo: number })
  }
}

function hear(node: ChangeHistory, position: number): void {
  if (position % 100 === 0) node.add({ position, change: { kind: 'tools' } })
  node.heard(position)
}

/** Lets everything happen that needs no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

const positionsOf = ({ changes }: PastChanges): readonly number[] => changes.map(({ position }) => position)
const hundreds = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => (from + at) * 100)

describe('a node that starts later', () => {
  test('knows all changes, although several nodes have written them down', async () => {
    const shared = new Shared()
    await shared.publish(9000, shared.history(), shared.history(), shared.history())
    const late = shared.history(6000)
    for (let position = 6001; position <= 9000; position++) hear(late, position)
    expect(late.hasAllAfter(150)).toBe(false)
    const found = await late.find(150, 9000)
    expect([positionsOf(found), found.lost]).toEqual([hundreds(2, 90), []])
    expect(late.hasAllAfter(0)).toBe(true)
  })

  test('does not rely on what was written down before a time that nobody has written down', async () => {
    const shared = new Shared()
    await shared.publish(4000, shared.history())
    // Programs of an older version write nothing down.
    await shared.publish(3000)
    const from = shared.changes.position()
    await shared.publish(4000, shared.history(from))
    const late = shared.history(9000)
    for (let position = 9001; position <= 11_000; position++) hear(late, position)
    expect((await late.find(3000, 11_000)).lost).toEqual(['lists', 'updates'])
    const found = await late.find(from, 11_000)
    expect([positionsOf(found), found.lost]).toEqual([hundreds(71, 110), []])
  })

  test('ignores what a later version has written', async () => {
    const shared = new Shared()
    const node = shared.history()
    await shared.publish(2500, node)
    for (const [at, text] of ['', '{}', '[]', '{"after":0,"upTo":9}', '{"after":"0"}'].entries())
      shared.events.append('changes', LISTS, { text, position: 2501 + at }, ROOM)
    await shared.publish(3500, node)
    const late = shared.history(3000)
    for (let position = 3001; position <= 6000; position++) hear(late, position)
    expect((await late.find(0, 6000)).lost).toEqual(['lists'])
  })

  test('asks again if the store was away', async () => {
    const shared = new Shared()
    await shared.publish(4000, shared.history())
    const late = shared.history(2000)
    shared.isAway = true
    await expect(late.find(0, 2000)).rejects.toThrow('store')
    shared.isAway = false
    expect(positionsOf(await late.find(0, 2000))).toEqual(hundreds(1, 20))
  })
})

test('a node that has missed messages knows what others have written down', async () => {
  const shared = new Shared()
  const [one, two] = [shared.history(), shared.history()]
  await shared.publish(100, one, two)
  await two.find(0, 100)
  await shared.publish(5000, one)
  two.beginAfter(3000)
  for (let position = 3001; position <= 5100; position++) hear(two, position)
  const found = await two.find(0, 5100)
  expect([positionsOf(found), found.lost]).toEqual([hundreds(1, 51), []])
})

test('a part that could not be written is written with the next one', async () => {
  const shared = new Shared()
  const node = shared.history()
  shared.isAway = true
  await shared.publish(4000, node)
  expect(shared.parts()).toEqual([])
  shared.isAway = false
  await shared.publish(2000, node)
  expect(shared.parts()[0]?.after).toBe(0)
})

describe('after the bus has lost its messages', () => {
  test('nobody relies on what was written down about them', async () => {
    const shared = new Shared()
    const node = shared.history()
    await shared.publish(5000, node)
    shared.changes = new MemoryChangeBus(new Lifetime())
    node.restart(0)
    await settle()
    expect(shared.parts()).toEqual([])
  })

  test('the store forgets it later if it is away then', async () => {
    const shared = new Shared()
    const node = shared.history()
    await shared.publish(5000, node)
    shared.isAway = true
    node.restart(0)
    await settle()
    shared.isAway = false
    for (let position = 1; position <= 2500; position++) hear(node, position)
    await settle()
    expect(shared.parts().every(({ upTo }) => upTo <= 2500)).toBe(true)
  })

  test.each([
    ['reads', 2000],
    ['writes', 0],
  ])('nobody relies on it if no node was there, and a new one %s', async (_, after) => {
    const shared = new Shared()
    await shared.publish(8000, shared.history())
    shared.changes = new MemoryChangeBus(new Lifetime())
    for (let position = 1; position <= 2100; position++) shared.changes.publish('')
    const node = shared.history(after)
    for (let position = after + 1; position <= 2100; position++) hear(node, position)
    const { changes } = await node.find(0, 2100)
    expect(positionsOf({ changes, lost: [] })).toEqual(after === 0 ? hundreds(1, 21) : [])
    await settle()
    expect(shared.parts().every(({ upTo }) => upTo <= 2100)).toBe(true)
  })
})

test('many long changes push out only their own kind, and what is kept is bounded', async () => {
  const shared = new Shared()
  const node = shared.history()
  const params = { text: 'x'.repeat(100_000) }
  node.add({ position: 1, change: { kind: 'tools' } })
  for (let position = 2; position <= 3000; position++) {
    shared.changes.publish('')
    node.add({ position, change: { kind: 'extension', id: 'e', method: 'e', params } })
    node.heard(position)
    await settle()
  }
  const { changes, lost } = await node.find(0, 3000)
  expect([changes, lost]).toEqual([[{ position: 1, change: { kind: 'tools' } }], ['updates']])
  const kept = shared.events.read('changes', 'updates a', -1, 10_000)?.events ?? []
  const bytes = kept.reduce((sum, { text }) => sum + text.length, 0)
  expect(kept.length).toBeGreaterThan(10)
  expect(bytes).toBeLessThanOrEqual(8 * 1024 * 1024)
  const last = await node.find(2900, 3000)
  expect([last.changes.length, last.lost]).toEqual([100, []])
})
