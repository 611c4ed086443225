import { once } from 'node:events'
import { createServer as createNet, type AddressInfo } from 'node:net'
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/client.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App } from '../../src/index.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import type { TaskStore } from '../../src/tasks/store.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { settled } from '../harness/task-clock.ts'
import { BOTH, initialize } from '../http/messages.ts'

// Code that is loaded on demand takes real time the first time.
beforeAll(async () => {
  await Promise.all([import('../../src/server/task-host.ts'), import('../../src/app/listen/listen.ts')])
}, 60_000)

// The looks at the store wait for these timers; everything else is real.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

/** A store that other processes could share, as far as a server knows. */
class SharedTasks extends MemoryTaskStore {
  override readonly isInMemory = false as never
  beats: number[] = []

  override beat(node: string, until: number): void {
    this.beats.push(until)
    super.beat(node, until)
  }

  /** Adds a task that waits for a node. */
  leave(): void {
    const request = { revision: '2026-07-28', params: { name: 'work' }, capabilities: {} }
    this.create(
      sampleTask({
        id: crypto.randomUUID(),
        server: 'works',
        tool: 'work',
        node: '',
        dueAt: 1,
        createdAt: Date.now(),
        ttlMs: 3_600_000,
        request: JSON.stringify(request),
        state: '',
      }),
      ROOMY,
    )
  }
}

/** A server that says in which order it starts, runs tasks, and stops. */
function serve({ hasHooks = true, starting = Promise.resolve(), work = () => Promise.resolve() } = {}) {
  const seen: string[] = []
  const tasks = new SharedTasks()
  const hooks = {
    onStart: async () => {
      await starting
      seen.push('started')
    },
    onStop: () => void seen.push('stopped'),
  }
  const app: App = createServer({
    name: 'works',
    version: '1',
    store: { tasks: tasks as TaskStore },
    log: () => undefined,
    limits: { drainMs: 5000 },
    ...(hasHooks && hooks),
  })
  app.tool('work', { hints: { idempotent: true }, task: { mode: 'required' } }, async () => {
    seen.push('begun')
    await work()
    seen.push('ended')
    return 'done'
  })
  onTestFinished(() => {
    vi.useRealTimers()
    return app.close()
  })
  return { app, seen, tasks }
}

/** Lets the timers of some looks at the store run. */
async function pass(ms = 60_000): Promise<void> {
  await settled()
  await vi.advanceTimersByTimeAsync(ms)
  await settled()
}

const asked = (): Request =>
  new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })

const USES: Readonly<Record<string, (app: App) => unknown>> = {
  'a worker': (app) => app.work(),
  'a listener': (app) => app.listen({ tcp: { port: 0 } }),
  'an HTTP listener': (app) => app.listen({ http: { port: 0 } }),
  'a mount': (app) => app.fetch(asked()),
  'a client in the process': (app) => connect(app),
}

test.each(Object.entries(USES))('with %s, tasks of the store begin after onStart', async (_, use) => {
  const { app, seen, tasks } = serve()
  tasks.leave()
  const used = use(app)
  await pass()
  await used
  await pass()
  expect(seen).toEqual(['started', 'begun', 'ended'])
})

test.each(Object.entries(USES))('with %s and without hooks, tasks of the store begin', async (_, use) => {
  const { app, seen, tasks } = serve({ hasHooks: false })
  tasks.leave()
  const used = use(app)
  await pass()
  await used
  await pass()
  expect(seen).toEqual(['begun', 'ended'])
})

test('nothing begins while onStart runs', async () => {
  const { promise, resolve } = new Deferred<void>()
  const { app, seen, tasks } = serve({ starting: promise })
  tasks.leave()
  const working = app.work()
  await pass()
  expect([seen, tasks.beats]).toEqual([[], []])
  resolve()
  await working
  await pass()
  expect(seen).toEqual(['started', 'begun', 'ended'])
})

test.each([true, false])(
  'a worker that has closed is dead, and begins nothing (hooks: %s)',
  async (hasHooks) => {
    const { app, seen, tasks } = serve({ hasHooks })
    const worker = await app.work()
    await pass(1000)
    await worker.close()
    expect(tasks.beats.at(-1)).toBeLessThanOrEqual(Date.now())
    const given = tasks.beats.length
    tasks.leave()
    await pass()
    expect([seen.includes('begun'), tasks.beats.length]).toEqual([false, given])
    await app.work()
    await pass()
    expect(seen).toContain('begun')
  },
)

test('a worker that is closed while it loads its tasks begins nothing', async () => {
  const { app, seen, tasks } = serve({ hasHooks: false })
  tasks.leave()
  await (await app.work()).close()
  await pass()
  expect(seen).toEqual([])
})

test('a server that could not listen runs no tasks', async () => {
  const other = createNet().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const { app, seen, tasks } = serve({ hasHooks: false })
  tasks.leave()
  const { port } = other.address() as AddressInfo
  await expect(app.listen({ http: { port } })).rejects.toThrow('is in use')
  await pass()
  expect([seen, tasks.beats]).toEqual([[], []])
})

test.each(['app', 'listener'])('the %s runs onStop after the tasks have ended', async (closed) => {
  const { promise, resolve } = new Deferred<void>()
  const { app, seen, tasks } = serve({ work: () => promise })
  const running = await app.listen({ http: { port: 0 } })
  tasks.leave()
  await pass(20_000)
  expect(seen).toEqual(['started', 'begun'])
  const closing = closed === 'app' ? app.close() : running.close()
  await settled()
  expect(seen).toEqual(['started', 'begun'])
  resolve()
  await pass(1000)
  await closing
  expect(seen).toEqual(['started', 'begun', 'ended', 'stopped'])
})

test.each(['a mount', 'a client in the process'])(
  'without hooks, %s keeps tasks running after a listener has closed',
  async (use) => {
    const { app, seen, tasks } = serve({ hasHooks: false })
    const running = await app.listen({ tcp: { port: 0 } })
    await USES[use]?.(app)
    await pass(1000)
    await running.close()
    tasks.leave()
    await pass()
    expect(seen).toEqual(['begun', 'ended'])
  },
)
