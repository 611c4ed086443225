import type { TaskQuery, TaskStore } from '../tasks/store.ts'
import { addTasks, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'

const CREATED = 1_800_000_000_000

/** What lists and expiry promise. */
export const TASK_LISTS: Checks = {
  async 'lists are in the order of creation'({ store }) {
    // Neither the ids nor the times are in this order.
    const ids: string[] = []
    for (let position = 0; position < 30; position++) {
      const id = `${(position * 7) % 30}-${crypto.randomUUID()}`
      await store.create(sampleTask({ id, createdAt: CREATED - ((position * 11) % 30) }), ROOMY)
      ids.push(id)
    }
    for (const id of ids.slice(0, 10))
      await store.change(id, 1, { status: 'completed', updatedAt: CREATED + 1 })
    for (const id of ids.slice(10, 15)) await store.change(id, 1, { node: '' })
    assertSame((await store.claim('node-2', CREATED, 3, OWN)).length, 3, 'the number of claimed tasks')
    assertSame(await idsIn(store, { scope: 'ada', limit: 100 }), ids, 'the list of a scope')
    assertSame(await idsIn(store, { limit: 100 }), ids, 'the list of all')
  },

  async 'a list has the tasks of its scope only'({ store }) {
    const scopes = ['ada', 'bob', '', 'Ada', 'ada ']
    const ids = await addTasks(store, 25, (position) => ({ scope: scopes[position % 5] ?? '' }))
    for (const [position, scope] of scopes.entries()) {
      const own = scope === '' ? [] : ids.filter((_, index) => index % 5 === position)
      assertSame(await idsIn(store, { scope, limit: 100 }), own, `the list of the scope "${scope}"`)
    }
    assertSame(await idsIn(store, { scope: 'nobody', limit: 100 }), [], 'the list of a scope without tasks')
    assertSame(await idsIn(store, { limit: 100 }), ids, 'the list of all')
  },

  async 'a list of a server has its own tasks, and those of no server'({ store }) {
    const servers = ['films', 'books', '']
    const ids = await addTasks(store, 9, (position) => ({ server: servers[position % 3] ?? '' }))
    const own = ids.filter((_, position) => position % 3 !== 1)
    assertSame(await pages(store, { server: 'films', limit: 2 }), own, 'the list of a server')
    assertSame(await pages(store, { server: 'films', scope: 'ada', limit: 2 }), own, 'with a scope')
    assertSame(await idsIn(store, { limit: 100 }), ids, 'the list of all')
  },

  async 'a list is read page by page'({ store }) {
    const ids = await addTasks(store, 23, (position) => ({ scope: position % 2 === 0 ? 'ada' : 'bob' }))
    const own = ids.filter((_, position) => position % 2 === 0)
    for (const limit of [1, 5, 11, 12, 100]) {
      assertSame(await pages(store, { limit }), ids, `all tasks in pages of ${limit}`)
      assertSame(await pages(store, { scope: 'ada', limit }), own, `tasks of a scope in pages of ${limit}`)
    }
    assertSame(await idsIn(store, { limit: 0 }), [], 'a page of none')
  },

  async 'pages go on after tasks were added and removed'({ store }) {
    const ids = await addTasks(store, 6, (position) => ({
      ttlMs: position === 0 || position === 3 ? 1 : null,
    }))
    assertSame(await idsIn(store, { limit: 2 }), ids.slice(0, 2), 'the first page')
    await store.expire(CREATED + 1, 10)
    const added = await addTasks(store, 1)
    const rest = [ids[2], ids[4], ids[5], ...added]
    assertSame(await idsIn(store, { after: ids[1] ?? '', limit: 10 }), rest, 'the page after that')
  },

  async 'nothing follows a task that is gone, or of another scope'({ store }) {
    const [gone = '', foreign = ''] = await addTasks(store, 4, (position) => ({
      ttlMs: position === 0 ? 1 : null,
      scope: position === 1 ? 'bob' : 'ada',
    }))
    await store.expire(CREATED + 1, 1)
    assertSame(await idsIn(store, { after: gone, limit: 10 }), [], 'the page after a task that is gone')
    assertSame(await idsIn(store, { after: 'nobody', limit: 10 }), [], 'the page after a task that never was')
    const page = await idsIn(store, { scope: 'ada', after: foreign, limit: 10 })
    assertSame(page, [], 'the page after a task of another scope')
  },

  async 'lists are filtered by status and tool'({ store }) {
    const ids = await addTasks(store, 12, (position) => ({
      tool: position % 2 === 0 ? 'render' : 'mix',
      status: position % 3 === 0 ? 'failed' : 'working',
      scope: position < 6 ? 'ada' : 'bob',
    }))
    const those = (isListed: (position: number) => boolean): readonly string[] =>
      ids.filter((_, position) => isListed(position))
    assertSame(
      await pages(store, { status: 'failed', limit: 1 }),
      those((position) => position % 3 === 0),
      'failed tasks',
    )
    assertSame(
      await pages(store, { tool: 'mix', limit: 2 }),
      those((position) => position % 2 === 1),
      'tasks of a tool',
    )
    assertSame(
      await idsIn(store, { tool: 'mix', status: 'failed', scope: 'bob', limit: 9 }),
      [ids[9]],
      'failed tasks of a tool and a scope',
    )
    assertSame(
      await pages(store, { status: 'working', limit: 1 }),
      those((position) => position % 3 !== 0),
      'working tasks',
    )
    assertSame(
      await idsIn(store, { tool: 'mix', status: 'working', limit: 9 }),
      those((position) => position % 3 !== 0 && position % 2 === 1),
      'working tasks of a tool',
    )
    await store.change(ids[0] ?? '', 1, { status: 'working' })
    assertSame(
      (await idsIn(store, { status: 'failed', limit: 9 })).includes(ids[0] ?? ''),
      false,
      'a task that changed',
    )
  },

  async 'tasks expire once their time is over, the earliest first'({ store }) {
    const ids = await addTasks(store, 6, (position) => ({
      ttlMs: position === 5 ? null : (position * 30) % 50,
      createdAt: CREATED,
      status: position % 2 === 0 ? 'working' : 'completed',
    }))
    // Times to live: 0, 30, 10, 40, 20, none.
    const [now, soon, later] = [CREATED + 10, CREATED + 39, Number.MAX_SAFE_INTEGER]
    assertSame(await store.expire(CREATED - 1, 10), [], 'tasks that expire before their time')
    assertSame(await store.expire(now, 10), [ids[0], ids[2]], 'tasks that expire at 10')
    assertSame(await store.expire(soon, 1), [ids[4]], 'the first task that expires by 39')
    assertSame(await store.expire(soon, 10), [ids[1]], 'further tasks that expire by 39')
    assertSame(await store.expire(later, 0), [], 'no task with limit 0')
    assertSame(await store.expire(later, 10), [ids[3]], 'tasks that expire some day')
    assertSame(await idsIn(store, { limit: 10 }), [ids[5]], 'tasks that never expire')
  },

  async 'an expired task is gone'({ store }) {
    const [id = ''] = await addTasks(store, 1, () => ({ ttlMs: 1, node: '' }))
    await store.expire(CREATED + 1, 1)
    assertSame([await store.get(id), await store.head(id)], [undefined, undefined], 'get and head answer')
    assertSame(await store.change(id, 1, { statusMessage: 'm' }), undefined, 'change answers')
    assertSame(await store.claim('node-2', CREATED + 1, 5, OWN), [], 'claim answers')
    assertSame(await idsIn(store, { scope: 'ada', limit: 5 }), [], 'the list')
    assertSame(await store.expire(CREATED + 1, 1), [], 'expire answers')
  },

  async 'a change of the time to live counts from the creation'({ store }) {
    const [longer = '', never = '', sooner = ''] = await addTasks(store, 3, () => ({ ttlMs: 10 }))
    await store.change(longer, 1, { ttlMs: 100, updatedAt: CREATED + 50 })
    await store.change(never, 1, { ttlMs: null })
    await store.change(sooner, 1, { ttlMs: 5 })
    assertSame(await store.expire(CREATED + 5, 9), [sooner], 'tasks that expire at 5')
    assertSame(await store.expire(CREATED + 99, 9), [], 'tasks that expire at 99')
    assertSame(await store.expire(CREATED + 100, 9), [longer], 'tasks that expire at 100')
    await store.change(never, 2, { ttlMs: 7 })
    assertSame(await store.expire(CREATED + 7, 9), [never], 'a task that has a time to live again')
  },
}

async function idsIn(store: TaskStore, query: TaskQuery): Promise<readonly string[]> {
  return (await store.list(query)).map(({ id }) => id)
}

/** The ids on all pages. */
async function pages(store: TaskStore, query: TaskQuery): Promise<readonly string[]> {
  const ids: string[] = []
  for (;;) {
    const last = ids.at(-1)
    const page = await idsIn(store, last === undefined ? query : { ...query, after: last })
    if (page.length === 0) return ids
    if (page.length > query.limit) throw new Error(`a page of ${query.limit} has ${page.length} tasks`)
    if (ids.length > 1000) throw new Error('the pages never end')
    ids.push(...page)
  }
}
