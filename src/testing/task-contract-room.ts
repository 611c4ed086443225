import type { Created } from '../tasks/store.ts'
import { assertFails, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'

const STATUSES = ['working', 'failed', 'completed'] as const

/** What the limits of a store promise. */
export const TASK_ROOM: Checks = {
  async 'there are never more tasks than there is room for'({ store, again }) {
    const room = { ...ROOMY, tasks: 10, callerTasks: 4 }
    const stores = [store, await again()]
    const add = async (scope: string): Promise<readonly Created['outcome'][]> => {
      const created = Array.from({ length: 8 }, async (_, position) =>
        (stores[position % 2] ?? store).create(sampleTask({ scope }), room),
      )
      return (await Promise.all(created)).map(({ outcome }) => outcome).toSorted()
    }
    const repeat = (count: number, outcome: Created['outcome']): readonly Created['outcome'][] =>
      Array.from({ length: count }, () => outcome)
    assertSame(
      await add('ada'),
      [...repeat(4, 'caller_full'), ...repeat(4, 'created')],
      'a scope with room for 4',
    )
    assertSame(await add(''), [...repeat(6, 'created'), ...repeat(2, 'full')], 'a store with room for 6 more')
    assertSame(await add('bob'), repeat(8, 'full'), 'a store without room')
    assertSame((await store.list({ limit: 100 })).length, 10, 'the number of tasks')
  },

  async 'removed tasks make room again'({ store }) {
    const room = { ...ROOMY, tasks: 2, callerTasks: 1 }
    for (let round = 0; round < 3; round++) {
      for (const scope of ['ada', 'bob'])
        assertSame(
          await store.create(sampleTask({ scope, ttlMs: 5, status: STATUSES[round] ?? 'working' }), room),
          { outcome: 'created' },
          'create answers',
        )
      assertSame((await store.create(sampleTask({ scope: 'eve' }), room)).outcome, 'full', 'create answers')
      assertSame((await store.expire(Number.MAX_SAFE_INTEGER, 10)).length, 2, 'the number of removed tasks')
    }
  },

  async 'the tasks of one network leave a quarter of the places to others'({ store, again }) {
    const room = { ...ROOMY, tasks: 8 }
    const stores = [store, await again()]
    const add = async (network: string, count: number): Promise<number> => {
      const created = Array.from({ length: count }, async (_, position) => {
        const task = sampleTask({ owner: '', scope: position < 3 ? '' : `s${position}`, network, ttlMs: 5 })
        return (stores[position % 2] ?? store).create(task, room)
      })
      const outcomes = (await Promise.all(created)).map(({ outcome }) => outcome)
      const others = outcomes.filter((outcome) => outcome !== 'created' && outcome !== 'caller_full')
      assertSame(others, [], 'other outcomes')
      return outcomes.filter((outcome) => outcome === 'created').length
    }
    for (let round = 0; round < 2; round++) {
      assertSame(await add('192.0.2.1', 8), 6, 'the number of tasks of the first network')
      assertSame(await add('192.0.2.2', 8), 1, 'the number of tasks of the second network')
      const known = await store.create(sampleTask({ ttlMs: 5 }), room)
      assertSame(known.outcome, 'created', 'create answers a caller that is not anonymous')
      assertSame((await store.expire(Number.MAX_SAFE_INTEGER, 10)).length, 8, 'the number of removed tasks')
    }
  },

  async 'steps that add nothing take no room'({ store }) {
    const task = sampleTask({ key: 'k', node: '' })
    const bytes = 512 + task.request.length
    const room = { ...ROOMY, tasks: 2, callerTasks: 2, taskBytes: 4 * 2 * bytes }
    assertSame((await store.create(task, room)).outcome, 'created', 'create answers')
    for (let round = 0; round < 3; round++) {
      assertSame((await store.create(sampleTask({ key: 'k' }), room)).outcome, 'exists', 'create answers')
      assertSame(
        await store.change(task.id, 99, { state: 'x'.repeat(100) }, room),
        undefined,
        'a lost change',
      )
      const [claimed] = await store.claim('node-2', 1_800_000_000_000, 1, OWN)
      assertSame(claimed?.id, task.id, 'the task that is claimed')
      await store.change(task.id, claimed?.version ?? 0, { node: '', key: 'k' }, room)
    }
    assertSame((await store.create(sampleTask({ key: 'k' }), room)).outcome, 'exists', 'create answers')
    assertSame((await store.create(sampleTask(), room)).outcome, 'created', 'create answers a second task')
    assertSame(
      (await store.create(sampleTask({ scope: 'bob' }), room)).outcome,
      'full',
      'create answers a third',
    )
  },

  async 'the tasks of one network take no more bytes than there is room for'({ store }) {
    const room = { ...ROOMY, taskBytes: 40_000 }
    const sized = (bytes: number, network = '192.0.2.1'): ReturnType<typeof sampleTask> =>
      sampleTask({ owner: '', scope: '', network, request: 'x'.repeat(bytes - 512), ttlMs: 5 })
    for (let round = 0; round < 2; round++) {
      const task = sized(5000)
      assertSame((await store.create(task, room)).outcome, 'created', 'create answers')
      assertSame((await store.create(sized(5001), room)).outcome, 'too_large', 'create answers the network')
      await store.change(task.id, 1, { state: 'x'.repeat(4000) }, room)
      assertSame(
        (await store.create(sized(1001), room)).outcome,
        'too_large',
        'create answers after a change',
      )
      await assertFails(
        () => store.change(task.id, 2, { outcome: 'x'.repeat(1001) }, room),
        'a change that has no room',
      )
      await store.change(task.id, 2, { state: '' }, room)
      assertSame(
        (await store.create(sized(5000), room)).outcome,
        'created',
        'create answers once there is room',
      )
      const other = await store.create(sized(7500, '192.0.2.2'), room)
      assertSame(other.outcome, 'created', 'create answers another network')
      assertSame((await store.expire(Number.MAX_SAFE_INTEGER, 10)).length, 3, 'the number of removed tasks')
    }
  },

  async 'the texts of tasks never take more bytes than there is room for'({ store, again }) {
    // One scope gets a quarter, and each task takes 512 bytes besides its texts.
    const room = { ...ROOMY, taskBytes: 40_000 }
    const other = await again()
    const sized = (bytes: number, scope = 'ada'): ReturnType<typeof sampleTask> =>
      sampleTask({ scope, request: 'x'.repeat(bytes - 512), ttlMs: 5 })
    const create = async (bytes: number, scope?: string): Promise<Created['outcome']> =>
      (await store.create(sized(bytes, scope), room)).outcome
    for (let round = 0; round < 2; round++) {
      assertSame(await create(10_001), 'too_large', 'create answers for a task that is too large')
      const task = sized(5000)
      assertSame((await other.create(task, room)).outcome, 'created', 'create answers')
      assertSame(await create(5001), 'too_large', 'create answers for a second task')
      await other.change(task.id, 1, { outcome: 'x'.repeat(4000) }, room)
      const grow = (): unknown => store.change(task.id, 2, { state: 'x'.repeat(1001) }, room)
      await assertFails(grow, 'a change that has no room')
      assertSame((await store.get(task.id))?.state, '', 'the state after a change that had no room')
      await store.change(task.id, 2, { outcome: '' }, room)
      await store.change(task.id, 3, { state: 'x'.repeat(5000) }, room)
      // A request that becomes shorter makes room for the outcome of the same change.
      const spent = { request: 'x', outcome: 'x'.repeat(4487) }
      const shorter = await (async () => store.change(task.id, 4, spent, room))().catch(() => undefined)
      assertSame(shorter?.version, 5, 'the version after a change whose texts take no more together')
      await store.change(task.id, 5, { request: 'x'.repeat(4488), outcome: '' }, room)
      const forced = await store.change(task.id, 6, { outcome: 'x'.repeat(10_000) })
      assertSame(forced?.version, 7, 'the version after a change that needs no room')
      assertSame(await create(5001, 'bob'), 'too_large', 'create answers for more than a quarter of the rest')
      assertSame(await create(5000, 'bob'), 'created', 'create answers for a quarter of the rest')
      assertSame((await store.expire(Number.MAX_SAFE_INTEGER, 10)).length, 2, 'the number of removed tasks')
    }
  },
}
