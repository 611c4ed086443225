import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { redis, type RedisOptions, type TaskStore } from '../../src/stores.ts'
import { addTasks, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const CHILD = fileURLToPath(new URL('tasks-redis-child.ts', import.meta.url))
const REQUEST = JSON.stringify({
  revision: '2026-07-28',
  params: { name: 'render', arguments: {} },
  capabilities: {},
})

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

interface Node {
  readonly app: App
  readonly store: TaskStore
  /** Ends the server, and then its store. */
  close(): Promise<void>
}

interface NodeOptions extends RedisOptions {
  readonly tool?: string
  readonly work?: () => unknown
}

/** How many connections wait for jobs. */
async function workers(prefix: string): Promise<number> {
  const client = new Redis(server.url)
  const list = String(await client.client('LIST'))
  client.disconnect()
  return list.split('\n').filter((line) => line.includes(`name=${prefix}:`) && line.includes('cmd=bzpopmin'))
    .length
}

/**
 * A server with one tool. Nodes look at the store at the start, and then again after a third of the lease, which is hours: whatever
 * happens between, they were told.
 */
async function startNode({ tool = 'render', work = () => 'done', ...options }: NodeOptions): Promise<Node> {
  const before = await workers(options.prefix ?? '')
  const store = redis({ url: server.url, lease: '24h', warn() {}, ...options })
  const limits = { drainMs: 1 }
  const app = createServer({ name: 'films', version: '1.0.0', store, limits, log: () => undefined })
  app.tool(tool, { input: { type: 'object' }, task: { onRestart: 'retry', concurrency: 1 } }, async () => {
    await work()
    return 'done'
  })
  await app.listen({ http: { port: 0 } })
  // It has looked at the store when its queue has one more worker.
  await expect.poll(() => workers(options.prefix ?? ''), { timeout: 20_000 }).toBeGreaterThan(before)
  const close = async (): Promise<void> => {
    await app.close()
    await store.close()
  }
  onTestFinished(close)
  return { app: app as unknown as App, store: store.tasks, close }
}

const waiting = (members: object = {}): ReturnType<typeof sampleTask> =>
  sampleTask({ node: '', dueAt: 1, request: REQUEST, ...members })

const statusOf = async ({ store }: Node, id: string): Promise<unknown> => (await store.head(id))?.status

test('a task that waits begins at once, on a node of its server', async () => {
  const prefix = crypto.randomUUID()
  const node = await startNode({ prefix })
  const other = redis({ url: server.url, prefix, warn() {} })
  onTestFinished(() => other.close())
  const task = waiting()
  await other.tasks.create(task, ROOMY)
  await expect.poll(() => statusOf(node, task.id)).toBe('completed')
})

test('a retry of an operator begins at once, on whichever node', async () => {
  const prefix = crypto.randomUUID()
  const node = await startNode({ prefix })
  const [id = ''] = await addTasks(node.store, 1, () => ({ status: 'failed', node: '', request: REQUEST }))
  const store = redis({ url: server.url, prefix, warn() {} })
  const operator = createServer({ name: 'films', version: '1.0.0', store, log: () => undefined })
  const again = await operator.tasks.retry(id)
  await operator.close()
  await store.close()
  await expect.poll(() => statusOf(node, again?.id ?? '')).toBe('completed')
})

test('a task begins when it is due, not before', async () => {
  const prefix = crypto.randomUUID()
  const node = await startNode({ prefix })
  const task = waiting({ dueAt: Date.now() + 700 })
  await node.store.create(task, ROOMY)
  await expect.poll(() => statusOf(node, task.id)).toBe('completed')
  expect((await node.store.head(task.id))?.updatedAt).toBeGreaterThanOrEqual(task.dueAt)
})

/** Shifts the wall clock of this process for a test. Answers the right one. */
function shiftClock(ms: number): () => number {
  const real = Date.now
  const shifted = vi.spyOn(Date, 'now').mockImplementation(() => real() + ms)
  onTestFinished(() => shifted.mockRestore())
  return real
}

test('a node whose clock is ahead by more than a lease leaves running tasks to their node', async () => {
  const prefix = crypto.randomUUID()
  const ran: string[] = []
  const never = new Promise(() => undefined)
  const one = await startNode({ prefix, work: () => (ran.push('one'), never) })
  await one.store.create(waiting(), ROOMY)
  await expect.poll(() => ran).toEqual(['one'])
  shiftClock(25 * 60 * 60_000)
  await startNode({ prefix, work: () => ran.push('two') })
  expect(ran).toEqual(['one'])
})

test.each([90_000, -90_000])(
  'a task begins when it is due on a clock that is %i ms ahead',
  async (aheadMs) => {
    const real = shiftClock(aheadMs)
    const prefix = crypto.randomUUID()
    const node = await startNode({ prefix })
    const now = (await node.store.now?.()) ?? 0
    expect(Math.abs(now - real())).toBeLessThan(60_000)
    const task = waiting({ dueAt: now + 700 })
    await node.store.create(task, ROOMY)
    await expect.poll(() => statusOf(node, task.id), { timeout: 10_000 }).toBe('completed')
    expect((await node.store.head(task.id))?.updatedAt).toBeGreaterThanOrEqual(task.dueAt)
  },
)

test(
  'a node that has no room, or not the tool, leaves a task to another one',
  { timeout: 60_000 },
  async () => {
    const prefix = crypto.randomUUID()
    const ran: string[] = []
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    onTestFinished(() => end())
    const busy = await startNode({ prefix, work: () => (ran.push('busy'), ended) })
    await startNode({ prefix, tool: 'other' })
    const first = waiting()
    await busy.store.create(first, ROOMY)
    await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['busy'])
    const second = waiting()
    await busy.store.create(second, ROOMY)
    await startNode({ prefix, work: () => ran.push('free') })
    await expect.poll(() => statusOf(busy, second.id), { timeout: 40_000 }).toBe('completed')
    expect(ran).toEqual(['busy', 'free'])
    expect(await statusOf(busy, first.id)).toBe('working')
    end()
  },
)

