import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { hooked } from '../../test/harness/task-hooks.ts'
import type { Result } from '../rpc/dispatch.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskChange } from './store.ts'

const DONE = { content: [] }

/** Two processes with the same store. Their tool runs one handler at once, and cannot be repeated; handlers of the first wait to be ended. */
function processes() {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const changes: unknown[] = []
  const hold: { begin?: Promise<void> } = {}
  const slow = hooked(store, {
    before: (step, args) => {
      if (step !== 'change') return undefined
      const change = args[2] as TaskChange
      changes.push(change)
      return change.status === 'working' && change.dueAt === 0 ? hold.begin : undefined
    },
  })
  const ends = new Map<string, Deferred<Result>>()
  const first = new Node({ store: slow, clock, isInMemory: false }).tool(
    'work',
    (run) => {
      const end = new Deferred<Result>()
      ends.set(run.head!.key, end)
      return end.promise
    },
    { concurrency: 1 },
  )
  const ran: string[] = []
  const second = new Node({ store, clock, isInMemory: false }).tool('work', (run) => {
    ran.push(`${run.head!.key} ${run.attempt}`)
    return DONE
  })
  const start = async (key: string): Promise<string> => (await first.start('work', { key })).id
  /** The first one dies, as far as others can see. */
  const takeOver = async (): Promise<void> => {
    await first.tasks.upkeep.halt()
    store.beat(first.tasks.node, 0)
    await second.tasks.start()
    await clock.pass(0)
  }
  return { store, first, second, changes, hold, ends, ran, start, takeOver }
}

test('tasks that wait for a place when their process dies run elsewhere; the one that runs is lost', async () => {
  const { store, ran, start, takeOver } = processes()
  const [a, b] = await Promise.all(['a', 'b'].map(start))
  await settled()
  const c = await start('c')
  await takeOver()
  expect(ran.toSorted()).toEqual(['b 1', 'c 1'])
  expect([a, b, c].map((id) => store.head(id!)?.status)).toEqual(['failed', 'completed', 'completed'])
  expect(store.get(a!)?.outcome).toContain('task_lost')
})

test('a task that has waited is lost with its process once its handler has begun', async () => {
  const { store, ends, ran, start, takeOver } = processes()
  await start('a')
  await settled()
  const b = await start('b')
  ends.get('a')!.resolve(DONE)
  await settled()
  expect([...ends.keys()]).toEqual(['a', 'b'])
  await takeOver()
  expect(ran).toEqual([])
  expect(store.get(b)).toMatchObject({ status: 'failed', outcome: expect.stringContaining('task_lost') })
})

test('only tasks that wait are written when they begin', async () => {
  const { changes, ends, start } = processes()
  await start('a')
  await settled()
  await start('b')
  await settled()
  expect(changes).toEqual([])
  ends.get('a')!.resolve(DONE)
  await settled()
  expect(changes).toHaveLength(2)
  expect(changes).toContainEqual(expect.objectContaining({ status: 'completed' }))
  expect(changes).toContainEqual(expect.objectContaining({ status: 'working', dueAt: 0 }))
})

/** The second of three tasks has a place, but the store does not know yet that it begins. */
async function beginning() {
  const all = processes()
  const ids: string[] = []
  for (const key of ['a', 'b', 'c']) {
    ids.push(await all.start(key))
    await settled()
  }
  const door = new Deferred<void>()
  all.hold.begin = door.promise
  all.ends.get('a')!.resolve(DONE)
  await settled()
  expect([...all.ends.keys()]).toEqual(['a'])
  return { ...all, ids, door }
}

test('a handler begins once the store knows it', async () => {
  const { ends, door } = await beginning()
  door.resolve()
  await settled()
  expect([...ends.keys()]).toEqual(['a', 'b'])
})

test('a task that another process cancels before its handler begins leaves its place to the next one', async () => {
  const { second, ids, ends, store, door } = await beginning()
  await second.tasks.cancel(ids[1]!, 'ann')
  door.resolve()
  await settled()
  expect(store.head(ids[1]!)?.status).toBe('cancelled')
  expect([...ends.keys()]).toEqual(['a', 'c'])
})

test('a task whose process closes before its handler begins is given back', async () => {
  const { first, ids, ends, store, door } = await beginning()
  const closing = first.tasks.close(0)
  door.resolve()
  await closing
  await settled()
  expect([...ends.keys()]).toEqual(['a'])
  const waiting = { status: 'working', node: '', attempt: 1 }
  expect(ids.slice(1).map((id) => store.head(id))).toMatchObject([waiting, waiting])
})
