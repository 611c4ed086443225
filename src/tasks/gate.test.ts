import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { TaskCaller } from './plan.ts'

const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }
const DONE = { content: [] }

/** A node whose tool runs one handler at once. Handlers ask first if their name says so, then wait for their end. */
function oneByOne() {
  const seen: string[] = []
  const ends = new Map<string, Deferred<Result>>()
  const node = new Node().tool(
    'work',
    async (run) => {
      const { key: name } = run.head!
      seen.push(`${name} begins`)
      if (name.includes('asks')) {
        await run.question('sure', QUESTION).catch(() => undefined)
        seen.push(`${name} goes on`)
      }
      const end = new Deferred<Result>()
      ends.set(name, end)
      return end.promise
    },
    { concurrency: 1 },
  )
  const start = async (name: string): Promise<string> => {
    const { id } = await node.start('work', { key: name })
    await settled()
    return id
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)!.resolve(DONE)
    await settled()
  }
  return { node, seen, start, end }
}

test('a task that waits for an answer leaves its place to another, and takes one again before it goes on', async () => {
  const { node, seen, start, end } = oneByOne()
  const asker = await start('a asks')
  await start('b')
  await start('c')
  expect(seen).toEqual(['a asks begins', 'b begins'])
  await node.tasks.answer(asker, 'ann', [['sure.1', { action: 'accept' }]])
  await settled()
  expect(seen).toHaveLength(2)
  // Work that has begun comes before work that has not.
  await end('b')
  expect(seen.slice(2)).toEqual(['a asks goes on'])
  await end('a asks')
  expect(seen.slice(3)).toEqual(['c begins'])
  await end('c')
  await start('d')
  expect(seen.slice(4)).toEqual(['d begins'])
})

test('a task that is cancelled while it waits for an answer, or for its place, takes no place', async () => {
  const { node, seen, start, end } = oneByOne()
  const asker = await start('a asks')
  const other = await start('b asks')
  await start('c')
  expect(seen).toEqual(['a asks begins', 'b asks begins', 'c begins'])
  await node.tasks.answer(asker, 'ann', [['sure.1', { action: 'accept' }]])
  await node.tasks.cancel(asker, 'ann')
  await node.tasks.cancel(other, 'ann')
  await settled()
  expect(new Set(seen.slice(3))).toEqual(new Set(['a asks goes on', 'b asks goes on']))
  await start('d')
  expect(seen).toHaveLength(5)
  await end('c')
  expect(seen.slice(5)).toEqual(['d begins'])
  await end('a asks')
  await end('b asks')
  await start('e')
  expect(seen).toHaveLength(6)
})

test('callers take turns: one with many tasks that wait keeps nobody else waiting for all of them', async () => {
  const { node, seen, end } = oneByOne()
  const startFor = async (name: string, caller: TaskCaller): Promise<void> => {
    await node.start('work', { key: name, caller })
    await settled()
  }
  const ann = { owner: 'ann', scope: 'ann' }
  const anonymous = (session: string): TaskCaller => ({ owner: '', scope: session, network: '192.0.2.1' })
  for (const name of ['a1', 'a2', 'a3', 'a4']) await startFor(name, ann)
  for (const name of ['s1', 's2', 's3']) await startFor(name, anonymous(`session ${name}`))
  await startFor('b1', { owner: 'bob', scope: 'bob' })
  for (const name of ['a1', 'a2', 's1', 'b1', 'a3', 's2', 'a4', 's3']) await end(name)
  expect(seen).toEqual(['a1', 'a2', 's1', 'b1', 'a3', 's2', 'a4', 's3'].map((name) => `${name} begins`))
})
