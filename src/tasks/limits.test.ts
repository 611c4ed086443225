import { expect, test } from 'vitest'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { McpError } from '../errors/error.ts'
import { newTaskId } from './id.ts'

const DONE = { content: [] }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)
const of = (owner: string): object => ({ caller: { owner, scope: owner } })

test('a server keeps so many tasks, and so many of one caller', async () => {
  const node = new Node({ limits: { tasks: 3, callerTasks: 2 } }).tool('hang', never)
  await node.start('hang')
  await node.start('hang')
  await expect(node.start('hang')).rejects.toMatchObject({
    kind: 'too_many_caller_tasks',
    message: expect.stringContaining('2 tasks of this caller') as string,
  })
  await node.start('hang', of('bob'))
  await expect(node.start('hang', of('eve'))).rejects.toMatchObject({ kind: 'too_many_tasks' })
  // Nothing is counted for those that were rejected.
  expect(node.tasks.runs.size).toBe(3)
  const bytes = node.tasks.bytes.total
  await expect(node.start('hang', of('eve'))).rejects.toThrow('already keeps 3 tasks')
  expect(node.tasks.bytes.total).toBe(bytes)
})

test('no task is kept longer than the limit, whatever its client asks for', async () => {
  const node = new Node({ limits: { taskMs: 10_000 } }).tool('hang', never, { ttlMs: 99_999 })
  for (const ttlMs of [undefined, null, 99_999, Infinity, 10_000])
    expect(await node.start('hang', { ttlMs })).toMatchObject({ ttlMs: 10_000 })
  expect(await node.start('hang', { ttlMs: 10 })).toMatchObject({ ttlMs: 10 })
})

test('a result that is too large fails its task', async () => {
  const text = 'x'.repeat(1000)
  const node = new Node({ limits: { taskResultBytes: 1000 } }).tool('large', () => ({ content: [{ text }] }))
  const { id } = await node.start('large')
  await settled()
  expect(await node.record(id)).toMatchObject({
    status: 'failed',
    statusMessage: 'the result of the task has more than 1000 bytes',
    outcome: expect.stringContaining('task_result_too_large') as string,
  })
})

test('one caller gets at most a quarter of the memory that the others leave free', async () => {
  const text = 'x'.repeat(50_000)
  const node = new Node({ limits: { taskBytes: 400_000 } }).tool('large', () => ({ content: [{ text }] }))
  const ids: string[] = []
  for (let count = 0; count < 2; count++) ids.push((await node.start('large')).id)
  await settled()
  expect(await node.status(ids[0]!)).toBe('completed')
  expect(await node.record(ids[1]!)).toMatchObject({
    status: 'failed',
    outcome: expect.stringContaining('tasks_too_large') as string,
  })
  const bob = await node.start('large', of('bob'))
  await settled()
  expect(await node.status(bob.id)).toBe('completed')
  // What is removed is free again.
  await node.clock.pass(3_700_000)
  expect(node.tasks.bytes.total).toBe(0)
})

test('answers and kept values count too', async () => {
  const node = new Node({ limits: { taskBytes: 80_000 } }).tool('keep', async (run) => {
    await run.once('large', () => 'x'.repeat(6000))
    return DONE
  })
  const { id } = await node.start('keep')
  await settled()
  expect(await node.record(id)).toMatchObject({ status: 'failed' })
})

test('a store on disk takes the memory of running tasks only', async () => {
  const node = new Node({ isInMemory: false }).tool('quick', () => DONE).tool('hang', never)
  await node.start('quick')
  await settled()
  expect(node.tasks.bytes.total).toBe(0)
  await node.start('hang')
  expect(node.tasks.bytes.total).toBeGreaterThan(500)
})

test('only so many handlers of a tool run at once, in order, and one that gives up makes room', async () => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const node = new Node().tool(
    'work',
    (run) => {
      const id = run.head!.id
      begun.push(id)
      return new Promise((resolve) => ends.set(id, () => resolve(DONE)))
    },
    { concurrency: 2 },
  )
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await node.start('work')).id)
  await settled()
  expect(begun).toEqual(ids.slice(0, 2))
  await node.tasks.cancel(ids[2]!, 'ann')
  ends.get(ids[0]!)!()
  await settled()
  expect(begun).toEqual([ids[0], ids[1], ids[3]])
  ends.get(ids[3]!)!()
  ends.get(ids[1]!)!()
  await settled()
  expect(begun).toEqual([ids[0], ids[1], ids[3], ids[4]])
})

