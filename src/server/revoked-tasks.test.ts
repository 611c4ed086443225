import { expect, test } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import type { Result } from '../rpc/dispatch.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import { RevokedTasks } from './revoked-tasks.ts'

/** A store that changes one task after another. */
class InLine extends MemoryTaskStore {
  waiting = 0
  most = 0
  #last: Promise<unknown> = Promise.resolve()

  override change(...args: Parameters<MemoryTaskStore['change']>): never {
    this.most = Math.max(this.most, ++this.waiting)
    const done = this.#last.then(() => {
      this.waiting--
      return super.change(...args)
    })
    this.#last = done
    return done as never
  }
}

const never = (): Promise<Result> => new Promise(() => undefined)
const FACTS = { at: Infinity, where: 'past' } as const

async function started(count: number, store: MemoryTaskStore): Promise<{ node: Node; ids: string[] }> {
  const node = new Node({ store }).tool('hang', never, { onRestart: 'retry' })
  const ids: string[] = []
  for (let at = 0; at < count; at++) ids.push((await node.start('hang')).id)
  return { node, ids }
}

test('of the tasks of a revoked caller, few are cancelled at once, so that others need not wait for all', async () => {
  const store = new InLine()
  const { node, ids } = await started(300, store)
  void new RevokedTasks(node.tasks).cancel(() => true, FACTS)
  await expect.poll(() => node.tasks.runs.size).toBe(0)
  for (const id of ids) expect(await node.status(id)).toBe('cancelled')
  // All 300 were in line before.
  expect(store.most).toBe(64)
})

test('tasks in memory are cancelled at once', async () => {
  const { node, ids } = await started(300, new MemoryTaskStore())
  void new RevokedTasks(node.tasks).cancel(() => true, FACTS)
  for (const id of ids) expect(node.store.head(id)).toMatchObject({ status: 'cancelled' })
})

test('a task whose cancellation fails stops no other, nor does one that was put back meanwhile', async () => {
  const store = new InLine()
  const { node, ids } = await started(100, store)
  const { change } = store
  let isFirst = true
  store.change = (...args) => {
    if (!isFirst) return change.apply(store, args)
    isFirst = false
    throw new Error('locked')
  }
  const last = node.tasks.runs.get(ids[99]!)!
  void new RevokedTasks(node.tasks).cancel(() => true, FACTS)
  void node.tasks.release(last, {})
  await expect.poll(() => node.status(ids[99]!)).toBe('cancelled')
  expect(await Promise.all(ids.map((id) => node.status(id)))).toEqual([
    'working',
    ...ids.slice(1).map(() => 'cancelled'),
  ])
  await node.clock.pass(60_000)
  await expect.poll(() => node.status(ids[0]!)).toBe('cancelled')
})

test('a server that closes puts no task of a revoked caller back for other nodes', async () => {
  const store = new InLine()
  const { node, ids } = await started(300, store)
  const revoked = new RevokedTasks(node.tasks)
  void revoked.cancel(() => true, FACTS)
  revoked.hurry()
  await node.tasks.close(0)
  expect(await Promise.all(ids.map((id) => node.status(id)))).toEqual(ids.map(() => 'cancelled'))
})
