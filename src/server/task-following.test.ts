import { expect, test, vi } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Deferred } from '../base/deferred.ts'
import { DIALECTS } from '../protocol/switches.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Run } from '../tasks/run.ts'
import type { TaskHead } from '../tasks/record.ts'
import { followTasks, type TaskListener } from './task-following.ts'

test('a follower hears of each status at once, and of other changes no more often than it may poll', async () => {
  const heard: unknown[] = []
  const end = new Deferred<JsonObject>()
  let running: Run | undefined
  const node = new Node().tool('work', (run) => ((running = run), end.promise), { pollMs: 5000 })
  const head = await node.start('work')
  const stop = followTasks(
    node.tasks,
    [head],
    listener((task) => heard.push(task['statusMessage'] ?? task['status'])),
  )
  await settled()
  for (let step = 0; step < 20; step++) {
    running!.progress(`step ${step}`)
    await node.clock.pass(1000)
  }
  expect(heard).toEqual(['step 0', 'step 4', 'step 9', 'step 14', 'step 19'])
  running!.progress('last')
  end.resolve({ content: [] })
  await settled()
  expect(heard.at(-1)).toBe('last')
  expect(heard).toHaveLength(6)
  stop()
  expect(looksAt(node, head.id)).toBe(0)
})

test('a follower hears of an end that came before it followed, and of each state once', async () => {
  const heard: unknown[] = []
  const end = new Deferred<JsonObject>()
  const node = new Node().tool('work', () => end.promise)
  const before = await node.start('work')
  end.resolve({ content: [] })
  await settled()
  const own = listener((task) => heard.push(task['status']))
  followTasks(node.tasks, [before], own)
  await settled()
  expect(heard).toEqual(['completed'])
  const after = (await node.store.head(before.id))!
  followTasks(node.tasks, [after], own)
  node.tasks.followers.changed(before.id)
  await settled()
  expect(heard).toEqual(['completed', 'completed'])
  expect(looksAt(node, before.id)).toBe(0)
})

test('results are read one at a time, each when the one before was sent, and others have a turn between', async () => {
  const node = new Node().tool('work', () => ({ content: [] }))
  const heads = await finished(node, 6)
  const log: string[] = []
  const { read } = node.store
  vi.spyOn(node.store, 'read').mockImplementation(
    (...given) => (log.push('read'), read.apply(node.store, given)),
  )
  const two = [heads.slice(0, 3), heads.slice(3)]
  for (const own of two)
    followTasks(
      node.tasks,
      own,
      listener(() => {
        log.push('sent')
        setImmediate(() => log.push('other'))
      }),
    )
  await settled()
  expect(log.filter((each) => each !== 'other')).toEqual(heads.flatMap(() => ['read', 'sent']))
  expect(log.slice(0, 6)).toEqual(['read', 'sent', 'other', 'read', 'sent', 'other'])
})

test('nothing is read for a client that does not read, nor for a stream that is over', async () => {
  const node = new Node().tool('work', () => ({ content: [] }))
  const heads = await finished(node, 4)
  const read = vi.spyOn(node.store, 'read')
  const heard: unknown[] = []
  let isBehind = false
  const own = { ...listener((task) => heard.push(task['taskId'])), isBehind: () => isBehind }
  const stop = followTasks(node.tasks, heads, {
    ...own,
    notify: (task) => (own.notify(task), (isBehind = true)),
  })
  await node.clock.pass(10_000)
  expect(heard).toHaveLength(1)
  expect(read).toHaveBeenCalledTimes(1)
  isBehind = false
  await node.clock.pass(1000)
  expect(heard).toEqual(heads.slice(0, 2).map(({ id }) => id))
  stop()
  isBehind = false
  await node.clock.pass(1000)
  expect(read).toHaveBeenCalledTimes(2)
})

test.each(['head', 'read'] as const)(
  'a follower hears of an end although the store failed when it looked: %s',
  async (step) => {
    const heard: unknown[] = []
    const end = new Deferred<JsonObject>()
    const node = new Node().tool('work', () => end.promise)
    const head = await node.start('work')
    const stop = followTasks(
      node.tasks,
      [head],
      listener((task) => heard.push(task['status'])),
    )
    await settled()
    const fail = (): never => {
      throw new Error('the store is away')
    }
    const failing = vi.spyOn(node.store, step)
    end.resolve({ content: [] })
    failing.mockImplementation(fail)
    await settled()
    await node.clock.pass(25_000)
    expect(heard).toEqual([])
    failing.mockRestore()
    await node.clock.pass(60_000)
    expect(heard).toEqual(['completed'])
    stop()
    expect(looksAt(node, head.id)).toBe(0)
  },
)

test('a client that follows many tasks makes the store look for all of them at once, and later for those that change', async () => {
  const ends = new Map<string, Deferred<JsonObject>>()
  const node = new Node({ isInMemory: false }).tool('work', (run) => {
    const end = new Deferred<JsonObject>()
    ends.set(run.head!.id, end)
    return end.promise
  })
  const heads: TaskHead[] = []
  for (let at = 0; at < 150; at++) heads.push(await node.start('work'))
  await settled()
  const owned = vi.spyOn(node.store, 'owned')
  const heard: unknown[] = []
  const own = listener((task) => heard.push([task['taskId'], task['status']]))
  const head = vi.spyOn(node.store, 'head')
  const stop = followTasks(node.tasks, heads, own)
  await settled()
  expect(owned.mock.calls.map(([ids]) => ids.length)).toEqual([150])
  expect(head).not.toHaveBeenCalled()
  ends.get(heads[7]!.id)!.resolve({ content: [] })
  await settled()
  expect(heard).toEqual([[heads[7]!.id, 'completed']])
  expect(owned).toHaveBeenCalledTimes(1)
  stop()
})

/** Tasks that have ended. */
async function finished(node: Node, count: number): Promise<TaskHead[]> {
  const heads: TaskHead[] = []
  for (let at = 0; at < count; at++) heads.push(await node.start('work'))
  await settled()
  return heads
}

/** A client that reads everything at once. */
function listener(notify: (task: JsonObject) => void): TaskListener {
  return { peer: { dialect: DIALECTS['2026-07-28'] }, notify, isBehind: () => false }
}

/** How many followers look at a task that changes. */
function looksAt({ tasks }: Node, id: string): number {
  const find = vi.spyOn(tasks, 'find')
  tasks.followers.changed(id)
  return find.mock.calls.length
}
