import { memory, type FieldChanges, type SessionFields } from '../../src/stores.ts'
import { findsPlanted, later, type Faults } from './planted.ts'

const LONG_MS = 3_600_000

const SESSIONS: Faults<'sessions'> = {
  'a session is read as it was created, also by other nodes': ['drivers do not share', 'unshared'],
  'an unknown session is undefined': [
    'a change creates a session',
    (store) => ({ change: async (id, fields) => (await store.change(id, fields)) ?? 1 }),
  ],
  'every text is kept as it is': [
    'lone surrogates are replaced',
    (store) => ({
      create: (session, room) => {
        const fields = [...session.fields].map(
          ([name, text]) => [name, Buffer.from(text).toString()] as const,
        )
        return store.create({ ...session, fields: new Map(fields) }, room)
      },
    }),
  ],
  'a node that knows the version gets no fields': [
    'the known version is ignored',
    (store) => ({ use: (id, _known, idleMs) => store.use(id, undefined, idleMs) }),
  ],
  'a node that knows an earlier version gets only what has changed': [
    'a change makes all nodes read everything',
    (store) => ({
      async use(id, known, idleMs) {
        const used = await store.use(id, known, idleMs)
        return used?.changes === undefined ? used : store.use(id, undefined, idleMs)
      },
    }),
  ],
  'a node gets the fields as they are, whatever version it knows': [
    'only the last change is told',
    (store) => {
      let last: FieldChanges = new Map()
      return {
        change: (id, fields) => store.change(id, (last = fields)),
        async use(id, known, idleMs) {
          const used = await store.use(id, known, idleMs)
          return used?.changes === undefined ? used : { ...used, changes: last }
        },
      }
    },
  ],
  'a session that is not as expected counts as none, and is not prolonged': [
    'what is expected does not matter',
    (store) => ({ use: (id, known, idleMs) => store.use(id, known, idleMs) }),
  ],
  'a change replaces and removes the fields that it names, and no others': [
    'fields are not removed',
    (store) => ({
      change: (id, fields) =>
        store.change(id, new Map([...fields].map(([name, text]) => [name, text ?? '']))),
    }),
  ],
  'the version grows with each change': [
    'a change that changes nothing is ignored',
    (store) => {
      let last: string | undefined
      let version: number | undefined
      return {
        change: async (id, fields) => {
          const text = JSON.stringify([...fields])
          if (text !== last) version = await store.change(id, fields)
          last = text
          return version
        },
      }
    },
  ],
  'changes of different fields at the same time are all kept': [
    'a change replaces all fields',
    (store) => ({
      async change(id, fields) {
        const { fields: before = new Map<string, string>() } = (await store.use(id, undefined, LONG_MS)) ?? {}
        await later()
        const now: SessionFields = (await store.use(id, undefined, LONG_MS))?.fields ?? new Map()
        const gone = [...now.keys()].filter((name) => !before.has(name)).map((name) => [name, null] as const)
        return store.change(id, new Map([...gone, ...fields]))
      },
    }),
  ],
  'a session ends once': [
    'ending always succeeds',
    (store) => ({
      async end(id) {
        await store.end(id)
        return true
      },
    }),
  ],
  'sessions are counted': [
    'sessions that ended are counted',
    (store) => {
      let most = 0
      return { count: async () => (most = Math.max(most, await store.count())) }
    },
  ],
  'a session that is not used ends': [
    'idle sessions stay',
    (store) => ({ create: (session, room) => store.create({ ...session, idleMs: LONG_MS }, room) }),
  ],
  'using a session prolongs it by the time that is given': [
    'the given time is ignored',
    (store) => ({ use: (id, known) => store.use(id, known, LONG_MS) }),
  ],
  'without room, the session that was unused for the longest time makes room': [
    'uses do not count',
    (store) => ({ use: () => store.use('nobody', undefined, LONG_MS) }),
  ],
  'the owner with the most sessions makes room': [
    'owners are ignored',
    (store) => ({ create: (session, room) => store.create({ ...session, countedFor: '' }, room) }),
  ],
  'owners are counted as their sessions end': [
    'sessions that ended take room',
    (store) => ({
      async end(id) {
        return (await store.use(id, undefined, LONG_MS)) !== undefined
      },
    }),
  ],
  'sessions that were just used are not evicted': [
    'fresh sessions are evicted',
    (store) => ({ create: (session, room) => store.create(session, { ...room, freshMs: 0 }) }),
  ],
  'a caller with far fewer sessions gets one, although all are fresh': [
    'fresh sessions keep everybody out',
    (store) => ({
      async create(session, room) {
        const isFull = room.freshMs > 0 && (await store.count()) >= room.sessions
        return isFull ? 'full' : store.create(session, room)
      },
    }),
  ],
  'a caller with a quarter as many sessions does not evict fresh ones': [
    'a caller with fewer sessions evicts fresh ones',
    (store) => ({
      async create(session, room) {
        const created = await store.create(session, room)
        const isFewer = created === 'full' && session.countedFor === 'bob'
        return isFewer ? store.create(session, { ...room, freshMs: 0 }) : created
      },
    }),
  ],
  'nodes that create sessions at the same time keep to the limit': [
    'room is checked before the step',
    (store) => ({
      async create(session, room) {
        if ((await store.count()) >= room.sessions) return store.create(session, room)
        await later()
        return store.create(session, { ...room, sessions: Infinity })
      },
    }),
  ],
}

findsPlanted('sessions', SESSIONS, memory)
