import { expect, test } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Deferred } from '../base/deferred.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskHead } from './record.ts'

/** A store that answers when the test says, and counts. */
class Slow extends MemoryTaskStore {
  /** The numbers of tasks that were looked for together. */
  readonly asked: number[] = []
  heads = 0
  mostHeads = 0
  #now = 0
  gate: Promise<void> = Promise.resolve()

  override owned(ids: readonly string[], owner: string): never {
    this.asked.push(ids.length)
    return this.gate.then(() => super.owned(ids, owner)) as never
  }

  override head(id: string): never {
    this.heads++
    this.mostHeads = Math.max(this.mostHeads, ++this.#now)
    return this.gate.then(() => (this.#now--, super.head(id))) as never
  }
}

const unknown = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `unknown-${at}`)
const never = (): boolean => false
const idsOf = (heads: readonly TaskHead[]): readonly string[] => heads.map(({ id }) => id)

async function node(): Promise<{ node: Node; store: Slow; own: string; other: string }> {
  const store = new Slow()
  const made = new Node({ store, isInMemory: false }).tool('work', () => new Promise(() => undefined))
  const { id: own } = await made.start('work')
  const { id: other } = await made.start('work', { caller: { owner: 'bob', scope: 'bob' } })
  store.heads = 0
  return { node: made, store, own, other }
}

test('many tasks are found in few steps, and those of others do not exist', async () => {
  const {
    node: { tasks },
    store,
    own,
    other,
  } = await node()
  const ids = [...unknown(998), own, other]
  expect(idsOf(await tasks.lookups.of({ ids, owner: 'ann', caller: 'ann', isOver: never }))).toEqual([own])
  expect([store.asked, store.heads]).toEqual([[200, 200, 200, 200, 200], 0])
})

test('a store that reads one task in a step reads a few at the same time', async () => {
  const {
    node: { tasks },
    store,
    own,
    other,
  } = await node()
  Object.assign(store, { owned: undefined })
  const ids = [...unknown(98), own, other]
  expect(idsOf(await tasks.lookups.of({ ids, owner: 'ann', caller: 'ann', isOver: never }))).toEqual([own])
  expect([store.heads, store.mostHeads]).toEqual([100, 8])
})

test('requests of one caller wait for each other, and those of others do not', async () => {
  const {
    node: { tasks },
    store,
  } = await node()
  const gate = new Deferred<void>()
  store.gate = gate.promise
  const ids = unknown(10)
  const all = ['ann', 'ann', 'ann', 'bob'].map((caller) =>
    tasks.lookups.of({ ids, owner: caller, caller, isOver: never }),
  )
  await settled()
  expect(store.asked).toEqual([10, 10])
  gate.resolve()
  expect(await Promise.all(all)).toEqual([[], [], [], []])
  expect(store.asked).toEqual([10, 10, 10, 10])
})

test('a request that nobody waits for any more does not ask the store', async () => {
  const {
    node: { tasks },
    store,
  } = await node()
  const gate = new Deferred<void>()
  store.gate = gate.promise
  let isGone = false
  const ids = unknown(10)
  const first = tasks.lookups.of({ ids, owner: 'ann', caller: 'ann', isOver: never })
  const second = tasks.lookups.of({ ids, owner: 'ann', caller: 'ann', isOver: () => isGone })
  isGone = true
  gate.resolve()
  expect([await first, await second]).toEqual([[], []])
  expect(store.asked).toEqual([10])
})

test('those that wait fail with the one before them, and later ones ask again', async () => {
  const {
    node: { tasks },
    store,
    own,
  } = await node()
  const gate = new Deferred<void>()
  store.gate = gate.promise
  const find = (): Promise<readonly TaskHead[]> =>
    tasks.lookups.of({ ids: [own], owner: 'ann', caller: 'ann', isOver: never })
  const all = [find(), find(), find()].map((found) => found.catch((error: Error) => error.message))
  await settled()
  gate.reject(new Error('away'))
  expect(await Promise.all(all)).toEqual(['away', 'away', 'away'])
  expect(store.asked).toEqual([1])
  store.gate = Promise.resolve()
  expect(idsOf(await find())).toEqual([own])
})

test('tasks that many look at are found together; one alone needs no more than its head', async () => {
  const { node: made, store, own, other } = await node()
  const { lookups } = made.tasks
  const owned = await Promise.all(Array.from({ length: 20 }, () => made.start('work')))
  store.heads = 0
  const heads = await Promise.all(
    [...idsOf(owned), ...idsOf(owned), other, 'nobody'].map((id) => lookups.one(id, 'ann')),
  )
  expect(heads.map((head) => head?.id)).toEqual([...idsOf(owned), ...idsOf(owned), undefined, undefined])
  expect([store.asked, store.heads]).toEqual([[22], 0])
  expect((await lookups.one(own, 'ann'))?.id).toBe(own)
  expect([store.asked, store.heads]).toEqual([[22], 1])
})

test('whoever asks while tasks are read gets what the store has afterwards', async () => {
  const {
    node: { tasks },
    store,
    own,
  } = await node()
  const gate = new Deferred<void>()
  store.gate = gate.promise
  const first = tasks.lookups.one(own, 'ann')
  await settled()
  const second = tasks.lookups.one(own, 'ann')
  gate.resolve()
  expect((await first)?.version).toBe(1)
  expect((await second)?.version).toBe(1)
  expect(store.heads).toBe(2)
})

test('all who look at tasks learn that the store failed, and later ones ask again', async () => {
  const {
    node: { tasks },
    store,
    own,
  } = await node()
  const gate = new Deferred<void>()
  store.gate = gate.promise
  const all = [own, 'nobody'].map((id) => tasks.lookups.one(id, 'ann').catch((error: Error) => error.message))
  await settled()
  gate.reject(new Error('away'))
  expect(await Promise.all(all)).toEqual(['away', 'away'])
  store.gate = Promise.resolve()
  expect((await tasks.lookups.one(own, 'ann'))?.id).toBe(own)
})
