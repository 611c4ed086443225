import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { McpError } from '../errors/error.ts'
import { isFinal } from '../protocol/task-status.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { Run } from './run.ts'
import { stateAfter, type TaskEvent } from './states.ts'
import type { TaskHead, TaskStatus } from './record.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }

test('only legal changes of status are possible, and an end is final [R241]', () => {
  const events: TaskEvent[] = ['ask', 'answer', 'progress', 'attempt', 'return', 'fail', 'cancel', 'release']
  const after = (status: TaskStatus): object =>
    Object.fromEntries(events.map((event) => [event, stateAfter(status, event)]))
  const none = Object.fromEntries(events.map((event) => [event, undefined]))
  expect(after('completed')).toEqual(none)
  expect(after('cancelled')).toEqual(none)
  expect(after('failed')).toEqual(none)
  expect(after('working')).toMatchObject({
    ask: 'input_required',
    return: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  })
  expect(after('input_required')).toMatchObject({ answer: 'working', cancel: 'cancelled' })
  expect((['completed', 'failed', 'cancelled'] as const).every(isFinal)).toBe(true)
})

test('a task exists before it runs, and keeps its outcome until its time is over', async () => {
  const node = new Node().tool('work', () => DONE)
  const { id } = await node.start('work', { ttlMs: 5000 })
  await settled()
  expect(await node.record(id)).toMatchObject({
    status: 'completed',
    outcome: JSON.stringify({ result: DONE }),
    node: '',
  })
  await node.clock.pass(4999)
  expect(await node.tasks.find(id, 'ann')).toMatchObject({ id })
  await node.clock.pass(1)
  expect(await node.tasks.find(id, 'ann')).toBeUndefined()
  await node.clock.pass(20_000)
  expect(await node.record(id)).toBeUndefined()
  expect(node.tasks.bytes.total).toBe(0)
  // Without tasks, nothing is left to wait for.
  await node.clock.pass(20_000)
  expect(node.clock.timers).toBe(0)
})

test('a task whose time is over while it runs is stopped', async () => {
  const stopped: unknown[] = []
  const node = new Node().tool('hang', (run) => {
    const { signal } = run.call
    signal.addEventListener('abort', () => stopped.push([run.head?.id, signal.reason]))
    return new Promise(() => undefined)
  })
  const { id } = await node.start('hang', { ttlMs: 5000 })
  await node.clock.pass(30_000)
  expect(stopped).toMatchObject([[id, { kind: 'task_expired' }]])
  expect(node.tasks.runs.size).toBe(0)
})

test('progress is written at most once a second, and the last message is not lost', async () => {
  let writes = 0
  const store = new MemoryTaskStore()
  store.watch(() => writes++)
  const end = new Deferred<typeof DONE>()
  let running: Run | undefined
  const node = new Node({ store }).tool('work', (run) => {
    running = run
    return end.promise
  })
  const { id } = await node.start('work')
  await settled()
  for (let step = 0; step < 100; step++) running!.progress(`step ${step}`)
  await settled()
  expect(writes).toBe(1)
  await node.clock.pass(1000)
  expect(await node.record(id)).toMatchObject({ statusMessage: 'step 99' })
  expect(writes).toBe(2)
  running!.progress('last')
  end.resolve(DONE)
  await settled()
  expect(await node.record(id)).toMatchObject({ status: 'completed', statusMessage: 'last' })
})

test('an unexpected error is followed by further attempts after growing pauses, which keep values and answers', async () => {
  const made: number[] = []
  const answers: unknown[] = []
  const attempts: number[] = []
  const node = new Node().tool(
    'flaky',
    async (run) => {
      attempts.push(run.attempt)
      await run.once('order', () => made.push(made.length))
      const question = { method: 'elicitation/create', params: { message: 'Sure?' } }
      answers.push(run.answerTo('sure', question, true) ?? (await run.question('sure', question)))
      if (run.attempt < 3) throw new Error('flaky')
      return DONE
    },
    { retries: 2 },
  )
  const { id } = await node.start('flaky')
  await settled()
  expect(await node.status(id)).toBe('input_required')
  await node.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
  await settled()
  // A restart between two attempts does not lose the task.
  expect(await node.record(id)).toMatchObject({ status: 'working', node: '', attempt: 2 })
  await node.clock.pass(999)
  expect(attempts).toEqual([1])
  await node.clock.pass(1)
  expect(attempts).toEqual([1, 2])
  await node.clock.pass(2000)
  expect(attempts).toEqual([1, 2, 3])
  expect(await node.status(id)).toBe('completed')
  expect(made).toHaveLength(1)
  expect(answers).toEqual([{ action: 'accept' }, { action: 'accept' }, { action: 'accept' }])
})

