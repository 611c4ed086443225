import type { TaskChange, TaskStore } from '../tasks/store.ts'
import { addTasks, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'

const EVERY_CHANGE: Required<TaskChange> = {
  status: 'failed',
  statusMessage: 'it broke',
  isError: true,
  updatedAt: 1_800_000_000_777,
  ttlMs: 5000,
  pollMs: 50,
  attempt: 2,
  dueAt: 1_800_000_001_000,
  node: 'node-2',
  key: 'k',
  isShared: true,
  request: '{"params":{}}',
  state: '{"asked":2}',
  outcome: '{"error":{}}',
}

/** What changes and watching promise. */
export const TASK_CHANGES: Checks = {
  async 'a change replaces what it names, and nothing else'({ store }) {
    const task = sampleTask({ ttlMs: 1000, state: '{}', statusMessage: 'm' })
    await store.create(task, ROOMY)
    let expected = task
    for (const [name, value] of Object.entries(EVERY_CHANGE)) {
      await store.change(task.id, expected.version, { [name]: value })
      expected = { ...expected, [name]: value, version: expected.version + 1 }
      assertSame(await store.get(task.id), expected, `get answers after a change of ${name}`)
    }
    await store.change(task.id, expected.version, {
      ttlMs: null,
      state: '',
      statusMessage: '',
      isError: false,
    })
    expected = {
      ...expected,
      ttlMs: null,
      state: '',
      statusMessage: '',
      isError: false,
      version: expected.version + 1,
    }
    assertSame(await store.get(task.id), expected, 'get answers after values were emptied')
  },

  async 'members of a change that are undefined change nothing'({ store }) {
    const task = sampleTask({ key: 'k', ttlMs: 1000, state: '{}' })
    await store.create(task, ROOMY)
    const nothing = Object.fromEntries(Object.keys(EVERY_CHANGE).map((name) => [name, undefined]))
    await store.change(task.id, 1, nothing)
    assertSame(await store.get(task.id), { ...task, version: 2 }, 'get answers')
  },

  async 'a change of another version changes nothing'({ store }) {
    const [id = '', other = ''] = await addTasks(store, 2)
    await store.change(id, 1, { statusMessage: 'first' })
    const before = await store.get(id)
    for (const version of [0, 1, 3]) {
      const lost = await store.change(id, version, { statusMessage: 'late', outcome: '{}', state: '{}' })
      assertSame(lost, undefined, `change answers for version ${version}`)
    }
    assertSame(await store.get(id), before, 'get answers')
    assertSame((await store.head(other))?.version, 1, 'the version of another task')
  },

  async 'of many changes of one version, exactly one wins'({ store, again }) {
    const stores = [store, await again()]
    const [id = ''] = await addTasks(store, 1)
    for (let version = 1; version <= 10; version++) {
      const heads = await Promise.all(
        Array.from({ length: 30 }, async (_, position) =>
          (stores[position % 2] ?? store).change(id, version, {
            statusMessage: `${position}`,
            outcome: `${position}`,
          }),
        ),
      )
      const winners = heads.flatMap((head, position) => (head === undefined ? [] : [position]))
      assertSame(winners.length, 1, `the number of changes of version ${version} that won`)
      const { statusMessage, outcome } = (await store.get(id)) ?? {}
      assertSame([statusMessage, outcome], [`${winners[0]}`, `${winners[0]}`], 'the values of the winner')
    }
  },

  async 'no change is lost'({ store, again }) {
    const [id = ''] = await addTasks(store, 1, () => ({ attempt: 0 }))
    const increase = async (one: TaskStore): Promise<void> => {
      for (let done = 0; done < 10;) {
        const head = await one.head(id)
        if (head === undefined) throw new Error('the task is gone')
        if ((await one.change(id, head.version, { attempt: head.attempt + 1 })) !== undefined) done++
      }
    }
    const other = await again()
    await Promise.all([store, other, store, other].map(increase))
    const { attempt, version } = (await store.head(id)) ?? {}
    assertSame({ attempt, version }, { attempt: 40, version: 41 }, 'a number that was increased 40 times')
  },

  async 'watchers hear of changes, claims and removals'({ store, heard }) {
    const [changed = '', claimed = '', removed = ''] = await addTasks(store, 3, (position) => ({
      node: position === 1 ? '' : 'node-1',
      ttlMs: position === 2 ? 1 : null,
    }))
    await store.beat('node-1', Number.MAX_SAFE_INTEGER)
    for (const [id, act] of [
      [changed, () => store.change(changed, 1, { statusMessage: 'm' })],
      [claimed, () => store.claim('node-2', 1, 5, OWN)],
      [removed, () => store.expire(Number.MAX_SAFE_INTEGER, 5)],
    ] as const)
      await heard(store, id, act)
  },

  async 'watchers hear of each task of a step, and read what they hear of'({ store, heard }) {
    const all = await addTasks(store, 6, (position) => ({
      node: position < 3 ? '' : 'node-1',
      ttlMs: position < 3 ? null : 1,
    }))
    await store.beat('node-1', Number.MAX_SAFE_INTEGER)
    const seen = new Map<string, Promise<number | undefined>>()
    const stop = store.watch((id) => {
      // At once, where the store can.
      const head = store.head(id)
      if (!seen.has(id))
        seen.set(
          id,
          Promise.resolve(head).then((one) => one?.version),
        )
    })
    await store.claim('node-2', 1, 5, OWN)
    await store.expire(Number.MAX_SAFE_INTEGER, 5)
    const [last = ''] = await addTasks(store, 1)
    await heard(store, last, () => store.change(last, 1, { statusMessage: 'm' }))
    stop()
    const versions = await Promise.all([...all, last].map(async (id) => seen.get(id) ?? 'never heard'))
    const [gone, changed] = [undefined, 2]
    assertSame(
      versions,
      [changed, changed, changed, gone, gone, gone, changed],
      'the versions that watchers saw',
    )
  },

  async 'each watcher is stopped by itself'({ store, heard }) {
    const [id = ''] = await addTasks(store, 1)
    let calls = 0
    const onChange = (): void => void calls++
    const stops = [store.watch(onChange), store.watch(onChange)]
    stops[0]?.()
    stops[0]?.()
    await heard(store, id, () => store.change(id, 1, { statusMessage: 'm' }))
    assertSame(calls, 1, 'calls of the watcher that was not stopped')
    stops[1]?.()
    await heard(store, id, () => store.change(id, 2, { statusMessage: 'n' }))
    assertSame(calls, 1, 'calls after it was stopped')
  },

  async 'watchers do not hear of changes that did not happen'({ store, heard }) {
    const [id = '', last = ''] = await addTasks(store, 2)
    const changed: string[] = []
    const stop = store.watch((one) => void changed.push(one))
    await store.change(id, 5, { statusMessage: 'm' })
    await store.change(last, 1, { statusMessage: 'm' })
    await heard(store, last, () => store.change(last, 2, { statusMessage: 'n' }))
    stop()
    assertSame(changed.includes(id), false, 'whether the watcher heard of a change that lost')
  },
}
