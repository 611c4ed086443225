import { expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { STORE_BUSY, STORE_UNREACHABLE } from '../errors/store.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { Run } from './run.ts'

const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }

/** A store in memory that cannot be reached from time to time. */
class Away extends MemoryTaskStore {
  isAway = false
  tries = 0
  error = mcpError(STORE_UNREACHABLE, {})

  override change(...args: Parameters<MemoryTaskStore['change']>): never {
    const act = (): unknown => {
      if (!this.isAway) return super.change(...args)
      this.tries++
      throw this.error
    }
    return Promise.resolve().then(act) as never
  }
}

/** A handler of two steps. */
const steps =
  (made: string[]) =>
  async (run: Run): Promise<{ content: []; values: unknown[] }> => {
    const step = (key: string): Promise<unknown> => run.once(key, () => (made.push(key), `${key}!`))
    return { content: [], values: [await step('one'), await step('two')] }
  }

test.each([STORE_UNREACHABLE, STORE_BUSY, OVERLOADED])(
  'a step of a task waits for a store that is away, and runs once ($kind)',
  async (row) => {
    const store = new Away()
    store.error = mcpError(row, { path: 'films.db', ms: 5 })
    const made: string[] = []
    const node = new Node({ store }).tool('work', steps(made))
    store.isAway = true
    const { id } = await node.start('work')
    await node.clock.pass(60_000)
    expect(await node.status(id)).toBe('working')
    expect(made).toEqual(['one'])
    expect(store.tries).toBeLessThan(30)
    store.isAway = false
    await node.clock.pass(10_000)
    expect(await node.record(id)).toMatchObject({
      status: 'completed',
      attempt: 1,
      outcome: expect.stringContaining('"values":["one!","two!"]') as string,
    })
    expect(made).toEqual(['one', 'two'])
  },
)

test('a question of a task waits for a store that is away', async () => {
  const store = new Away()
  const node = new Node({ store }).tool('ask', async (run) => ({
    content: [],
    answer: await run.question('sure', QUESTION),
  }))
  store.isAway = true
  const { id } = await node.start('ask')
  await node.clock.pass(20_000)
  expect(await node.status(id)).toBe('working')
  store.isAway = false
  await node.clock.pass(10_000)
  expect(await node.status(id)).toBe('input_required')
  await node.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
  await settled()
  expect(await node.status(id)).toBe('completed')
})

test('a step that waits for the store stops when the server closes, and the task is left to others', async () => {
  const store = new Away()
  const node = new Node({ store }).tool('work', steps([]), { onRestart: 'retry' })
  store.isAway = true
  const { id } = await node.start('work')
  await node.clock.pass(3000)
  const run = node.tasks.runs.get(id)!
  const stopped = run.once('one', () => 'again').catch((error: unknown) => error)
  await node.tasks.close(0)
  expect(await stopped).toMatchObject({ kind: 'shutting_down' })
  expect(node.clock.timers).toBe(0)
  expect(await node.status(id)).toBe('working')
})

test('a step that waited for the store counts no more if another node has the task by then', async () => {
  const clock = new FakeClock()
  const store = new Away()
  const first = new Node({ clock, store, isInMemory: false }).tool('work', steps([]), { onRestart: 'retry' })
  store.isAway = true
  const { id } = await first.start('work')
  await clock.pass(1000)
  const run = first.tasks.runs.get(id)!
  const { version } = run.head!
  store.isAway = false
  store.beat('another', clock.now() + 60_000)
  void store.change(id, version, { node: 'another', updatedAt: clock.now() })
  await clock.pass(10_000)
  expect(run.isOver).toBe(true)
  expect(await first.record(id)).toMatchObject({ status: 'working', node: 'another', state: '' })
})

test.each([STORE_UNREACHABLE, OVERLOADED])(
  'a handler that fails because the store is away, or busy, is tried again ($kind)',
  async (row) => {
    const node = new Node().tool(
      'work',
      (run) => {
        if (run.attempt === 1) throw mcpError(row, {})
        return { content: [] }
      },
      { retries: 1 },
    )
    const { id } = await node.start('work')
    await node.clock.pass(60_000)
    expect(await node.record(id)).toMatchObject({ status: 'completed', attempt: 2 })
  },
)
