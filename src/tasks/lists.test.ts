import { expect, test } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { withOwnKey } from './key.ts'

test('a page is full although tasks on it have expired and are not removed yet', async () => {
  const node = new Node().tool('work', () => ({ content: [] }))
  for (let at = 0; at < 8; at++) await node.start('work', at % 3 === 1 ? { ttlMs: 1 } : {})
  await settled()
  await node.clock.pass(10)
  const first = await node.tasks.list({ scope: 'ann', limit: 3 })
  expect(first).toHaveLength(3)
  const rest = await node.tasks.list({ scope: 'ann', limit: 3, after: first.at(-1)!.id })
  expect(rest).toHaveLength(2)
})

test('tasks for operators are copies', async () => {
  const node = new Node().tool('work', () => ({ content: [] }))
  const { id } = await node.start('work')
  await settled()
  const [head] = (await node.tasks.list({ limit: 1 })).map(withOwnKey)
  Object.assign(head!, { status: 'working', version: 77 })
  expect(await node.record(id)).toMatchObject({ status: 'completed', version: 2 })
})
