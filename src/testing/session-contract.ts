import type { SessionRoom, SessionStore } from '../rpc/session-store.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { CHANGE_CHECKS } from './session-contract-changes.ts'
import { LONGER_MS, newSession, ROOMY, sorted } from './session-samples.ts'
import { LONG_MS, storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

/** The fields of a session, for comparing. */
async function fieldsOf(store: SessionStore, id: string): Promise<unknown> {
  const { fields } = (await store.use(id, undefined, LONGER_MS)) ?? {}
  return fields === undefined ? undefined : sorted(fields)
}

const CHECKS: StoreChecks<SessionStore> = {
  async 'a session is read as it was created, also by other nodes'({ store, other }) {
    const session = newSession({
      fields: new Map([
        ['revision', '2025-11-25'],
        ['owner', ''],
      ]),
    })
    assertSame(await store.create(session, ROOMY), 'created', 'create answers')
    const expected = [
      ['owner', ''],
      ['revision', '2025-11-25'],
    ]
    assertSame(await fieldsOf(store, session.id), expected, 'the fields')
    assertSame(await fieldsOf(other, session.id), expected, 'the fields at another node')
  },

  async 'an unknown session is undefined'({ store }) {
    await store.create(newSession(), ROOMY)
    for (const id of ['nobody', '', '__proto__', 'a}{b', '*']) {
      assertSame(await store.use(id, undefined, LONGER_MS), undefined, `use(${id}) answers`)
      assertSame(await store.change(id, new Map([['a', 'b']])), undefined, `change(${id}) answers`)
      assertSame(await store.use(id, undefined, LONGER_MS), undefined, `use(${id}) answers after a change`)
      assertSame(await store.end(id), false, `end(${id}) answers`)
    }
  },

  async 'every text is kept as it is'({ store, other }) {
    for (const text of ODD_TEXTS) {
      const session = newSession({ fields: new Map([[text, text]]), countedFor: text })
      await store.create(session, ROOMY)
      await store.change(session.id, new Map([[`more ${text}`, text]]))
      const { fields } = (await other.use(session.id, undefined, LONGER_MS)) ?? {}
      assertSame(
        [fields?.get(text), fields?.get(`more ${text}`), fields?.size],
        [text, text, 2],
        'the fields',
      )
    }
  },

  async 'a node that knows the version gets no fields'({ store, other }) {
    const { id, ...rest } = newSession()
    await store.create({ id, ...rest }, ROOMY)
    const { version, fields } = (await store.use(id, undefined, LONGER_MS)) ?? {}
    assertSame(fields?.get('level'), 'info', 'the field for a node that knows nothing')
    assertSame(await other.use(id, version, LONGER_MS), { version, fields: undefined }, 'use answers')
    const changed = await store.change(id, new Map([['level', 'debug']]))
    const used = await other.use(id, version, LONGER_MS)
    const level = used?.fields?.get('level') ?? used?.changes?.get('level')
    assertSame([used?.version, level], [changed, 'debug'], 'use answers after a change')
  },

  ...CHANGE_CHECKS,

  async 'a change replaces and removes the fields that it names, and no others'({ store }) {
    const { id, ...rest } = newSession({
      fields: new Map([
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ]),
    })
    await store.create({ id, ...rest }, ROOMY)
    await store.change(
      id,
      new Map([
        ['a', 'x'],
        ['b', null],
        ['d', '4'],
        ['none', null],
      ]),
    )
    assertSame(
      await fieldsOf(store, id),
      [
        ['a', 'x'],
        ['c', '3'],
        ['d', '4'],
      ],
      'the fields',
    )
  },

  async 'the version grows with each change'({ store }) {
    const { id, ...rest } = newSession()
    await store.create({ id, ...rest }, ROOMY)
    let { version = Infinity } = (await store.use(id, undefined, LONGER_MS)) ?? {}
    for (const text of ['x', 'x', 'y']) {
      const next = (await store.change(id, new Map([['a', text]]))) ?? 0
      assertSame(next > version, true, `whether version ${next} is above ${version}`)
      version = next
    }
  },

  async 'changes of different fields at the same time are all kept'({ store, other }) {
    const { id, ...rest } = newSession({ fields: new Map() })
    await store.create({ id, ...rest }, ROOMY)
    const names = Array.from({ length: 40 }, (_, index) => `field-${index + 10}`)
    await Promise.all(
      names.map(async (name, index) => (index % 2 === 0 ? store : other).change(id, new Map([[name, name]]))),
    )
    assertSame(
      await fieldsOf(store, id),
      names.map((name) => [name, name]),
      'the fields',
    )
  },

  async 'a session ends once'({ store, other }) {
    const session = newSession()
    await store.create(session, ROOMY)
    assertSame(await other.end(session.id), true, 'end answers')
    assertSame(await store.end(session.id), false, 'end answers for a session that has ended')
    assertSame(await store.use(session.id, undefined, LONGER_MS), undefined, 'use answers')
    assertSame(await store.change(session.id, new Map([['a', 'b']])), undefined, 'change answers')
    assertSame(await store.count(), 0, 'the number of sessions')
  },

  async 'sessions are counted'({ store, other }) {
    const sessions = [newSession(), newSession({ countedFor: 'bob' }), newSession()]
    for (const session of sessions) await store.create(session, ROOMY)
    assertSame(await other.count(), 3, 'the number of sessions')
    await store.end(sessions[0]?.id ?? '')
    assertSame(await other.count(), 2, 'the number of sessions after one has ended')
  },

  async 'a session that is not used ends'({ store, eventually }) {
    const [short, long] = [newSession({ idleMs: 1 }), newSession({ countedFor: 'bob' })]
    await store.create(short, ROOMY)
    await store.create(long, ROOMY)
    await eventually('the end of a session', async () => (await store.count()) === 1)
    assertSame(await store.use(short.id, undefined, LONGER_MS), undefined, 'use answers')
    assertSame(await store.change(short.id, new Map([['a', 'b']])), undefined, 'change answers')
    assertSame(await fieldsOf(store, long.id), [['level', 'info']], 'the fields of another session')
  },

  async 'using a session prolongs it by the time that is given'({ store, eventually }) {
    const session = newSession({ idleMs: LONG_MS })
    await store.create(session, ROOMY)
    await store.use(session.id, undefined, 1)
    await eventually('the end of a session that was used for a moment', async () => {
      return (await store.use(session.id, undefined, 1)) === undefined
    })
  },

  async 'without room, the session that was unused for the longest time makes room'({ store }) {
    const room: SessionRoom = { sessions: 3, freshMs: 0 }
    const [first, second, third, fourth] = [newSession(), newSession(), newSession(), newSession()]
    for (const session of [first, second, third]) {
      assertSame(await store.create(session, room), 'created', 'create answers while there is room')
      await nextMillisecond()
    }
    await store.use(first.id, undefined, LONGER_MS)
    assertSame(await store.create(fourth, room), { evicted: second.id }, 'create answers without room')
    assertSame(await store.use(second.id, undefined, LONGER_MS), undefined, 'use of the evicted one answers')
    assertSame(await store.count(), 3, 'the number of sessions')
    for (const { id } of [first, third, fourth])
      assertSame(await fieldsOf(store, id), [['level', 'info']], 'the fields of the others')
  },

  async 'the owner with the most sessions makes room'({ store }) {
    const room: SessionRoom = { sessions: 3, freshMs: 0 }
    const lone = newSession({ countedFor: 'bob' })
    const many = [newSession(), newSession()]
    for (const session of [lone, ...many]) {
      await store.create(session, room)
      await nextMillisecond()
    }
    const added = await store.create(newSession({ countedFor: 'carol' }), room)
    assertSame(added, { evicted: many[0]?.id }, 'create answers')
    assertSame(await fieldsOf(store, lone.id), [['level', 'info']], 'the fields of the lone session')
  },

  async 'owners are counted as their sessions end'({ store }) {
    const room: SessionRoom = { sessions: 4, freshMs: 0 }
    const ended = [newSession(), newSession(), newSession()]
    for (const session of ended) await store.create(session, room)
    for (const { id } of ended) await store.end(id)
    const left = newSession()
    const many = [newSession({ countedFor: 'bob' }), newSession({ countedFor: 'bob' })]
    for (const session of [left, ...many, newSession({ countedFor: 'carol' })]) {
      assertSame(await store.create(session, room), 'created', 'create answers')
      await nextMillisecond()
    }
    assertSame(
      await store.create(newSession(), room),
      { evicted: many[0]?.id },
      'create answers without room',
    )
  },

  async 'sessions that were just used are not evicted'({ store }) {
    const room: SessionRoom = { sessions: 1, freshMs: LONG_MS }
    const session = newSession()
    await store.create(session, room)
    const rejected = newSession({ countedFor: 'bob' })
    assertSame(await store.create(rejected, room), 'full', 'create answers')
    assertSame(
      await store.use(rejected.id, undefined, LONGER_MS),
      undefined,
      'use of the rejected one answers',
    )
    assertSame(await fieldsOf(store, session.id), [['level', 'info']], 'the fields of the first one')
    assertSame(await store.count(), 1, 'the number of sessions')
  },

  async 'a caller with far fewer sessions gets one, although all are fresh'({ store }) {
    const room: SessionRoom = { sessions: 8, freshMs: LONG_MS }
    const many = await filled(store, room, { ada: 8 })
    await store.use(many[0] ?? '', undefined, LONGER_MS)
    const create = async (): Promise<unknown> => store.create(newSession({ countedFor: 'bob' }), room)
    assertSame(await create(), { evicted: many[1] }, 'create answers for a caller without sessions')
    assertSame(await create(), { evicted: many[2] }, 'create answers for a caller with 1 session against 7')
    assertSame(await create(), 'full', 'create answers for a caller with 2 sessions against 6')
    assertSame(
      await store.use(many[1] ?? '', undefined, LONGER_MS),
      undefined,
      'use of an evicted one answers',
    )
    assertSame(await store.count(), 8, 'the number of sessions')
  },

  async 'a caller with a quarter as many sessions does not evict fresh ones'({ store }) {
    const room: SessionRoom = { sessions: 10, freshMs: LONG_MS }
    const all = await filled(store, room, { ada: 8, bob: 2 })
    for (const countedFor of ['ada', 'bob'])
      assertSame(
        await store.create(newSession({ countedFor }), room),
        'full',
        `create answers for ${countedFor}`,
      )
    for (const id of all) assertSame(await fieldsOf(store, id), [['level', 'info']], 'the fields of all')
    assertSame(await store.count(), 10, 'the number of sessions')
  },

  async 'nodes that create sessions at the same time keep to the limit'({ store, other }) {
    const room: SessionRoom = { sessions: 5, freshMs: 0 }
    const sessions = Array.from({ length: 40 }, () => newSession())
    await Promise.all(
      sessions.map(async (session, index) => (index % 2 === 0 ? store : other).create(session, room)),
    )
    assertSame(await store.count(), 5, 'the number of sessions')
    const left = await Promise.all(sessions.map(async ({ id }) => store.use(id, undefined, LONGER_MS)))
    assertSame(left.filter((one) => one !== undefined).length, 5, 'the number of sessions that can be used')
  },
}

/** Creates a number of sessions for each owner, and answers their ids, from the one unused for longest. */
async function filled(
  store: SessionStore,
  room: SessionRoom,
  counts: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const [countedFor, count] of Object.entries(counts)) {
    for (let index = 0; index < count; index++) {
      const session = newSession({ countedFor })
      assertSame(await store.create(session, room), 'created', 'create answers while there is room')
      ids.push(session.id)
      await nextMillisecond()
    }
  }
  return ids
}

/** Times of use may be kept in milliseconds. */
async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() <= now + 1;)
    await new Promise((resolve) => void setTimeout(resolve, 1))
}

/**
 * The checks that every store of sessions must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of sessionStoreContract({ open: () => memory() })) test(name, run)
 */
export function sessionStoreContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('sessions', options, CHECKS)
}
