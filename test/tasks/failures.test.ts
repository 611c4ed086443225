import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { ownerOf } from '../../src/rpc/call.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import { memory } from '../../src/stores.ts'
import type { TaskRecord, TaskRequest } from '../../src/tasks/record.ts'
import { testClient } from '../../src/testing.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined } as const

test('claims of a caller that JSON cannot carry stop no task', async () => {
  const store = memory()
  const app = createServer({ ...quiet, store })
    .tool('must', { task: 'required' }, (_, { auth }) => `account ${String(auth?.['account'])}`)
    .tool('may', { task: { after: 0 } }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  const auth = { sub: 'ann', account: 42n, rows: [{ id: 1n }], loop, has: () => true }
  const client = await testClient(app, { auth })
  expect(await client.call('must', {})).toBe('account 42')
  const id = (await client.start('may', {})).id as string
  const { request } = (await store.tasks.get(id)) as TaskRecord
  expect((JSON.parse(request) as TaskRequest).auth).toEqual({
    sub: 'ann',
    account: '42',
    rows: [{ id: '1' }],
  })
  await app.tasks.cancel(id)
  await app.close()
})

test('a call goes on as an ordinary call if the store throws, and the log says why', async () => {
  const logged: string[] = []
  const store = new MemoryTaskStore()
  const refused = new Promise<void>((resolve) => {
    store.create = () => {
      resolve()
      throw new Error('busy')
    }
  })
  const app = createServer({
    ...quiet,
    store: { tasks: store },
    log: (_, message) => void logged.push(message),
  }).tool('may', { task: { after: 0 } }, async () => {
    await refused
    return 'done'
  })
  const client = await testClient(app)
  expect(await client.call('may', {})).toBe('done')
  expect(logged).toContain('the task store failed')
  await app.close()
})

test('revoking a caller cancels its tasks and stops their handlers', async () => {
  const begun: unknown[] = []
  const stopped: unknown[] = []
  const app = createServer(quiet).tool('hang', { task: 'required' }, async (_, { auth, signal }) => {
    begun.push(auth?.sub)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    stopped.push(auth?.sub)
  })
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((sub) => testClient(app, { auth: { sub } })))
  const tasks = [await ann!.start('hang', {}), await bob!.start('hang', {})].map(({ id }) => id as string)
  const statuses = async (): Promise<unknown> =>
    (await Promise.all(tasks.map((id) => app.tasks.show(id)))).map((task) => task?.status)
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  void app.revoke({ sub: 'ann' })
  await vi.waitFor(async () => expect(await statuses()).toEqual(['cancelled', 'working']))
  await app.tasks.cancel(tasks[1]!)
  await vi.waitFor(() => expect(stopped).toEqual(['ann', 'bob']))
  await app.close()
})

test('a task of a caller that was revoked after its creation does not run again', async () => {
  const { tasks } = memory()
  const ran: unknown[] = []
  const app = createServer({ ...quiet, store: { tasks } }).tool(
    'work',
    { task: 'required' },
    (_, { auth }) => {
      ran.push(auth?.sub)
      return 'done'
    },
  )
  void app.revoke({ sub: 'ann' })
  const add = (id: string, sub: string, createdAt: number): unknown =>
    tasks.create(waiting(id, sub, createdAt), { tasks: 10, callerTasks: 10, taskBytes: 1e9 })
  await add('old', 'ann', 1)
  await add('new', 'ann', Date.now() + 1000)
  await add('other', 'bob', 1)
  await testClient(app)
  const statuses = async (): Promise<unknown> =>
    Promise.all(['old', 'new', 'other'].map(async (id) => (await tasks.head(id))?.status))
  await vi.waitFor(async () => expect(await statuses()).toEqual(['cancelled', 'completed', 'completed']))
  expect(ran).toHaveLength(2)
  await app.close()
})

