import { expect, test } from 'vitest'
import { memory, type TaskHead, type TaskStore } from '../../src/stores.ts'
import { taskStoreContract, type ContractCheck, type TaskStoreContractOptions } from '../../src/testing.ts'
import { ROOM_FAULTS, type Fault } from './room-faults.ts'
import { STEP_FAULTS } from './step-faults.ts'

/** The messages of checks, and those of faults that are errors themselves. */
const FOUND =
  /expected .*, got|never heard|the pages never end|a (page|claim) of|not found|busy|already closed/

const later = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const FAULTS: readonly Fault[] = [
  ...ROOM_FAULTS,
  ...STEP_FAULTS,
  [
    'texts are cut at NUL',
    'every text is kept as it is',
    (store) => ({
      create: (record, room) =>
        store.create({ ...record, request: record.request.split('\0')[0] ?? '' }, room),
    }),
  ],
  [
    'lone surrogates are replaced',
    'every text is kept as it is',
    (store) => ({
      create: (record, room) =>
        store.create({ ...record, statusMessage: Buffer.from(record.statusMessage).toString() }, room),
    }),
  ],
  [
    'large texts are cut',
    'large texts are kept',
    (store) => ({
      create: (record, room) => store.create({ ...record, request: record.request.slice(0, 1 << 20) }, room),
    }),
  ],
  [
    'a member is not stored',
    'a task is read as it was created',
    (store) => ({
      create: (record, room) => store.create({ ...record, dueAt: 0 }, room),
    }),
  ],
  ['heads are whole records', 'heads have no texts', (store) => ({ head: (id) => store.get(id) })],
  [
    'unknown tasks are errors',
    'an unknown task is undefined',
    (store) => ({
      head(id) {
        const head = store.head(id)
        if (head === undefined) throw new Error('not found')
        return head
      },
    }),
  ],
  [
    'keys are ignored',
    'a key returns the task that has it',
    (store) => ({
      create: (record, room) => store.create({ ...record, key: '' }, room),
    }),
  ],
  [
    'room is checked before keys',
    'a key returns the task that has it',
    (store) => ({
      create: (record, room) => (room.tasks < 1 ? { outcome: 'full', limit: 0 } : store.create(record, room)),
    }),
  ],
  [
    'keys of other tools count',
    'keys count within a server, a scope and a tool',
    (store) => ({
      create: (record, room) => store.create({ ...record, tool: 'render' }, room),
    }),
  ],
  [
    'the key is checked first, and the task is added later',
    'of several tasks with one key that are created at once, one exists',
    (store) => {
      const keys = new Map<string, TaskHead>()
      return {
        async create(record, room) {
          const name = `${record.scope} ${record.tool} ${record.key}`
          const head = record.key === '' ? undefined : keys.get(name)
          if (head !== undefined) return { outcome: 'exists', head }
          await later()
          keys.set(name, record)
          return store.create({ ...record, key: '' }, room)
        },
      }
    },
  ],
  [
    'keys stay taken',
    'a task that is removed, or that loses its key, frees it',
    (store) => ({
      change: (id, version, { key: _, ...change }) => store.change(id, version, change),
    }),
  ],
  [
    'heads change after they were read',
    'an answer does not change later',
    (store) => {
      const heads = new Map<string, TaskHead>()
      return {
        head(id) {
          const head = store.head(id) as TaskHead | undefined
          if (head !== undefined && !heads.has(id)) heads.set(id, { ...head })
          return heads.get(id)
        },
        change(id, version, change) {
          const head = store.change(id, version, change) as TaskHead | undefined
          const known = heads.get(id)
          if (known !== undefined) Object.assign(known, head)
          return head
        },
      }
    },
  ],
  [
    'a closed store goes on',
    'a closed store fails, and closing it again does nothing',
    () => ({ close() {} }),
  ],
  [
    'closing twice fails',
    'a closed store fails, and closing it again does nothing',
    (store) => {
      let closed = 0
      return {
        close() {
          if (closed++ === 1) throw new Error('already closed')
          return store.close()
        },
      }
    },
  ],
  [
    'a change forgets members',
    'a change replaces what it names, and nothing else',
    (store) => ({
      change: (id, version, change) => store.change(id, version, { ...change, statusMessage: '' }),
    }),
  ],
  [
    'falsy values are not written',
    'a change replaces what it names, and nothing else',
    (store) => ({
      change: (id, version, change) =>
        store.change(
          id,
          version,
          Object.fromEntries(Object.entries(change).filter(([, value]) => Boolean(value))),
        ),
    }),
  ],
  [
    'undefined members empty what they name',
    'members of a change that are undefined change nothing',
    (store) => ({
      change: (id, version, change) =>
        store.change(id, version, 'key' in change ? { ...change, key: change.key ?? '' } : change),
    }),
  ],
  [
    'versions are ignored',
    'a change of another version changes nothing',
    (store) => ({
      async change(id, _version, change) {
        const head = await store.head(id)
        return head === undefined ? undefined : store.change(id, head.version, change)
      },
    }),
  ],
  [
    'updates are lost',
    'of many changes of one version, exactly one wins',
    (store) => ({
      async change(id, version, change) {
        if ((await store.head(id))?.version !== version) return undefined
        await later()
        const head = await store.head(id)
        return store.change(id, head?.version ?? 0, change)
      },
    }),
  ],
  [
    'versions do not increase',
    'no change is lost',
    (store) => ({
      async change(id, version, change) {
        await later()
        const head = await store.change(id, (await store.head(id))?.version ?? 0, change)
        return head === undefined ? undefined : { ...head, version }
      },
      async head(id) {
        const head = await store.head(id)
        return head === undefined ? undefined : { ...head, version: 1 }
      },
    }),
  ],
  [
    'nobody hears of claims',
    'watchers hear of changes, claims and removals',
    (store) => {
      let isClaiming = false
      return {
        claim(...given) {
          isClaiming = true
          const claimed = store.claim(...given)
          isClaiming = false
          return claimed
        },
        watch: (onChange) => store.watch((id) => isClaiming || onChange(id)),
      }
    },
  ],
  [
    'watchers cannot be stopped',
    'each watcher is stopped by itself',
    (store) => ({
      watch(onChange) {
        store.watch(onChange)
        return () => {}
      },
    }),
  ],
  [
    'stopping one watcher stops all',
    'each watcher is stopped by itself',
    (store) => {
      const watchers = new Map<(id: string) => void, () => void>()
      return {
        watch(onChange) {
          watchers.get(onChange)?.()
          watchers.set(onChange, store.watch(onChange))
          return () => watchers.get(onChange)?.()
        },
      }
    },
  ],
  [
    'lost changes are announced',
    'watchers do not hear of changes that did not happen',
    (store) => {
      const watchers = new Set<(id: string) => void>()
      return {
        change(id, version, change) {
          for (const watcher of watchers) watcher(id)
          return store.change(id, version, change)
        },
        watch(onChange) {
          watchers.add(onChange)
          const stop = store.watch(onChange)
          return () => {
            watchers.delete(onChange)
            stop()
          }
        },
      }
    },
  ],
  [
    'lists are in the order of ids',
    'lists are in the order of creation',
    (store) => ({
      async list(query) {
        return (await store.list(query)).toSorted((one, other) => (one.id < other.id ? -1 : 1))
      },
    }),
  ],
  [
    'lists are in the order of times',
    'lists are in the order of creation',
    (store) => ({
      async list(query) {
        return (await store.list(query)).toSorted((one, other) => one.createdAt - other.createdAt)
      },
    }),
  ],
  [
    'lists show the tasks of others',
    'a list has the tasks of its scope only',
    (store) => ({ list: ({ scope: _, ...query }) => store.list(query) }),
  ],
  [
    'lists show the tasks of other servers',
    'a list of a server has its own tasks, and those of no server',
    (store) => ({ list: ({ server: _, ...query }) => store.list(query) }),
  ],
  [
    'pages are too long',
    'a list is read page by page',
    (store) => ({
      list: (query) => store.list({ ...query, limit: query.limit + 1 }),
    }),
  ],
  [
    'every page is the first',
    'a list is read page by page',
    (store) => ({ list: ({ after: _, ...query }) => store.list(query) }),
  ],
  [
    'pages are counted, not followed',
    'pages go on after tasks were added and removed',
    (store) => {
      const places = new Map<string, number>()
      return {
        async list({ after, limit, ...query }) {
          const all = await store.list({ ...query, limit: 1000 })
          for (const [position, { id }] of all.entries()) if (!places.has(id)) places.set(id, position)
          const first = after === undefined ? 0 : (places.get(after) ?? 0) + 1
          return all.slice(first, first + limit)
        },
      }
    },
  ],
  [
    'pages begin again after a task that is gone',
    'nothing follows a task that is gone, or of another scope',
    (store) => ({
      async list({ after, ...query }) {
        if (after === undefined || (await store.head(after)) === undefined) return store.list(query)
        return store.list({ ...query, after })
      },
    }),
  ],
  [
    'filters are ignored',
    'lists are filtered by status and tool',
    (store) => ({ list: ({ status: _, ...query }) => store.list(query) }),
  ],
  [
    'tasks expire one moment late',
    'tasks expire once their time is over, the earliest first',
    (store) => ({
      expire: (now, limit) => store.expire(now - 1, limit),
    }),
  ],
  [
    'the limit of expiry is ignored',
    'tasks expire once their time is over, the earliest first',
    (store) => ({
      expire: (now) => store.expire(now, Infinity),
    }),
  ],
  [
    'expired tasks can still be read',
    'an expired task is gone',
    (store) => {
      const gone = new Map<string, TaskHead>()
      return {
        async expire(now, limit) {
          for (const head of await store.list({ limit: 1000 })) gone.set(head.id, head)
          return store.expire(now, limit)
        },
        head: (id) => store.head(id) ?? gone.get(id),
      }
    },
  ],
  [
    'a change of the time to live does not count',
    'a change of the time to live counts from the creation',
    (store) => ({
      change: (id, version, { ttlMs: _, ...change }) => store.change(id, version, change),
    }),
  ],
  [
    'tasks are claimed before they are due',
    'a node claims tasks that wait for one, once they are due',
    (store) => ({
      claim: (node, _now, limit, own) => store.claim(node, Number.MAX_SAFE_INTEGER, limit, own),
      beat: (node) => store.beat(node, Infinity),
    }),
  ],
  [
    'claims answer the version before',
    'a claim changes the node and the version, and nothing else',
    (store) => ({
      async claim(...given) {
        return (await store.claim(...given)).map((task) => ({ ...task, version: task.version - 1 }))
      },
    }),
  ],
  [
    'tasks of other servers are claimed',
    'a node claims tasks of its own server, and of tools that it has',
    (store) => ({
      create: (record, room) => store.create({ ...record, server: '' }, room),
    }),
  ],
  [
    'tasks without their tool are claimed',
    'a node claims tasks of its own server, and of tools that it has',
    (store) => ({
      claim: (node, now, limit, own) =>
        store.claim(node, now, limit, { ...own, tools: [...own.tools, 'print'] }),
    }),
  ],
  [
    'final tasks are claimed',
    'final tasks are never claimed',
    (store) => ({
      create: (record, room) => store.create({ ...record, status: 'working' }, room),
    }),
  ],
  [
    'beats are ignored',
    'tasks of living nodes are not claimed, those of dead ones are',
    () => ({ beat() {} }),
  ],
  [
    'nodes never die',
    'tasks of living nodes are not claimed, those of dead ones are',
    (store) => ({
      beat: (node) => store.beat(node, Infinity),
    }),
  ],
  [
    'only the first beat counts',
    'a node that lives longer keeps its tasks',
    (store) => {
      const beaten = new Set<string>()
      return {
        beat(node, until) {
          if (!beaten.has(node)) void store.beat(node, until)
          beaten.add(node)
        },
      }
    },
  ],
  [
    'the due time of dead nodes is ignored',
    'a task of a dead node waits until it is due',
    (store) => ({
      create: (record, room) => store.create(record.node === 'dead' ? { ...record, dueAt: 0 } : record, room),
    }),
  ],
  [
    'the oldest tasks are claimed',
    'callers take turns, also within one claim',
    (store) => ({
      async claim(node, _now, limit) {
        const heads = await store.list({ limit: 1000 })
        const free = heads.filter((head) => head.node === '').slice(0, limit)
        const claimed = free.map(async ({ id, version }) => {
          await store.change(id, version, { node })
          return store.get(id)
        })
        return (await Promise.all(claimed)).filter((task) => task !== undefined)
      },
    }),
  ],
  [
    'a task cannot be given up',
    'a task that its node gives up can be claimed',
    (store) => ({
      change: (id, version, { node: _, ...change }) => store.change(id, version, change),
    }),
  ],
  [
    'tasks are claimed twice',
    'no task is claimed twice',
    (store) => ({
      async claim(node, now, limit) {
        const heads = await store.list({ limit: 1000 })
        const free = heads.filter((head) => head.node === '' || head.node === 'dead').slice(0, limit)
        await later()
        const claimed = free.map(async ({ id }) => {
          const { version = 0 } = (await store.head(id)) ?? {}
          await store.change(id, version, { node })
          return store.get(id)
        })
        return (await Promise.all(claimed)).filter((task) => task !== undefined)
      },
    }),
  ],
  [
    'a claim ignores a change that came first',
    'a claim and a change of one version do not both win',
    (store) => ({
      async claim(node, _now, limit) {
        const dead = (await store.list({ status: 'working', limit: 1000 })).filter(
          (head) => head.node === 'dead',
        )
        await later()
        const records = dead.slice(0, limit).map(async ({ id }) => ({ ...(await store.get(id)), node }))
        return (await Promise.all(records)) as never
      },
      async change(...given) {
        await Promise.resolve()
        return store.change(...given)
      },
    }),
  ],
]

