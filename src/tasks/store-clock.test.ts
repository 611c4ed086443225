import { expect, test } from 'vitest'
import { FakeClock } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskStore } from './store.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

/** A store with a clock of its own, and two nodes whose clocks are ahead of it by so many milliseconds. */
async function startTwo(aheadMs: readonly [number, number]) {
  const own = new FakeClock()
  const kept = new MemoryTaskStore()
  const store: TaskStore = Object.assign(kept, { now: () => own.now() })
  const clocks = aheadMs.map((ms) => {
    const clock = new FakeClock()
    clock.set(clock.now() + ms)
    return clock
  })
  const nodes = clocks.map((clock) => new Node({ clock, store, isInMemory: false }))
  const begun: number[] = []
  for (const [at, node] of nodes.entries())
    node.tool(
      'work',
      () => {
        begun.push(at)
        return never()
      },
      { onRestart: 'retry', ttlMs: 60_000 },
    )
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1000)
      for (const clock of [own, ...clocks]) await clock.pass(1000)
  }
  for (const node of nodes) await node.tasks.start()
  return { nodes: nodes as [Node, Node], begun, own, pass }
}

test.each([
  [0, 90_000],
  [90_000, 0],
  [0, -90_000],
  [-90_000, 0],
])('nodes ahead by %i and %i ms keep to the time of the store', async (one, two) => {
  const { nodes, begun, own, pass } = await startTwo([one, two])
  const { id, createdAt } = await nodes[0].start('work')
  expect(Math.abs(createdAt - own.now())).toBeLessThan(100)
  await pass(50_000)
  // Neither was it claimed, nor is its time over.
  expect(begun).toEqual([0])
  expect(await nodes[1].tasks.find(id, 'ann')).toMatchObject({ status: 'working' })
  await pass(25_000)
  expect(await nodes[1].tasks.find(id, 'ann')).toBeUndefined()
})

test('tasks of a dead node are claimed after its lease, by the time of the store', async () => {
  const { nodes, begun, pass } = await startTwo([0, -90_000])
  await nodes[0].start('work')
  await nodes[0].tasks.upkeep.stop()
  await pass(25_000)
  expect(begun).toEqual([0, 1])
})

test('the first task of a node that has just begun has the time of the store', async () => {
  const own = new FakeClock()
  const store: TaskStore = Object.assign(new MemoryTaskStore(), { now: () => Promise.resolve(own.now()) })
  const clock = new FakeClock()
  clock.set(1)
  const node = new Node({ clock, store, isInMemory: false }).tool('work', never)
  expect((await node.start('work')).createdAt).toBe(own.now())
})
