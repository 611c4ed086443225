import { expect, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { Result } from '../rpc/dispatch.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { Run } from './run.ts'
import { claimsOf } from '../rpc/call.ts'

const never = (): Promise<Result> => new Promise(() => undefined)

async function started(count: number): Promise<{ node: Node; ids: string[] }> {
  const node = new Node().tool('hang', never)
  const ids: string[] = []
  for (let at = 0; at < count; at++) ids.push((await node.start('hang')).id)
  return { node, ids }
}

async function statusesOf(node: Node, ids: readonly string[]): Promise<unknown[]> {
  return Promise.all(ids.map((id) => node.status(id)))
}

test('all tasks that are meant are cancelled in the end, although the store fails for a while', async () => {
  const { node, ids } = await started(3)
  const list = vi.spyOn(node.store, 'list')
  for (let times = 0; times < 4; times++)
    list.mockImplementationOnce(() => {
      throw new Error('locked')
    })
  void node.tasks.cancelAll(() => true)
  await settled()
  expect(await statusesOf(node, ids)).toEqual(['working', 'working', 'working'])
  await node.clock.pass(60_000)
  expect(await statusesOf(node, ids)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(node.reports).toContain('the task store failed')
  expect(node.clock.timers).toBeLessThanOrEqual(1)
})

test('a task that cannot be cancelled stops no other, and is tried again', async () => {
  const { node, ids } = await started(3)
  vi.spyOn(node.store, 'change').mockImplementationOnce(() => {
    throw new Error('locked')
  })
  void node.tasks.cancelAll(() => true)
  await settled()
  expect(await statusesOf(node, ids)).toEqual(['working', 'cancelled', 'cancelled'])
  await node.clock.pass(60_000)
  expect(await statusesOf(node, ids)).toEqual(['cancelled', 'cancelled', 'cancelled'])
})

test('no task is left out because the last one of a page is removed meanwhile', async () => {
  const { node, ids } = await started(150)
  const { list } = node.store
  vi.spyOn(node.store, 'list').mockImplementationOnce(async (query) => {
    const heads = await list.call(node.store, query)
    const last = heads.at(-1)!
    await node.store.change(last.id, last.version, { ttlMs: 1 })
    await node.store.expire(last.createdAt + 1, 1)
    return heads
  })
  await node.tasks.cancelAll(({ id }) => id === ids[149])
  expect(await node.status(ids[149]!)).toBe('cancelled')
})

test('an owner that cannot be read is nobody', () => {
  expect(claimsOf('[')).toBeUndefined()
  expect(claimsOf('["i","ann"]')).toEqual({ iss: 'i', sub: 'ann' })
})

/** A store whose steps take a turn of the event loop each. */
class Slow extends MemoryTaskStore {
  override head(...args: Parameters<MemoryTaskStore['head']>): never {
    return later(() => super.head(...args))
  }

  override change(...args: Parameters<MemoryTaskStore['change']>): never {
    return later(() => super.change(...args))
  }
}

function later(act: () => unknown): never {
  return new Promise((resolve) => setImmediate(() => resolve(act()))) as never
}

test('a task is cancelled although its handler writes all the time', async () => {
  let isStopped = false
  const work = async (run: Run): Promise<Result> => {
    const write = async (name: string): Promise<void> => {
      for (let nth = 0; nth < 500 && !run.isOver; nth++) await run.once(`${name}${nth}`, () => 1)
    }
    await Promise.allSettled(['a', 'b', 'c', 'd'].map(write))
    isStopped = run.isOver
    return { content: [] }
  }
  const node = new Node({ store: new Slow() }).tool('write', work)
  const { id } = await node.start('write')
  expect(await node.tasks.cancel(id, 'ann')).toMatchObject({ isDone: true })
  await vi.waitFor(() => expect(isStopped).toBe(true))
  expect(await node.status(id)).toBe('cancelled')
})
