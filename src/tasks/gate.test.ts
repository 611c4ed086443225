import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { TaskCaller } from './plan.ts'

const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }
const DONE = { content: [] }

/** A node whose tool runs so many handlers at once. Handlers ask first if their name says so, then wait for their end. */
function nodeWith(concurrency: number) {
  const seen: string[] = []
  const ends = new Map<string, Deferred<Result>>()
  const node = new Node().tool(
    'work',
    async (run) => {
      const { key: name } = run.head!
      seen.push(`${name} begins`)
      const questions = name.includes('asks twice') ? ['sure', 'when'] : name.includes('asks') ? ['sure'] : []
      const ask = async (key: string): Promise<void> => {
        await run.question(key, QUESTION).catch(() => undefined)
        if (questions.length > 1) seen.push(`${name} hears ${key}`)
      }
      await Promise.all(questions.map(ask))
      if (questions.length > 0) seen.push(`${name} goes on`)
      const end = new Deferred<Result>()
      ends.set(name, end)
      return end.promise
    },
    { concurrency },
  )
  const start = async (name: string, owner = 'ann'): Promise<string> => {
    const { id } = await node.start('work', { key: name, caller: { owner, scope: owner } })
    await settled()
    return id
  }
  const answer = async (id: string, ...names: readonly string[]): Promise<void> => {
    const { owner } = (await node.store.head(id))!
    await node.tasks.answer(
      id,
      owner,
      names.map((name) => [name, { action: 'accept' }]),
    )
    await settled()
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)!.resolve(DONE)
    await settled()
  }
  return { node, seen, start, answer, end }
}

test('a task that waits for an answer leaves its place to another, and takes one again before it goes on', async () => {
  const { node, seen, start, end } = nodeWith(1)
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
  const { node, seen, start, end } = nodeWith(1)
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
  const { node, seen, end } = nodeWith(1)
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

test('a task with two open questions takes its place again once both are answered', async () => {
  const { seen, start, answer, end } = nodeWith(1)
  const asker = await start('a asks twice')
  await start('b')
  await answer(asker, 'sure.1')
  await end('b')
  // The place is free, although the task has one of its answers.
  await start('c')
  expect(seen).toEqual(['a asks twice begins', 'b begins', 'a asks twice hears sure', 'c begins'])
  await answer(asker, 'when.2')
  expect(seen).toHaveLength(4)
  await end('c')
  expect(seen.slice(4)).toEqual(['a asks twice hears when', 'a asks twice goes on'])
  await start('d')
  await end('a asks twice')
  expect(seen.slice(6)).toEqual(['d begins'])
})

test('answers that come together wait for the place together', async () => {
  const { seen, start, answer, end } = nodeWith(1)
  const asker = await start('a asks twice')
  await start('b')
  await answer(asker, 'sure.1', 'when.2')
  expect(seen).toHaveLength(2)
  await end('b')
  expect(seen.slice(2)).toEqual([
    'a asks twice hears sure',
    'a asks twice hears when',
    'a asks twice goes on',
  ])
})

test('a task that asks again while it waits for its place waits for the answer first', async () => {
  const seen: string[] = []
  const ends: Deferred<Result>[] = []
  const again = new Deferred<void>()
  const node = new Node().tool(
    'work',
    async (run) => {
      if (run.head!.key !== 'asks') {
        seen.push(`${run.head!.key} begins`)
        const end = new Deferred<Result>()
        ends.push(end)
        return end.promise
      }
      const first = run.question('sure', QUESTION).then(() => seen.push('hears sure'))
      const second = again.promise
        .then(() => run.question('when', QUESTION))
        .then(() => seen.push('hears when'))
      await Promise.all([first, second])
      return DONE
    },
    { concurrency: 1 },
  )
  const { id } = await node.start('work', { key: 'asks' })
  await settled()
  await node.start('work', { key: 'b' })
  await node.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
  again.resolve()
  await settled()
  await node.start('work', { key: 'c' })
  ends[0]!.resolve(DONE)
  await settled()
  expect(seen.filter((what) => what.endsWith('begins'))).toEqual(['b begins', 'c begins'])
  await node.tasks.answer(id, 'ann', [['when.2', { action: 'accept' }]])
  ends[1]!.resolve(DONE)
  await settled()
  expect(await node.status(id)).toBe('completed')
})

test('callers take turns with tasks that go on after an answer, too', async () => {
  const { seen, start, answer, end } = nodeWith(1)
  const names = ['a1 asks', 'a2 asks', 'a3 asks', 'a4 asks']
  const ids: string[] = []
  for (const name of names) ids.push(await start(name))
  await start('busy')
  for (const id of ids) await answer(id, 'sure.1')
  await start('b1', 'bob')
  await start('b2', 'bob')
  seen.length = 0
  for (const name of ['busy', 'a1 asks', 'b1', 'a2 asks', 'b2', 'a3 asks']) await end(name)
  expect(seen).toEqual([
    'a1 asks goes on',
    'b1 begins',
    'a2 asks goes on',
    'b2 begins',
    'a3 asks goes on',
    'a4 asks goes on',
  ])
})
