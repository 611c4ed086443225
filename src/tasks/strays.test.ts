import { expect, test } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { Deferred } from '../base/deferred.ts'

const DONE = { content: [] }
const of = (owner: string): object => ({ caller: { owner, scope: owner } })
/** What takes more than 100,000 bytes. */
const keeps = ['x'.repeat(100_000)]

test.each([
  ['in memory', true],
  ['on disk', false],
])(
  'values that ctx.once keeps after the end of its task take no room: with a store %s',
  async (_, isInMemory) => {
    const made = new Deferred<string>()
    const node = new Node({ isInMemory }).tool('work', async (run) => {
      await run.once('text', () => made.promise)
      return DONE
    })
    const cancelled = await node.start('work')
    await node.start('work', { ttlMs: 1 })
    await settled()
    await node.tasks.cancel(cancelled.id, 'ann')
    await node.clock.pass(20_000)
    const before = node.tasks.bytes.total
    made.resolve('x'.repeat(100_000))
    await settled()
    expect(node.tasks.bytes.total).toBeLessThanOrEqual(before)
  },
)

test('questions that are asked after the end of their task take no room', async () => {
  const go = new Deferred<void>()
  const node = new Node({ isInMemory: false }).tool('work', async (run) => {
    await go.promise
    await run.question('q', { method: 'elicitation/create', params: { message: 'x'.repeat(100_000) } })
    return DONE
  })
  const { id } = await node.start('work')
  await settled()
  await node.tasks.cancel(id, 'ann')
  go.resolve()
  await settled()
  expect(node.tasks.bytes.total).toBe(0)
})

test.each([
  ['is cancelled', async (node: Node, id: string) => void (await node.tasks.cancel(id, 'ann'))],
  ['expires', (node: Node) => node.clock.pass(20_000)],
])('a handler that goes on after its task %s keeps its memory until it ends', async (_, end) => {
  const go = new Deferred<typeof DONE>()
  const node = new Node({ isInMemory: false }).tool('deaf', () => go.promise)
  const { id } = await node.start('deaf', { ttlMs: 10_000, keeps })
  await settled()
  await end(node, id)
  expect(node.tasks.runs.size).toBe(0)
  expect(node.tasks.bytes.total).toBeGreaterThan(100_000)
  go.resolve(DONE)
  await settled()
  expect(node.tasks.bytes.total).toBe(0)
})

test('a task that is cancelled before its handler begins frees its memory at once', async () => {
  const go = new Deferred<typeof DONE>()
  const node = new Node({ isInMemory: false }).tool('one', () => go.promise, { concurrency: 1 })
  await node.start('one')
  const { id } = await node.start('one', { keeps })
  await node.tasks.cancel(id, 'ann')
  await settled()
  expect(node.tasks.bytes.total).toBeLessThan(10_000)
  go.resolve(DONE)
})

/** A node whose handlers do not stop, and a function that leaves one of a caller behind. */
function deafNode(limits: { inFlight: number; allInFlight: number }): {
  node: Node
  ends: Deferred<typeof DONE>[]
  stray: (caller: object) => Promise<void>
} {
  const ends: Deferred<typeof DONE>[] = []
  const deaf = (): Promise<typeof DONE> => {
    ends.push(new Deferred())
    return ends.at(-1)!.promise
  }
  const node = new Node({ limits }).tool('deaf', deaf)
  const stray = async (caller: object): Promise<void> => {
    const { id, owner } = await node.start('deaf', caller)
    await node.tasks.cancel(id, owner)
  }
  return { node, ends, stray }
}

test('only as many handlers may go on after the end of their tasks as calls of one caller may run', async () => {
  const { ends, stray } = deafNode({ inFlight: 2, allInFlight: 100 })
  await stray(of('ann'))
  await stray(of('ann'))
  await expect(stray(of('ann'))).rejects.toMatchObject({ kind: 'too_many_calls' })
  await stray(of('bob'))
  for (const each of ends) each.resolve(DONE)
  await settled()
  await stray(of('ann'))
  expect(ends).toHaveLength(4)
})

test('handlers of many callers that do not stop leave a place for every other caller', async () => {
  const { stray } = deafNode({ inFlight: 10, allInFlight: 20 })
  const rejected: string[] = []
  for (let caller = 0; caller < 40; caller++)
    for (let count = 0; count < 10; count++)
      await stray(of(`caller ${caller}`)).catch(() => rejected.push(`${caller}`))
  // Each of them had at least one.
  expect(rejected.filter((caller) => caller === '0')).toHaveLength(5)
  expect(rejected.filter((caller) => caller === '39')).toHaveLength(9)
  await stray(of('eve'))
  await stray({ caller: { owner: '', scope: '', network: '10.0.0.1' } })
})

test('a handler that never stops frees its place after a while, but not its memory', async () => {
  const { node, stray } = deafNode({ inFlight: 1, allInFlight: 100 })
  await stray(of('ann'))
  await node.clock.pass(500_000)
  await expect(stray(of('ann'))).rejects.toMatchObject({ kind: 'too_many_calls' })
  const before = node.tasks.bytes.total
  await node.clock.pass(100_000)
  await stray(of('ann'))
  expect(node.tasks.bytes.total).toBeGreaterThan(before + 4000)
})
