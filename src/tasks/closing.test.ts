import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { hooked } from '../../test/harness/task-hooks.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskHead } from './record.ts'
import type { TaskChange } from './store.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

test.each(['claim', 'change'])(
  'a server that closes during a %s gives the task back, and its handler does not begin',
  async (step) => {
    const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
    const first = new Node({ store, clock, isInMemory: false }).tool('work', never, { onRestart: 'retry' })
    const { id } = await first.start('work')
    await first.tasks.close(0)
    const door = new Deferred<void>()
    let isClaimed = false
    const slow = hooked(store, {
      after(name) {
        if (name === 'claim' && step === 'change') isClaimed = true
        return name === step && (step === 'claim' || isClaimed) ? door.promise : undefined
      },
    })
    const ran: unknown[] = []
    // Its work cannot be repeated, but it has not begun.
    const node = new Node({ store: slow, clock, isInMemory: false }).tool('work', () => (ran.push(1), DONE))
    await node.tasks.start()
    await clock.pass(0)
    expect(store.head(id)?.node).toBe(node.tasks.node)
    let isClosed = false
    const closing = node.tasks.close(0).then(() => (isClosed = true))
    await clock.pass(0)
    expect(isClosed).toBe(false)
    door.resolve()
    await closing
    await clock.pass(60_000)
    expect(ran).toEqual([])
    expect(store.head(id)).toMatchObject({ status: 'working', node: '', attempt: 2 })
    expect(clock.timers).toBe(0)
  },
)

test('a server that closes does not wait for answers, and gives up tasks that wait for one at once', async () => {
  const node = new Node()
  const ask = async (run: { question(key: string, question: typeof QUESTION): Promise<unknown> }) => {
    await run.question('sure', QUESTION)
    return DONE
  }
  node.tool('ask', ask, { onRestart: 'retry' })
  const { id } = await node.start('ask')
  await settled()
  expect(await node.status(id)).toBe('input_required')
  await node.tasks.close(60_000)
  expect(await node.record(id)).toMatchObject({ status: 'working', node: '' })
})

test('a task that asks while the server closes is given up then', async () => {
  const door = new Deferred<void>()
  const node = new Node().tool(
    'ask',
    async (run) => {
      await door.promise
      await run.question('sure', QUESTION)
      return DONE
    },
    { onRestart: 'retry' },
  )
  const { id } = await node.start('ask')
  await settled()
  const closing = node.tasks.close(60_000)
  door.resolve()
  await closing
  expect(await node.record(id)).toMatchObject({ status: 'working', node: '' })
})

test('a retry after the server has closed is rejected', async () => {
  const node = new Node().tool('fail', () => {
    throw new Error('no')
  })
  const { id } = await node.start('fail')
  await settled()
  await node.tasks.close(0)
  await expect((async () => node.tasks.retry(id))()).rejects.toMatchObject({ kind: 'shutting_down' })
  expect(node.clock.timers).toBe(0)
})

test('a retry just before the server closes is neither lost nor done twice', async () => {
  const [inner, clock] = [new MemoryTaskStore(), new FakeClock()]
  const store = hooked(inner, {})
  let isBad = true
  const ran: number[] = []
  const create = (): Node =>
    new Node({ store, clock, isInMemory: false }).tool('work', (run) => {
      if (isBad) throw new Error('no')
      ran.push(run.attempt)
      return DONE
    })
  const node = create()
  const { id } = await node.start('work')
  await settled()
  isBad = false
  const again = (await node.tasks.retry(id)) as TaskHead
  await node.tasks.close(0)
  const next = create()
  await next.tasks.start()
  await clock.pass(20_000)
  expect(await next.status(again.id)).toBe('completed')
  expect(ran).toHaveLength(1)
})

test('a process that serves nobody leaves what it retries to those that do', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const options = { store, clock, isInMemory: false }
  const ran: string[] = []
  let isBad = true
  const server = new Node(options).tool('work', () => {
    if (isBad) throw new Error('no')
    ran.push('server')
    return DONE
  })
  const { id } = await server.start('work')
  await settled()
  isBad = false
  for (const script of [
    new Node(options),
    new Node(options).tool('work', () => (ran.push('script'), DONE)),
  ]) {
    const again = (await script.tasks.retry(id)) as TaskHead
    expect(again.status).toBe('working')
    await script.tasks.close(0)
  }
  await clock.pass(10_000)
  expect(ran).toEqual(['server'])
  expect(store.list({ status: 'completed', limit: 9 })).toHaveLength(1)
})

test('tasks that wait for a place are given back when the server closes, and no handler of theirs begins before', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const options = { store, clock, isInMemory: false }
  const began: string[] = []
  // Those that wait are given back after the one that runs has made room.
  const slow = hooked(store, {
    before: async (step, [, , change]) => {
      if (step === 'change' && (change as TaskChange).status === 'working') await settled()
    },
  })
  const node = new Node({ ...options, store: slow }).tool(
    'work',
    (run) => {
      began.push((run.head as TaskHead).key)
      // It ends as soon as it is stopped, which makes room for another one.
      return new Promise((_, reject) =>
        run.call.signal.addEventListener('abort', () => reject(run.call.signal.reason as Error)),
      )
    },
    { concurrency: 1 },
  )
  const ids: string[] = []
  for (const key of ['a', 'b', 'c']) ids.push((await node.start('work', { key })).id)
  await settled()
  const closing = node.tasks.close(1000)
  await clock.pass(1000)
  await closing
  await settled()
  expect(began).toEqual(['a'])
  const heads = ids.map((id) => store.head(id))
  expect(heads).toMatchObject([
    { status: 'failed' },
    ...Array(2).fill({ status: 'working', node: '', attempt: 1 }),
  ])
  const next = new Node(options).tool('work', (run) => {
    began.push(`${(run.head as TaskHead).key}${run.attempt}`)
    return DONE
  })
  await next.tasks.start()
  await clock.pass(20_000)
  expect(await Promise.all(ids.slice(1).map((id) => next.status(id)))).toEqual(['completed', 'completed'])
  expect(began).toEqual(['a', 'b1', 'c1'])
})