/** The same for stores that can be opened again: each gets the store that all share. */
const DURABLE_FAULTS: readonly Fault[] = [
  ['closing forgets all', 'tasks survive closing', () => memory().tasks],
  ['beats are not shared', 'the lives of nodes survive closing', () => ({ beat() {} })],
  [
    'reads are stale',
    'connections see what others did',
    (store) => {
      const read = new Map<string, ReturnType<TaskStore['head']>>()
      return {
        create: (record, room) => {
          read.set(record.id, record)
          return store.create(record, room)
        },
        head: (id) => read.get(id) ?? store.head(id),
      }
    },
  ],
  [
    'watchers hear only of their own changes',
    'watchers hear of changes through other connections',
    () => ({ watch: () => () => {} }),
  ],
  [
    'a busy store fails',
    'many writers on several connections do not fail',
    (store) => ({
      async create(record, room) {
        if (isBusy) throw new Error('busy')
        isBusy = true
        await later()
        isBusy = false
        return store.create(record, room)
      },
    }),
  ],
]

let isBusy = false

test.each(FAULTS)('the contract of task stores finds that %s', async (_, name, plant) => {
  const open = (): TaskStore => faulty(memory().tasks, plant)
  await expect(checkOf(name, { open, watchTimeout: 50 }).run()).rejects.toThrow(FOUND)
  await checkOf(name, { open: () => memory().tasks }).run()
})

