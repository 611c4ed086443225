import { randomBytes } from 'node:crypto'
import type { TaskHead } from '../../src/stores.ts'
import type { Fault } from './room-faults.ts'

/** Stores whose steps say too little, too early, or in another order. */
export const STEP_FAULTS: readonly Fault[] = [
  [
    'long texts are read',
    'one text of a task is read, unless it is too long',
    (store) => ({ read: (id, text) => store.read(id, text, Number.MAX_SAFE_INTEGER) }),
  ],
  [
    'every text is the outcome',
    'one text of a task is read, unless it is too long',
    (store) => ({ read: (id, _, most) => store.read(id, 'outcome', most) }),
  ],
  [
    'tasks of others are found',
    'of many tasks, those of an owner are found together',
    (store) => ({ owned: (ids) => ids.flatMap((id) => (store.head(id) as TaskHead | undefined) ?? []) }),
  ],
  [
    'some tasks are not found',
    'of many tasks, those of an owner are found together',
    (store) => ({
      owned: async (ids, owner) => ((await store.owned?.(ids, owner)) ?? []).slice(0, 5),
    }),
  ],
  [
    'unknown tasks are errors when many are read',
    'of many tasks, those of an owner are found together',
    (store) => ({
      owned(ids, owner) {
        if (ids.some((id) => store.head(id) === undefined)) throw new Error('not found')
        return store.owned?.(ids, owner) ?? []
      },
    }),
  ],
  [
    'a step announces one task only',
    'watchers hear of each task of a step, and read what they hear of',
    (store) => {
      let isFirst = true
      const once = async <Value>(act: () => Value): Promise<Awaited<Value>> => {
        isFirst = true
        return await act()
      }
      return {
        claim: (...given) => once(() => store.claim(...given)),
        expire: (...given) => once(() => store.expire(...given)),
        change: (...given) => once(() => store.change(...given)),
        watch: (onChange) =>
          store.watch((id) => {
            if (isFirst) onChange(id)
            isFirst = false
          }),
      }
    },
  ],
  [
    'changes are announced before they happen',
    'watchers hear of each task of a step, and read what they hear of',
    (store) => {
      const watchers = new Set<(id: string) => void>()
      return {
        change(id, version, change, room) {
          for (const watcher of watchers) watcher(id)
          return store.change(id, version, change, room)
        },
        watch(onChange) {
          watchers.add(onChange)
          return store.watch(onChange)
        },
      }
    },
  ],
  [
    'claimed tasks move to the end',
    'lists are in the order of creation',
    (store) => {
      const claimed = new Set<string>()
      return {
        async claim(...given) {
          const records = await store.claim(...given)
          for (const { id } of records) claimed.add(id)
          return records
        },
        async list(query) {
          const heads = await store.list(query)
          return [...heads.filter(({ id }) => !claimed.has(id)), ...heads.filter(({ id }) => claimed.has(id))]
        },
      }
    },
  ],
  [
    'pages with a filter skip tasks',
    'lists are filtered by status and tool',
    (store) => ({
      async list(query) {
        const heads = await store.list({ ...query, limit: query.limit + 1 })
        return query.after !== undefined && query.status === 'working' && heads.length > 1
          ? heads.slice(1)
          : heads.slice(0, query.limit)
      },
    }),
  ],
  [
    'times to live count from the last change',
    'a change of the time to live counts from the creation',
    (store) => ({
      change: (id, version, change, room) =>
        store.change(
          id,
          version,
          change.updatedAt === undefined || change.ttlMs === undefined || change.ttlMs === null
            ? change
            : { ...change, ttlMs: change.ttlMs + 50 },
          room,
        ),
    }),
  ],
  ...Object.entries({
    'ids begin with the time': () => `${Date.now().toString(36)}${randomText(20)}`,
    'ids contain a number whose last digit comes first': () =>
      `${Array.from(String(++made).padStart(9, '0')).toReversed().join('')}${randomText(24)}`,
    'ids have too few bits': () => randomText(14),
    'ids are not safe in URLs': () => `${randomText(20)}/`,
    'ids repeat': () => REPEATED[++made % REPEATED.length] ?? '',
  }).map(([fault, newId]): Fault => [
    fault,
    'ids that the store makes are hard to guess, and show no order',
    () => ({ newId }),
  ]),
  [
    'ids are written in small letters',
    'ids that the store makes stay the same, and others work too',
    (store) => ({
      newId: () => `A${randomText(20)}`,
      create: (record, room) => store.create({ ...record, id: record.id.toLowerCase() }, room),
    }),
  ],
]

let made = 0
const REPEATED = Array.from({ length: 9999 }, () => randomText(20))

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}