test('after the last attempt the task has failed, and an operator can start it again with what it kept', async () => {
  let isBroken = true
  const made: number[] = []
  const node = new Node().tool('flaky', async (run) => {
    await run.once('order', () => made.push(1))
    if (isBroken) throw new Error('flaky')
    return DONE
  })
  const { id } = await node.start('flaky', { key: 'k' })
  await settled()
  expect(await node.record(id)).toMatchObject({ status: 'failed', key: `freed by ${id}: k` })
  isBroken = false
  const again = await node.tasks.retry(id)
  if (!again) throw new Error('no retry')
  expect(again).toMatchObject({ status: 'working', attempt: 1, owner: 'ann', tool: 'flaky' })
  expect(again.id).not.toBe(id)
  await node.clock.pass(0)
  expect(await node.status(again.id)).toBe('completed')
  expect(await node.tasks.retry(again.id)).toBe(false)
  // A final state never changes.
  expect(await node.status(id)).toBe('failed')
  expect(made).toHaveLength(1)
})

test('another node continues what a dead one left, or ends it with the reason', async () => {
  const clock = new FakeClock()
  const store = new MemoryTaskStore()
  const never = (): Promise<typeof DONE> => new Promise(() => undefined)
  const options = { clock, store, isInMemory: false }
  const dead = new Node(options).tool('safe', never, { onRestart: 'retry' }).tool('unsafe', never)
  const safe = await dead.start('safe')
  const unsafe = await dead.start('unsafe')
  // It gives no further sign of life.
  await dead.tasks.upkeep.stop()
  const attempts: number[] = []
  const alive = new Node(options)
    .tool('safe', (run) => (attempts.push(run.attempt), DONE), { onRestart: 'retry' })
    .tool('unsafe', () => DONE)
  await alive.tasks.start()
  await clock.pass(20_000)
  expect(attempts).toEqual([2])
  expect(await alive.status(safe.id)).toBe('completed')
  expect(await alive.record(unsafe.id)).toMatchObject({
    status: 'failed',
    outcome: expect.stringContaining('task_lost') as string,
  })
})

test('a node that lost its task writes no outcome', async () => {
  const clock = new FakeClock()
  const store = new MemoryTaskStore()
  const end = new Deferred<typeof DONE>()
  const first = new Node({ clock, store, isInMemory: false }).tool('work', () => end.promise, {
    onRestart: 'retry',
  })
  const { id } = await first.start('work')
  await clock.pass(0)
  store.beat(first.tasks.node, 0)
  const other = { content: [{ type: 'text', text: 'other' }] }
  const second = new Node({ clock, store, isInMemory: false }).tool('work', () => other, {
    onRestart: 'retry',
  })
  await second.tasks.start()
  await clock.pass(0)
  end.resolve(DONE)
  await settled()
  expect(await second.record(id)).toMatchObject({
    status: 'completed',
    outcome: JSON.stringify({ result: other }),
  })
  expect(first.tasks.runs.size).toBe(0)
})

test('an answer and a cancellation reach a task that runs on another node', async () => {
  const store = new MemoryTaskStore()
  const clock = new FakeClock()
  const stopped: string[] = []
  const question = { method: 'elicitation/create', params: {} }
  const runner = new Node({ store, clock })
    .tool('ask', async (run) => ({ content: [], answer: await run.question('q', question) }))
    .tool('hang', (run) => {
      run.call.signal.addEventListener('abort', () => stopped.push('hang'))
      return new Promise(() => undefined)
    })
  const asking = await runner.start('ask')
  const hanging = await runner.start('hang')
  await settled()
  const other = new Node({ store, clock })
  await other.tasks.start()
  expect(
    await other.tasks.answer(asking.id, 'ann', [
      ['q.1', { action: 'accept' }],
      ['q.2', { no: true }],
    ]),
  ).toBe(true)
  await other.tasks.cancel(hanging.id, 'ann')
  await settled()
  expect(await runner.record(asking.id)).toMatchObject({
    status: 'completed',
    outcome: expect.stringContaining('"action":"accept"') as string,
  })
  expect(stopped).toEqual(['hang'])
})

test('to anyone but its owner a task does not exist', async () => {
  const node = new Node().tool('hang', () => new Promise(() => undefined))
  const { id } = await node.start('hang')
  expect(await node.tasks.find(id, 'bob')).toBeUndefined()
  expect(await node.tasks.ended(id, '')).toBeUndefined()
  expect(await node.tasks.cancel(id, 'bob')).toBeUndefined()
  expect(await node.tasks.answer(id, 'bob', [])).toBe(false)
  expect(await node.tasks.until(id, 'bob', () => false)).toBeUndefined()
  expect(await node.status(id)).toBe('working')
})

test('a key belongs to its caller, and a task that failed or was cancelled frees it', async () => {
  const node = new Node()
    .tool('hang', () => new Promise(() => undefined))
    .tool('fail', () => {
      throw new Error('no')
    })
  const first = await node.start('hang', { key: 'k' })
  expect(await node.start('hang', { key: 'k' })).toMatchObject({ id: first.id })
  const bob = { owner: 'bob', scope: 'bob' }
  expect((await node.start('hang', { key: 'k', caller: bob })).id).not.toBe(first.id)
  const anonymous = { owner: '', scope: '' }
  const [one, two] = [
    await node.start('hang', { key: 'k', caller: anonymous }),
    await node.start('hang', { key: 'k', caller: anonymous }),
  ]
  expect(one.id).not.toBe(two.id)
  await node.tasks.cancel(first.id, 'ann')
  expect((await node.start('hang', { key: 'k' })).id).not.toBe(first.id)
  const failed = await node.start('fail', { key: 'f' })
  await settled()
  expect((await node.start('fail', { key: 'f' })).id).not.toBe(failed.id)
})