test.each(DURABLE_FAULTS)('the contract of durable task stores finds that %s', async (_, name, plant) => {
  const places = new Map<string, TaskStore>()
  const open = (place: string): TaskStore => faulty(closable(shareOf(places, place)), plant)
  await expect(checkOf(name, { open, durable: true, watchTimeout: 50 }).run()).rejects.toThrow(FOUND)
  await checkOf(name, { open: (place) => closable(shareOf(places, place)), durable: true }).run()
})

test('every check of the contract finds a fault', () => {
  const names = taskStoreContract({ open: () => memory().tasks, durable: true }).map(({ name }) => name)
  const found = new Set([...FAULTS, ...DURABLE_FAULTS].map(([, check]) => check))
  expect(names.filter((name) => !found.has(name))).toEqual([])
})

function checkOf(name: string, options: TaskStoreContractOptions): ContractCheck {
  const check = taskStoreContract(options).find((one) => one.name === name)
  if (check === undefined) throw new Error(`the contract has no check "${name}"`)
  return check
}

function shareOf(places: Map<string, TaskStore>, place: string): TaskStore {
  const shared = places.get(place) ?? memory().tasks
  places.set(place, shared)
  return shared
}

/** A connection to a store that stays open when this one is closed. */
function closable(store: TaskStore): TaskStore {
  return faulty(store, () => ({ close() {} }))
}

/** The store with some methods replaced. */
function faulty(store: TaskStore, plant: Fault[2]): TaskStore {
  const faults = plant(store)
  return new Proxy(store, {
    get(_target, name: keyof TaskStore) {
      const owner = name in faults ? faults : store
      return (owner[name] as TaskStore['head'] | undefined)?.bind(owner)
    },
  })
}
