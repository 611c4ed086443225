import { expect, test } from 'vitest'
import { FakeClock } from '../../test/harness/task-clock.ts'
import { Node, type Work } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskPlan } from './plan.ts'
import type { TaskHead } from './record.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

/** A server that is started again and again. */
class Restarting {
  readonly clock = new FakeClock()
  readonly store = new MemoryTaskStore()
  readonly #plan: Partial<TaskPlan>
  #node: Node | undefined

  constructor(plan: Partial<TaskPlan> = {}) {
    this.#plan = { onRestart: 'retry', ...plan }
  }

  async start(work: Work): Promise<Node> {
    const node = new Node({ clock: this.clock, store: this.store, isInMemory: false })
    this.#node = node.tool('work', work, this.#plan)
    await node.tasks.start()
    await this.clock.pass(20_000)
    return node
  }

  /** Ends the process without a word. */
  async crash(): Promise<void> {
    await this.#node?.tasks.upkeep.stop()
  }

  async stop(): Promise<void> {
    await this.#node?.tasks.close(0)
  }
}

test('an orderly stop uses up no retry', async () => {
  const server = new Restarting({ retries: 1 })
  const { id } = await (await server.start(never)).start('work')
  for (let stops = 0; stops < 5; stops++) {
    await server.stop()
    await server.start(never)
  }
  await server.stop()
  let errors = 0
  const node = await server.start(() => {
    if (errors++ === 0) throw new Error('once')
    return DONE
  })
  expect(await node.record(id)).toMatchObject({ status: 'completed', attempt: 8 })
})

test('a crash uses up no retry, and an error no crash', async () => {
  const server = new Restarting({ retries: 1 })
  const { id } = await (await server.start(never)).start('work')
  await server.crash()
  await server.start(never)
  await server.crash()
  let errors = 0
  const node = await server.start(() => {
    if (errors++ < 2) throw new Error('twice')
    return DONE
  })
  expect(errors).toBe(2)
  expect(await node.record(id)).toMatchObject({
    status: 'failed',
    outcome: expect.not.stringContaining('task_crashed') as string,
  })
})

test('a process that takes over tasks of one that died says so once for all of them, and not after an orderly stop', async () => {
  const server = new Restarting()
  const first = await server.start(never)
  for (let count = 0; count < 3; count++) await first.start('work')
  expect(first.reports).toEqual([])
  await server.stop()
  const second = await server.start(never)
  expect(second.reports).toEqual([])
  await server.crash()
  const third = await server.start(never)
  expect(third.reports).toEqual([expect.stringContaining('takes over')])
})

test('a task that ended its process ten times fails, and an operator can retry it', async () => {
  const server = new Restarting()
  const attempts: number[] = []
  const boom: Work = (run) => (attempts.push(run.attempt), never())
  const { id } = await (await server.start(boom)).start('work')
  for (let crashes = 0; crashes < 12; crashes++) {
    await server.crash()
    await server.start(boom)
  }
  expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  const node = await server.start(() => DONE)
  expect(await node.record(id)).toMatchObject({
    status: 'failed',
    statusMessage: expect.stringContaining('10 times') as string,
    outcome: expect.stringContaining('task_crashed') as string,
  })
  const again = (await node.tasks.retry(id)) as TaskHead
  await server.clock.pass(10_000)
  expect(await node.status(again.id)).toBe('completed')
})

test('a retry by an operator counts errors and crashes anew', async () => {
  const server = new Restarting({ retries: 1 })
  const first = await server.start(() => {
    throw new Error('always')
  })
  const { id } = await first.start('work')
  await server.clock.pass(20_000)
  expect(await first.status(id)).toBe('failed')
  await server.stop()
  let errors = 0
  const node = await server.start(() => {
    if (errors++ === 0) throw new Error('once')
    return DONE
  })
  const again = (await node.tasks.retry(id)) as TaskHead
  await server.clock.pass(20_000)
  expect(await node.record(again.id)).toMatchObject({ status: 'completed', attempt: 2 })
})

test('a crash while the task waits for an answer does not count', async () => {
  const server = new Restarting()
  const ask: Work = async (run) => ({ content: [], answer: await run.question('sure', QUESTION) })
  const { id } = await (await server.start(ask)).start('work')
  for (let crashes = 0; crashes < 12; crashes++) {
    await server.clock.pass(0)
    await server.crash()
    await server.start(ask)
  }
  expect(server.store.head(id)).toMatchObject({ status: 'input_required', attempt: 13 })
})

test('a crash after a new step begins the count anew', async () => {
  const server = new Restarting()
  const steps: Work = async (run) => {
    await run.once(`step ${run.attempt}`, () => run.attempt)
    return never()
  }
  const { id } = await (await server.start(steps)).start('work')
  for (let crashes = 0; crashes < 12; crashes++) {
    await server.clock.pass(0)
    await server.crash()
    await server.start(steps)
  }
  expect(server.store.head(id)).toMatchObject({ status: 'working', attempt: 13 })
})
