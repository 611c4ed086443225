import { expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import { Gate } from '../http/server.ts'
import { headed } from '../http/messages.ts'
import { after, dial, serve, type Wire } from '../tcp/wire.ts'

const DECLARED = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } }

/** A store that is asked for tasks, and answers only after a while. */
class SlowTasks extends MemoryTaskStore {
  readonly gate = new Gate()
  asked = 0
  ids = 0

  override owned(ids: readonly string[], owner: string): never {
    this.asked++
    this.ids += ids.length
    return this.gate.opened.then(() => super.owned(ids, owner)) as never
  }
}

async function open(
  limits: Readonly<Record<string, number>>,
): Promise<{ app: App; store: SlowTasks; wire: Wire }> {
  const store = new SlowTasks()
  const app = createServer({
    name: 'slow',
    version: '1',
    log: () => undefined,
    store: { tasks: store },
    limits: { drainMs: 1, ...limits },
  })
  app.tool('work', { task: 'optional' }, () => 'done')
  const wire = await dial((await serve(app)).addresses.tcp)
  after(() => store.gate.open())
  return { app, store, wire }
}

function listen(taskIds: readonly string[], id: number): string {
  return `${headed('subscriptions/listen', { notifications: { toolsListChanged: true, taskIds }, _meta: DECLARED }, id).body}\n`
}

function ids(of: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `task-${of}-${at}`.padEnd(24, '-'))
}

test('L.streams requests that listen for tasks count as streams while the store is asked for the tasks', async () => {
  const { app, store, wire } = await open({ streams: 4 })
  await wire.write(...Array.from({ length: 20 }, (_, at) => listen(ids(at, 3), at + 1)))
  const refused = await wire.heard(16, 4000)
  expect(refused.map(({ error }) => error?.message)).toEqual(Array(16).fill(refused[0]?.error?.message))
  // One caller asks the store for one request at a time, with all its tasks.
  expect([app.counts.get('too_many_streams'), store.asked, store.ids]).toEqual([16, 1, 3])
  store.gate.open()
  await wire.heard(20)
  expect(wire.said.split('acknowledged')).toHaveLength(5)
  expect([store.asked, store.ids]).toEqual([4, 12])
})

test('L.streams what they ask for counts towards the memory that is held, and is free when they are refused', async () => {
  const { app, store, wire } = await open({ streams: 1000, heldBytes: 4_194_304 })
  await wire.write(...Array.from({ length: 20 }, (_, at) => listen(ids(at, 500), at + 1)))
  await expect.poll(() => app.counts.get('too_much_held')).toBeGreaterThan(10)
  store.gate.open()
  await wire.heard(20)
  wire.said = ''
  await wire.write(listen(ids(0, 500), 100))
  await wire.heard(1)
  expect(wire.said).toContain('acknowledged')
})

test('L.streams the store is not asked for ids that no task can have', async () => {
  const { store, wire } = await open({})
  store.gate.open()
  await wire.write(listen(['x'.repeat(65), 'short', `${'x'.repeat(23)}.`], 1))
  await wire.heard(1)
  expect(wire.said).toContain('"taskIds":[]')
  expect(store.asked).toBe(0)
  await wire.write(listen(['x'.repeat(65), 'x'.repeat(24), 'x'.repeat(24)], 2))
  await wire.heard(2)
  expect([store.asked, store.ids]).toEqual([1, 1])
})

test('L.streams a request with the most tasks takes a few steps of the store', async () => {
  const { store, wire } = await open({})
  store.gate.open()
  await wire.write(listen(ids(0, 1000), 1))
  await wire.heard(1)
  expect([store.asked, store.ids]).toEqual([5, 1000])
})
