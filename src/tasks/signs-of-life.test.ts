import { expect, test } from 'vitest'
import { FakeClock } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskStore } from './store.ts'

const LEASE_MS = 15_000
const never = (): Promise<never> => new Promise(() => undefined)

/** A store that notes when it got signs of life, and a node that uses it. */
function watched(changes: (clock: FakeClock, kept: MemoryTaskStore) => Partial<TaskStore> = () => ({})) {
  const clock = new FakeClock()
  const kept = new MemoryTaskStore()
  const beat = kept.beat.bind(kept)
  const signs: number[] = []
  const untils: number[] = []
  const own = changes(clock, kept)
  const store = Object.assign(kept, own, {
    leaseMs: LEASE_MS,
    beat(node: string, until: number) {
      const take = (): void => {
        signs.push(clock.elapsed())
        untils.push(until)
        return beat(node, until)
      }
      const before = own.beat?.(node, until)
      return before instanceof Promise ? before.then(take) : take()
    },
  }) as TaskStore
  const node = new Node({ clock, store, isInMemory: false }).tool('work', never, { onRestart: 'retry' })
  const longestGap = (): number =>
    Math.max(...signs.map((at, index) => (signs[index + 1] ?? clock.elapsed()) - at))
  return { clock, store, node, signs, untils, longestGap }
}

/** Passes in small steps, so that promises are settled in between. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) await clock.pass(500)
}

test('a node gives three signs of life per lease, although reading the time of the store takes a while', async () => {
  const { clock, node, longestGap } = watched((clock) => ({
    now: () => new Promise((resolve) => void clock.after(300, () => resolve(clock.now()))),
  }))
  const starting = node.tasks.start()
  await pass(clock, 60_000)
  await starting
  expect(longestGap()).toBeLessThanOrEqual(LEASE_MS / 3)
})

test('a sign of life that the store does not take is given again long before the lease is over', async () => {
  let calls = 0
  const { clock, node, longestGap } = watched(() => ({
    beat() {
      if (++calls % 2 === 0) throw new Error('the store is away')
    },
  }))
  await node.tasks.start()
  await pass(clock, 60_000)
  expect(longestGap()).toBeLessThanOrEqual(LEASE_MS / 2)
  expect(node.reports).toContain('the task store failed')
})

test('a store that stays away is reported once for all signs of life that fail', async () => {
  let isAway = false
  const { clock, node, signs } = watched(() => ({
    beat() {
      if (isAway) throw new Error('the store is away')
    },
  }))
  await node.tasks.start()
  isAway = true
  await clock.pass(LEASE_MS / 3 + 4000)
  expect(node.reports).toEqual(['the task store failed'])
  isAway = false
  await clock.pass(LEASE_MS)
  expect(signs.length).toBeGreaterThan(3)
})

test('a look at the store that takes long delays no sign of life', async () => {
  const { clock, node, longestGap } = watched(() => ({ expire: () => never() }))
  await node.tasks.start()
  await pass(clock, 60_000)
  expect(longestGap()).toBeLessThanOrEqual(LEASE_MS / 3)
})

test('after a store was away for longer than a lease, the tasks of nodes that live are not claimed', async () => {
  let isAway = false
  const { clock, store, node } = watched(() => ({
    beat() {
      if (isAway) throw new Error('the store is away')
    },
  }))
  let begun = 0
  const other = new Node({ clock, store, isInMemory: false }).tool(
    'work',
    () => {
      begun++
      return never()
    },
    { onRestart: 'retry' },
  )
  // The one without a task comes first whenever both are due.
  await other.tasks.start()
  await node.start('work')
  isAway = true
  await pass(clock, 2 * LEASE_MS)
  isAway = false
  await pass(clock, 2 * LEASE_MS)
  expect(begun).toBe(0)
})

test('a node that stopped gives no sign of life, and is dead at once', async () => {
  const { clock, node, signs, untils } = watched()
  await node.tasks.start()
  await node.tasks.close(0)
  expect(untils.at(-1)).toBe(clock.now())
  const given = signs.length
  await pass(clock, 60_000)
  expect([signs.length, clock.timers]).toEqual([given, 0])
})