test('ids of tasks have almost 144 random bits', () => {
  const ids = Array.from({ length: 10_000 }, () => newTaskId())
  expect(new Set(ids).size).toBe(10_000)
  expect(ids.every((id) => /^[\w-]{24}$/.test(id))).toBe(true)
  // Each of the 24 places takes all 64 values, so none of the bits is fixed; only the first is never -.
  for (let place = 0; place < 24; place++)
    expect(new Set(ids.map((id) => id[place])).size).toBe(place === 0 ? 63 : 64)
})

test('what a failed task keeps for an operator counts, too', async () => {
  const node = new Node({ limits: { taskBytes: 180_000 } }).tool('keep', async (run) => {
    await run.once('large', () => 'x'.repeat(5000))
    throw new Error('broken')
  })
  await node.start('keep')
  await settled()
  expect(node.tasks.bytes.total).toBeGreaterThan(5000)
})

/** An anonymous caller in a session of its own, or without one. */
const from = (network: string, session = ''): object => ({ caller: { owner: '', scope: session, network } })

test.each([
  ['sessions', (count: number) => `session ${count}`],
  ['callers without a session', () => ''],
])('L.addresses %s of one address leave places for tasks of others', async (_, sessionOf) => {
  const node = new Node({ limits: { tasks: 100, callerTasks: 20, taskBytes: 2_000_000 } }).tool('hang', never)
  const begun = []
  for (let count = 0; count < 200; count++)
    begun.push(
      await node.start('hang', from('10.0.0.1', sessionOf(count))).catch((error: McpError) => error.kind),
    )
  const rejected = begun.filter((each) => typeof each === 'string')
  expect(begun.length - rejected.length).toBe(75)
  expect(new Set(rejected)).toEqual(new Set(['too_many_caller_tasks']))
  for (let count = 0; count < 10; count++) await node.start('hang', from('10.0.0.2', sessionOf(count)))
})

test.each([
  ['sessions', (count: number) => `session ${count}`],
  ['callers without a session', () => ''],
])('L.addresses %s of one address leave memory for tasks of others', async (_, sessionOf) => {
  const node = new Node({ limits: { taskBytes: 800_000 } }).tool('hang', never)
  let kind = ''
  for (let count = 0; count < 200 && kind === ''; count++)
    await node
      .start('hang', from('10.0.0.1', sessionOf(count)))
      .catch((error: McpError) => (kind = error.kind))
  expect(kind).toBe('tasks_too_large')
  expect(node.tasks.bytes.total).toBeLessThan(760_000)
  await node.start('hang', from('10.0.0.2', sessionOf(0)))
})

test('tasks of an address whose time is over make room at once', async () => {
  const node = new Node({ limits: { tasks: 4 } }).tool('hang', never)
  const start = (): Promise<unknown> => node.start('hang', { ...from('10.0.0.1'), ttlMs: 1000 })
  for (let count = 0; count < 3; count++) await start()
  await expect(start()).rejects.toMatchObject({ kind: 'too_many_caller_tasks' })
  node.clock.set(node.clock.now() + 1001)
  await start()
})

test.each([
  ['places', { limits: { tasks: 2 } }],
  ['places of its caller', { limits: { callerTasks: 2 } }],
  ['memory', { limits: { taskBytes: 56_000 } }],
])('expired tasks free their %s before the next sweep', async (_, options) => {
  const node = new Node(options).tool('hang', never)
  await node.start('hang', { ttlMs: 1000 })
  await node.start('hang', { ttlMs: 1000 }).catch(() => undefined)
  await expect(node.start('hang')).rejects.toMatchObject({ retryable: true })
  node.clock.set(node.clock.now() + 1000)
  await node.start('hang')
})

test('an expired task frees its key, and exists for operators no more, before the next sweep', async () => {
  const node = new Node().tool('hang', never).tool('broken', () => Promise.reject(new Error('broken')))
  const first = await node.start('hang', { key: 'k', ttlMs: 1000 })
  const failed = await node.start('broken', { ttlMs: 1000 })
  await settled()
  expect(await node.start('hang', { key: 'k' })).toEqual(first)
  node.clock.set(node.clock.now() + 1000)
  expect(await node.tasks.list({ limit: 10 })).toEqual([])
  expect(await node.tasks.show(first.id)).toBeUndefined()
  expect(await node.tasks.cancel(first.id, undefined)).toBeUndefined()
  expect(await node.tasks.retry(failed.id)).toBeUndefined()
  const second = await node.start('hang', { key: 'k' })
  expect(second.id).not.toBe(first.id)
})