test('what a node gives up when it stops begins at once on another one', async () => {
  const prefix = crypto.randomUUID()
  let begun = 0
  const work = (): unknown => (++begun === 1 ? new Promise(() => undefined) : undefined)
  const one = await startNode({ prefix, work })
  const task = waiting()
  await one.store.create(task, ROOMY)
  await expect.poll(() => begun).toBe(1)
  const two = await startNode({ prefix, work })
  await one.close()
  await expect.poll(() => statusOf(two, task.id), { timeout: 10_000 }).toBe('completed')
  expect(begun).toBe(2)
})

test(
  'after a restart of Redis, nodes are told again, and what was promised to them before',
  { timeout: 60_000 },
  async () => {
    const prefix = crypto.randomUUID()
    const node = await startNode({ prefix, commandTimeout: '30s' })
    const before = waiting({ dueAt: Date.now() + 2000 })
    await node.store.create(before, ROOMY)
    await server.kill()
    await server.restart()
    const after = waiting()
    await node.store.create(after, ROOMY)
    for (const { id } of [before, after])
      await expect.poll(() => statusOf(node, id), { timeout: 40_000 }).toBe('completed')
  },
)

test('a server closes in time while Redis is away', { timeout: 60_000 }, async () => {
  const own = await startRedis()
  onTestFinished(() => own.close())
  const store = redis({ url: own.url, commandTimeout: '200ms', warn() {} })
  const app = createServer({ name: 'films', version: '1.0.0', store, log: () => undefined })
  app.tool('render', { input: { type: 'object' }, task: 'optional' }, () => 'done')
  await app.listen({ http: { port: 0 } })
  await expect.poll(() => own.send('CLIENT', 'LIST')).toContain('cmd=bzpopmin')
  await own.kill()
  await app.close()
  await store.close()
  await expect(store.tasks.head('a')).rejects.toMatchObject({ kind: 'store_closed' })
})

/** A process that serves tasks of one Redis, with a lease of a second, and what it said. */
function startProcess(prefix: string): { readonly child: ChildProcess; readonly said: string[] } {
  const child = fork(CHILD, [server.url, prefix], {
    execArgv: ['--import', 'tsx', '--conditions=pierhead-source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  child.on('message', (text) => void said.push(text as string))
  return { child, said }
}

test('a node that stood still beyond its lease cannot write its outcome', { timeout: 90_000 }, async () => {
  const prefix = crypto.randomUUID()
  const { tasks, close } = redis({ url: server.url, prefix, warn() {} })
  onTestFinished(() => close())
  const one = startProcess(prefix)
  const task = waiting()
  await tasks.create(task, ROOMY)
  await expect.poll(() => one.said, { timeout: 30_000 }).toContain('begun')
  one.child.kill('SIGSTOP')
  // The second process takes it over, and waits for a word, as the first does.
  const two = startProcess(prefix)
  await expect.poll(() => two.said, { timeout: 30_000 }).toContain('begun')
  expect(await tasks.head(task.id)).toMatchObject({ status: 'working', attempt: 2 })
  one.child.send('end')
  one.child.kill('SIGCONT')
  await expect.poll(() => one.said, { timeout: 30_000 }).toContain('ended')
  expect(await tasks.head(task.id)).toMatchObject({ status: 'working', attempt: 2 })
  two.child.send('end')
  await expect.poll(async () => (await tasks.head(task.id))?.status, { timeout: 30_000 }).toBe('completed')
  expect((await tasks.get(task.id))?.outcome).toContain(`by ${two.child.pid}`)
})
