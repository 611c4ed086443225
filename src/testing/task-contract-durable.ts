import { addTasks, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'

const CREATED = 1_800_000_000_000

/** What stores promise that keep tasks when they are closed, and that several processes share. */
export const DURABLE_TASKS: Checks = {
  async 'tasks survive closing'({ store, again }) {
    const task = sampleTask({ key: 'k', ttlMs: 1000, state: '{}' })
    await store.create(task, ROOMY)
    await store.change(task.id, 1, { status: 'completed', node: '', outcome: '{"result":1}' })
    const others = await addTasks(store, 3)
    const record = await store.get(task.id)
    await store.close()
    const opened = await again()
    assertSame(await opened.get(task.id), record, 'get answers')
    assertSame(
      (await opened.list({ scope: 'ada', limit: 9 })).map(({ id }) => id),
      [task.id, ...others],
      'the list',
    )
    assertSame((await opened.create(sampleTask({ key: 'k' }), ROOMY)).outcome, 'exists', 'create answers')
    const full = await opened.create(sampleTask(), { ...ROOMY, callerTasks: 4 })
    assertSame(full.outcome, 'caller_full', 'create answers for a full scope')
    assertSame(await opened.expire(CREATED + 1000, 9), [task.id], 'expire answers')
  },

  async 'the lives of nodes survive closing'({ store, again }) {
    const [running = ''] = await addTasks(store, 1)
    await store.beat('node-1', CREATED + 100)
    await store.close()
    const opened = await again()
    assertSame(await opened.claim('node-2', CREATED, 9, OWN), [], 'claim answers while the node lives')
    const claimed = await opened.claim('node-2', CREATED + 100, 9, OWN)
    assertSame(
      claimed.map(({ id }) => id),
      [running],
      'claim answers afterwards',
    )
  },

  async 'connections see what others did'({ store, again }) {
    const other = await again()
    const [id = ''] = await addTasks(store, 1, () => ({ key: 'k' }))
    assertSame(await other.get(id), await store.get(id), 'get answers')
    await other.change(id, 1, { statusMessage: 'm' })
    assertSame((await store.head(id))?.statusMessage, 'm', 'the message')
    await other.beat('node-1', CREATED + 100)
    assertSame(await store.claim('node-2', CREATED, 9, OWN), [], 'claim answers')
    const full = await other.create(sampleTask(), { ...ROOMY, tasks: 1 })
    assertSame(full.outcome, 'full', 'create answers without room')
  },

  async 'watchers hear of changes through other connections'({ store, again, heard }) {
    const other = await again()
    const ids = await addTasks(store, 3, (position) => ({ ttlMs: position === 2 ? 1 : null, node: '' }))
    const [changed = '', claimed = '', removed = ''] = ids
    await heard(other, changed, () => store.change(changed, 1, { statusMessage: 'm' }))
    await heard(other, claimed, () => store.claim('node-2', 1, 5, OWN))
    await heard(other, removed, () => store.expire(Number.MAX_SAFE_INTEGER, 5))
  },

  async 'many writers on several connections do not fail'({ store, again }) {
    const stores = [store, await again(), await again()]
    const ids = await Promise.all(stores.map((one) => addTasks(one, 40)))
    await Promise.all(
      ids.map((own, position) =>
        Promise.all(own.map(async (id) => stores[position]?.change(id, 1, { status: 'completed' }))),
      ),
    )
    const heads = await store.list({ limit: 1000 })
    assertSame(
      heads.filter(({ status, version }) => status === 'completed' && version === 2).length,
      120,
      'tasks',
    )
  },
}