test('revoking a caller cancels its tasks in a shared store, also those that wait or run on another node', async () => {
  const { tasks } = memory()
  const create = (): App =>
    createServer({ ...quiet, store: { tasks } }).tool(
      'hang',
      { task: 'required' },
      async (_, { auth, signal }) => {
        begun.push(auth?.sub)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        stopped.push(auth?.sub)
      },
    )
  const begun: unknown[] = []
  const stopped: unknown[] = []
  const [one, other] = [create(), create()]
  const later = Date.now() + 3_600_000
  for (const sub of ['ann', 'bob'])
    await tasks.create(
      { ...waiting(sub, sub, Date.now()), dueAt: later },
      { tasks: 10, callerTasks: 10, taskBytes: 1e9 },
    )
  const ann = await testClient(one, { auth: { sub: 'ann' } })
  const { id } = await ann.start('hang', {})
  await testClient(other)
  await vi.waitFor(() => expect(begun).toEqual(['ann']))
  void other.revoke({ sub: 'ann' })
  await vi.waitFor(() => expect(stopped).toEqual(['ann']))
  const statuses = async (): Promise<unknown> =>
    Promise.all([id!, 'ann', 'bob'].map(async (each) => (await tasks.head(each))?.status))
  await vi.waitFor(async () => expect(await statuses()).toEqual(['cancelled', 'cancelled', 'working']))
  await Promise.all([one.close(), other.close()])
})

/** A task that waits for its second attempt. */
function waiting(id: string, sub: string, createdAt: number): TaskRecord {
  const request: TaskRequest = {
    revision: '2026-07-28',
    params: { name: 'work' },
    client: undefined,
    capabilities: {},
    auth: { sub },
    ip: undefined,
  }
  return {
    id,
    server: 'tasks',
    owner: ownerOf({ sub }),
    scope: ownerOf({ sub }),
    network: '',
    tool: 'work',
    key: '',
    same: '',
    isShared: false,
    status: 'working',
    statusMessage: '',
    isError: false,
    createdAt,
    updatedAt: createdAt,
    ttlMs: null,
    pollMs: 1000,
    attempt: 2,
    dueAt: 1,
    node: '',
    version: 1,
    request: JSON.stringify(request),
    state: '',
    outcome: '',
  }
}

test('servers that share a store keep their tasks apart, and a script leaves its retries to a server', async () => {
  const { tasks } = memory()
  const ran: string[] = []
  let isBad = true
  const create = (name: string, by: string): App =>
    createServer({ ...quiet, name, store: { tasks } }).tool('work', { task: 'required' }, () => {
      if (isBad) throw new Error('no')
      ran.push(by)
      return 'done'
    })
  const films = create('films', 'server')
  const client = await testClient(films, { auth: { sub: 'ann' } })
  const task = await client.start('work', {})
  await expect(task.result()).rejects.toThrow('failed')
  const id = task.id as string
  isBad = false
  const books = create('books', 'books')
  expect(await books.tasks.list()).toEqual([])
  await expect(books.tasks.retry(id)).rejects.toMatchObject({ kind: 'unknown_task' })
  const script = create('films', 'script')
  const again = await script.tasks.retry(id)
  await script.close()
  await expect(script.tasks.retry(id)).rejects.toMatchObject({ kind: 'shutting_down' })
  await films.close()
  const next = create('films', 'server')
  const later = await testClient(next, { auth: { sub: 'ann' } })
  expect(await (await later.resume(again.id)).result()).toBe('done')
  expect(ran).toEqual(['server'])
  await next.close()
})

describe.each(['2025-11-25', '2026-07-28'] as const)('at %s', (revision) => {
  const accepted = (x: string) => ({ action: 'accept' as const, content: { x } })

  test('an answer that the store refuses once is not lost', async () => {
    const store = new MemoryTaskStore()
    const change = store.change.bind(store)
    let isRefused = false
    store.change = (...args) => {
      if (isRefused || args[2].state?.includes('harbour') !== true) return change(...args)
      isRefused = true
      throw new Error('busy')
    }
    const app = createServer({ ...quiet, store: { tasks: store } }).tool(
      'ask',
      { task: { mode: 'required', poll: '50ms' } },
      async (_, { elicit }) => JSON.stringify(await elicit('Where?', z.object({ x: z.string() }))),
    )
    const client = await testClient(app, { revision, answers: { elicit: () => accepted('harbour') } })
    const task = await client.start('ask', {})
    expect(await task.result()).toContain('harbour')
    expect(isRefused).toBe(true)
    await app.close()
  })

  test('an answer for which there is no room fails the question', async () => {
    const app = createServer({ ...quiet, limits: { taskBytes: 40_000 } }).tool(
      'ask',
      { task: { mode: 'required', poll: '50ms' } },
      async (_, { elicit }) => {
        const answer = elicit('Where?', z.object({ x: z.string() }))
        return answer.then(
          () => 'answered',
          (error: { kind: string }) => error.kind,
        )
      },
    )
    const client = await testClient(app, {
      revision,
      answers: { elicit: () => accepted('y'.repeat(30_000)) },
    })
    const task = await client.start('ask', {})
    expect(await task.result()).toBe('tasks_too_large')
    await app.close()
  })
})
