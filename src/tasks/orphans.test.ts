import { expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import { FakeClock } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const UNREACHABLE = { kind: 'store_unreachable' }

/** A store that adds tasks, but does not answer; nor does it find them so many times. */
class Silent extends MemoryTaskStore {
  isSilent = true
  lostHeads = 0

  override create(...args: Parameters<MemoryTaskStore['create']>): ReturnType<MemoryTaskStore['create']> {
    const created = super.create(...args)
    if (this.isSilent) throw mcpError(STORE_UNREACHABLE, {})
    return created
  }

  override head(id: string): ReturnType<MemoryTaskStore['head']> {
    if (this.lostHeads-- > 0) throw mcpError(STORE_UNREACHABLE, {})
    return super.head(id)
  }
}

test.each([0, 2])(
  'a task that was stored although its caller got an error is cancelled, and its key is free (%i failures)',
  async (failures) => {
    const store = new Silent()
    const node = new Node({ store, isInMemory: false }).tool('work', () => DONE)
    await expect(node.start('work', { key: 'a' })).rejects.toMatchObject(UNREACHABLE)
    store.isSilent = false
    store.lostHeads = failures
    await node.clock.pass(60_000)
    expect(store.list({ limit: 10 }).map(({ status }) => status)).toEqual(['cancelled'])
    const { id } = await node.start('work', { key: 'a' })
    await node.clock.pass(0)
    expect(await node.status(id)).toBe('completed')
  },
)

test('if another call has found its key, it begins', async () => {
  const store = new Silent()
  const clock = new FakeClock()
  const node = new Node({ store, clock, isInMemory: false }).tool('work', () => DONE, { onRestart: 'retry' })
  await expect(node.start('work', { key: 'a' })).rejects.toMatchObject(UNREACHABLE)
  store.isSilent = false
  const head = await node.start('work', { key: 'a' })
  await node.tasks.join(head)
  await clock.pass(60_000)
  expect(await node.record(head.id)).toMatchObject({ status: 'completed', attempt: 1 })
})

test('a task that was not stored is not looked for again', async () => {
  const store = new Silent()
  store.create = () => {
    throw mcpError(STORE_UNREACHABLE, {})
  }
  const node = new Node({ store, isInMemory: false }).tool('work', () => DONE)
  await expect(node.start('work')).rejects.toMatchObject(UNREACHABLE)
  const { timers } = node.clock
  await node.clock.pass(60_000)
  expect(node.clock.timers).toBeLessThan(timers)
  expect(node.reports).toEqual([])
})
