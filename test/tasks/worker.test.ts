import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { memory, sqlite } from '../../src/stores.ts'
import type { ServerStore } from '../../src/app/options.ts'
import type { TaskStore } from '../../src/tasks/store.ts'
import { Door } from '../harness/door.ts'
import { Stores } from '../nodes/store.ts'

const CHILD = fileURLToPath(new URL('worker-child.ts', import.meta.url))

/** A server that never finishes the tasks it accepts, and leaves them when it closes. */
async function leaveTask(path: string): Promise<string> {
  const door = new Door()
  const store = sqlite(path)
  const app = createServer({
    name: 'works',
    version: '1',
    store,
    log: () => undefined,
    limits: { drainMs: 1 },
  })
  app.tool('work', { hints: { idempotent: true }, task: { mode: 'required' } }, async () => {
    door.open('begun')
    await new Promise(() => undefined)
  })
  const { url } = await app.listen({ http: { port: 0 } })
  const client = await connect(url as string)
  const { id } = await client.start('work')
  await door.pass('begun')
  await client.close()
  await app.close()
  await store.close()
  return id as string
}

test('a worker process runs tasks that others left, stays alive without a transport, and ends on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-worker-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'tasks.db')
  const first = await leaveTask(path)
  const worker = fork(CHILD, [path], { execArgv: ['--import', 'tsx', '--conditions=pierhead-source'] })
  onTestFinished(() => void worker.kill('SIGKILL'))
  await once(worker, 'message')
  worker.disconnect()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  const outcomeOf = async (id: string): Promise<unknown> => (await store.tasks.get(id))?.outcome
  await expect.poll(() => outcomeOf(first), { timeout: 15_000 }).toContain(`worker ${worker.pid}`)
  const second = await leaveTask(path)
  await expect.poll(() => outcomeOf(second), { timeout: 15_000 }).toContain(`worker ${worker.pid}`)
  worker.kill('SIGTERM')
  expect(await once(worker, 'exit')).toEqual([0, null])
}, 60_000)

test('a worker is closed by itself or with its server, and may work again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-worker-'))
  const store = sqlite(join(folder, 'tasks.db'))
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const stops: string[] = []
  const app = createServer({ name: 'works', version: '1', store, onStop: () => void stops.push('stop') })
  const first = await app.work()
  expect([first.url, first.addresses]).toEqual([undefined, {}])
  await first.close()
  await first.closed
  const second = await app.work()
  await app.close()
  await second.closed
  expect(stops).toEqual(['stop', 'stop'])
})

describe('with a registry of nodes', () => {
  const noted = (driver: ServerStore, tasks: TaskStore, kinds: readonly string[]): ServerStore => ({
    ...Object.fromEntries(Object.entries(driver).filter(([kind]) => kinds.includes(kind))),
    tasks,
  })
  /** Two workers and a server that serve the same tasks, each with these kinds of store. */
  const startAll = async (kinds: readonly string[]): Promise<Stores> => {
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-worker-'))
    const files = sqlite(join(folder, 'tasks.db'))
    const stores = new Stores()
    const apps = ['one', 'two', 'three'].map((name) => {
      const store = noted(stores.view(name).driver, files.tasks, kinds)
      return createServer({ name: 'works', version: '1', store }).tool('work', { task: 'optional' }, () => '')
    }) as [App, App, App]
    onTestFinished(async () => {
      for (const app of apps) await app.close()
      await files.close()
      rmSync(folder, { recursive: true, force: true })
    })
    await apps[0].work()
    await apps[1].work()
    await apps[2].listen({ tcp: { port: 0 } })
    return stores
  }

  test('workers share only tasks, beside a server that keeps sessions in its memory', async () => {
    const stores = await startAll(['nodes'])
    // The server alone.
    expect(stores.nodes.numbers).toHaveLength(1)
  })

  test('workers that share everything are nodes, so that clients of others hear of their changes', async () => {
    const stores = await startAll(['nodes', 'sessions', 'events', 'changes', 'cache'])
    expect(stores.nodes.numbers).toHaveLength(3)
  })
})

test.each([
  ['without a store', {}],
  ['with the memory of the process', { store: memory() }],
])('%s, a worker says what it needs', async (_, options) => {
  const app: App = createServer({ name: 'works', version: '1', ...options })
  await expect(app.work()).rejects.toThrow('give createServer a store that other processes share')
})
