import { expect, test } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'

const DONE = { content: [] }
const COUNT = 1000

/** A node with many tasks whose time is over at the same moment, and how many were removed since the last turn of the event loop. */
async function expired(): Promise<{ node: Node; most: () => number }> {
  const limits = { tasks: COUNT, callerTasks: COUNT }
  const node = new Node({ limits }).tool('quick', () => DONE)
  for (let count = 0; count < COUNT; count++) await node.start('quick', { ttlMs: 1000, key: `${count}` })
  await settled()
  let [most, inTurn] = [0, 0]
  const expire = node.store.expire.bind(node.store)
  node.store.expire = (now, limit) => {
    const ids = expire(now, limit) as readonly string[]
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += ids.length
    most = Math.max(most, inTurn)
    return ids
  }
  node.clock.set(node.clock.now() + 1001)
  return { node, most: () => most }
}

test.each([
  ['a list', async (node: Node) => expect(await node.tasks.list({ limit: 10 })).toEqual([])],
  [
    'several lists',
    async (node: Node) => Promise.all([1, 2, 3].map(async () => node.tasks.list({ limit: 10 }))),
  ],
  ['a new task', (node: Node) => node.start('quick')],
  [
    'each of many new tasks',
    (node: Node) => Promise.all(Array.from({ length: 20 }, () => node.start('quick'))),
  ],
  ['a new task whose key is taken', (node: Node) => node.start('quick', { key: `${COUNT - 1}` })],
])('%s does not remove any number of tasks at once', async (_, act) => {
  const { node, most } = await expired()
  await act(node)
  expect(most()).toBeLessThanOrEqual(300)
})

test('a new task waits for no more removals than it needs', async () => {
  const { node } = await expired()
  await node.start('quick')
  expect((await node.store.list({ limit: COUNT })).length).toBeGreaterThan(COUNT / 2)
})