test('a server frees the memory of its tasks that another server with the same store removes', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const [one, other] = ['films', 'books'].map((server) =>
    new Node({ store, clock, server }).tool('quick', () => DONE),
  ) as [Node, Node]
  await one.start('quick', { ttlMs: 1000 })
  await other.start('quick', { ttlMs: 60_000 })
  await settled()
  clock.set(clock.now() + 2000)
  const [before, rest] = [one.tasks.bytes.total, other.tasks.bytes.total]
  expect(before).toBeGreaterThan(0)
  await other.tasks.upkeep.expire(clock.now())
  expect(one.tasks.bytes.total).toBe(0)
  expect(other.tasks.bytes.total).toBe(rest)
})

test('a store on disk keeps only so many bytes of one caller, and of all', async () => {
  const text = 'x'.repeat(5000)
  const node = new Node({ isInMemory: false, limits: { taskBytes: 40_000 } }).tool('large', () => ({
    content: [{ text }],
  }))
  const first = await node.start('large')
  const second = await node.start('large')
  await settled()
  expect(await node.status(first.id)).toBe('completed')
  expect(await node.record(second.id)).toMatchObject({
    status: 'failed',
    outcome: expect.stringContaining('tasks_too_large') as string,
  })
  const error = await (async () => {
    for (let count = 0; count < 100; count++) {
      await node.start('large')
      await settled()
    }
    return undefined
  })().catch((thrown: McpError) => thrown)
  expect(error).toMatchObject({ kind: 'tasks_too_large', data: { taskBytes: 40_000 } })
  expect(node.tasks.bytes.total).toBe(0)
  const bob = await node.start('large', of('bob'))
  await settled()
  expect(await node.status(bob.id)).toBe('completed')
})

test('a kept value for which a store on disk has no room fails its task, and is not kept', async () => {
  const node = new Node({ isInMemory: false, limits: { taskBytes: 40_000 } })
    .tool('fill', () => ({ content: [{ text: 'x'.repeat(6000) }] }))
    .tool('keep', async (run) => {
      await run.once('large', () => 'y'.repeat(5000))
      return DONE
    })
  await node.start('fill')
  await settled()
  const { id } = await node.start('keep')
  await settled()
  const record = await node.record(id)
  expect(record).toMatchObject({ status: 'failed', outcome: expect.stringContaining('tasks_too_large') })
  expect(record?.state).not.toContain('yyy')
})

test('L.addresses callers of one address leave places to others, also those of several processes together', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const nodes = [1, 2].map(() =>
    new Node({ store, clock, isInMemory: false, limits: { tasks: 100 } }).tool('hang', never),
  )
  const begun = []
  for (let count = 0; count < 200; count++)
    begun.push(
      await nodes[count % 2]!.start('hang', from('10.0.0.1', `session ${count}`)).catch(
        (error: McpError) => error.kind,
      ),
    )
  const rejected = begun.filter((each) => typeof each === 'string')
  expect(begun.length - rejected.length).toBe(75)
  expect(new Set(rejected)).toEqual(new Set(['too_many_caller_tasks']))
  await nodes[0]!.start('hang', from('10.0.0.2'))
  await nodes[1]!.start('hang', of('bob'))
})

test('a retry counts for the caller of the task that failed', async () => {
  const node = new Node({ limits: { taskBytes: 180_000 } }).tool('work', () => {
    throw new Error('broken')
  })
  const draft = {
    ...from('10.0.0.1'),
    request: {
      revision: '2026-07-28',
      params: { name: 'work', text: 'x'.repeat(12_000) },
      client: undefined,
      capabilities: {},
      auth: undefined,
      ip: '10.0.0.1',
    },
  }
  const { id: first } = await node.start('work', draft)
  await settled()
  const { id } = await node.start('work', draft)
  await settled()
  await node.tasks.retry(first)
  expect(await node.status(id)).toBe('failed')
  await expect((async () => node.tasks.retry(id))()).rejects.toMatchObject({ kind: 'tasks_too_large' })
})
