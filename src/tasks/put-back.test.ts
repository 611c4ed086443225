import { expect, test } from 'vitest'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskRequest } from './record.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

function requestOf(bytes: number): TaskRequest {
  const nobody = { client: undefined, capabilities: {}, auth: undefined, ip: undefined }
  return { revision: '2026-07-28', params: { name: 'work', text: 'x'.repeat(bytes) }, ...nobody }
}

/** A store with tasks of these sizes, which a server gave up. */
async function left(
  ...sizes: readonly number[]
): Promise<{ store: MemoryTaskStore; clock: FakeClock; ids: readonly string[] }> {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const node = new Node({ store, clock, isInMemory: false }).tool('work', never, { onRestart: 'retry' })
  const ids: string[] = []
  for (const size of sizes) ids.push((await node.start('work', { request: requestOf(size) })).id)
  await node.tasks.upkeep.halt()
  // One after the other, so that they are claimed in this order.
  for (const id of ids) {
    await clock.pass(1)
    await node.tasks.release(node.tasks.runs.get(id)!, {})
  }
  await node.tasks.close(0)
  return { store, clock, ids }
}

/** A process whose handlers end when a test says so. */
function worker(
  store: MemoryTaskStore,
  clock: FakeClock,
  taskBytes: number,
): { readonly node: Node; readonly ends: Map<string, () => void> } {
  const ends = new Map<string, () => void>()
  const node = new Node({ store, clock, isInMemory: false, limits: { taskBytes } }).tool(
    'work',
    (run) => {
      const { id } = run.head!
      return new Promise((resolve) => ends.set(id, () => (ends.delete(id), resolve(DONE))))
    },
    { onRestart: 'retry' },
  )
  return { node, ends }
}

test('a task that waits for room begins as soon as there is some', async () => {
  const { store, clock, ids } = await left(10_000, 10_000)
  const { node, ends } = worker(store, clock, 60_000)
  await node.tasks.start()
  // The pauses have grown to 16 seconds.
  await clock.pass(20_000)
  expect([...ends.keys()]).toEqual([ids[0]])
  expect(store.head(ids[1]!)!.dueAt - clock.now()).toBeGreaterThan(5000)
  ends.get(ids[0]!)!()
  await clock.pass(0)
  expect([...ends.keys()]).toEqual([ids[1]])
})

test('of many tasks that wait for room, only those begin that have some', async () => {
  const { store, clock, ids } = await left(...Array<number>(12).fill(10_000))
  const { node, ends } = worker(store, clock, 340_000)
  await node.tasks.start()
  await clock.pass(20_000)
  expect(ends.size).toBe(3)
  let claimed = 0
  const claim = store.claim.bind(store)
  store.claim = (...args) => {
    const records = claim(...args)
    claimed += records.length
    return records
  }
  for (let ended = 0; ended < ids.length; ended++) {
    ;[...ends.values()][0]?.()
    await clock.pass(0)
  }
  expect(store.list({ status: 'completed', limit: 20 })).toHaveLength(ids.length)
  expect(claimed).toBe(ids.length - 3)
})

test('tasks that are too large for the room run, one at a time, even if others always run', async () => {
  const { store, clock, ids } = await left(...Array<number>(100).fill(10), 60_000, 60_000)
  const large = ids.slice(-2)
  const { node, ends } = worker(store, clock, 50_000)
  await node.tasks.start()
  const beside: number[] = []
  for (let seconds = 0; seconds < 90; seconds++) {
    await clock.pass(1000)
    const running = large.filter((id) => ends.has(id))
    if (running.length > 0) beside.push(ends.size - running.length)
    expect(running.length).toBeLessThan(2)
    for (const id of running) ends.get(id)!()
    const small = [...ends.keys()].find((id) => !large.includes(id))
    ends.get(small!)!()
  }
  expect(large.map((id) => store.head(id)?.status)).toEqual(['completed', 'completed'])
  expect(Math.min(...beside)).toBeGreaterThan(0)
})

test.each([true, false])(
  'a retry waits no longer than its pause if the wall clock is set back (in memory: %s)',
  async (isInMemory) => {
    const node = new Node({ isInMemory }).tool(
      'flaky',
      ({ attempt }) => {
        if (attempt === 1) throw new Error('broken')
        return DONE
      },
      { retries: 1 },
    )
    const { id } = await node.start('flaky')
    await settled()
    expect(await node.record(id)).toMatchObject({ status: 'working', attempt: 2, node: '' })
    node.clock.set(node.clock.now() - 600_000)
    await node.clock.pass(500)
    expect(await node.status(id)).toBe('working')
    await node.clock.pass(500)
    expect(await node.status(id)).toBe('completed')
  },
)

test('a task that another process has got is left alone when the wall clock is set back', async () => {
  const store = new MemoryTaskStore()
  const clock = new FakeClock()
  const flaky = ({ attempt }: { readonly attempt: number }): typeof DONE | Promise<typeof DONE> => {
    if (attempt === 1) throw new Error('broken')
    return never()
  }
  const [one, other] = [1, 2].map(() =>
    new Node({ store, clock, isInMemory: false }).tool('flaky', flaky, { retries: 1 }),
  ) as [Node, Node]
  const { id } = await one.start('flaky')
  await settled()
  await one.tasks.upkeep.halt()
  await other.tasks.start()
  await clock.pass(6000)
  const head = store.head(id)
  expect(head).toMatchObject({ node: other.tasks.node, attempt: 2 })
  clock.set(clock.now() - 600_000)
  await one.tasks.start()
  await clock.pass(6000)
  expect(store.head(id)).toEqual(head)
})