test('a server that closes ends what waits, and gives up what still runs', async () => {
  const never = (): Promise<typeof DONE> => new Promise(() => undefined)
  const node = new Node().tool('safe', never, { onRestart: 'retry' }).tool('unsafe', never)
  const safe = await node.start('safe')
  const unsafe = await node.start('unsafe')
  const waiting = node.tasks.until(safe.id, 'ann', () => false)
  waiting.catch(() => undefined)
  const closing = node.tasks.close(5000)
  await expect(waiting).rejects.toMatchObject({ kind: 'shutting_down' })
  await node.clock.pass(5000)
  await closing
  expect(await node.record(safe.id)).toMatchObject({ status: 'working', node: '', attempt: 2 })
  expect(await node.record(unsafe.id)).toMatchObject({ status: 'failed' })
  await expect(node.start('safe')).rejects.toMatchObject({ kind: 'shutting_down' })
})

test('an outcome that the store does not take is written later', async () => {
  const store = new MemoryTaskStore()
  const change = store.change.bind(store)
  let isDown = true
  store.change = (...args) => {
    if (isDown) throw new Error('down')
    return change(...args)
  }
  const node = new Node({ store }).tool('work', () => DONE)
  const { id } = await node.start('work')
  await settled()
  expect(await node.status(id)).toBe('working')
  expect(node.reports).toHaveLength(1)
  isDown = false
  await node.clock.pass(10_000)
  expect(await node.status(id)).toBe('completed')
})

test('a question that the client refuses on another node fails for the handler that waits', async () => {
  const clock = new FakeClock()
  const store = new MemoryTaskStore()
  const options = { clock, store, isInMemory: false }
  const question = { method: 'elicitation/create', params: { message: 'Sure?' } }
  const ask = (run: Run): Promise<typeof DONE> =>
    run.question('sure', question).then(
      () => DONE,
      (error: Error) => ({ content: [{ type: 'text', text: error.message }] }),
    )
  const [one, other] = [new Node(options).tool('ask', ask), new Node(options).tool('ask', ask)]
  const { id } = await one.start('ask')
  await settled()
  const refusal = new McpError('ask_refused', 'not now')
  expect(await other.tasks.refuse(id, 'bob', 'sure.1', refusal)).toBe(false)
  expect(await other.tasks.refuse(id, 'ann', 'sure.9', refusal)).toBe(true)
  expect(await one.status(id)).toBe('input_required')
  expect(await other.tasks.refuse(id, 'ann', 'sure.1', refusal)).toBe(true)
  await settled()
  expect(await one.record(id)).toMatchObject({
    status: 'completed',
    outcome: expect.stringContaining('not now') as string,
  })
})

test.each(['ann', ''])(
  'a second retry of a failed task answers the first one, unless that failed too (%j)',
  async (owner) => {
    const ends: ((error?: Error) => void)[] = []
    const node = new Node().tool('flaky', () => {
      const { promise, resolve, reject } = new Deferred<typeof DONE>()
      ends.push((error) => (error === undefined ? resolve(DONE) : reject(error)))
      return promise
    })
    const { id } = await node.start('flaky', { caller: { owner, scope: owner } })
    ends[0]!(new Error('flaky'))
    await settled()
    const retry = async (): Promise<string> => ((await node.tasks.retry(id)) as TaskHead).id
    const first = await retry()
    expect(await retry()).toBe(first)
    await node.clock.pass(0)
    expect(await retry()).toBe(first)
    ends[1]!(new Error('flaky again'))
    await settled()
    const second = await retry()
    expect(second).not.toBe(first)
    await node.clock.pass(0)
    ends[2]!()
    await settled()
    expect(await retry()).toBe(second)
    expect(ends).toHaveLength(3)
  },
)

test('a task on another node needs input until the last of its questions is answered', async () => {
  const store = new MemoryTaskStore()
  const clock = new FakeClock()
  const first = new Node({ store, clock }).tool('ask', async (run) => {
    const question = { method: 'elicitation/create', params: { message: 'Sure?' } }
    const answers = await Promise.all(['a', 'b'].map((key) => run.question(key, question)))
    return { content: answers }
  })
  const second = new Node({ store, clock })
  const { id } = await first.start('ask')
  await settled()
  const answer = (name: string): unknown => second.tasks.answer(id, 'ann', [[name, { action: 'accept' }]])
  expect(await answer('a.1')).toBe(true)
  await settled()
  expect(await first.status(id)).toBe('input_required')
  expect(await answer('b.2')).toBe(true)
  await settled()
  expect(await first.status(id)).toBe('completed')
})
