import type { TaskRecord } from '../tasks/record.ts'
import { addTasks, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'

const NOW = 1_800_000_000_000

const FINAL: readonly TaskRecord['status'][] = ['completed', 'failed', 'cancelled']

/** What claims promise. */
export const TASK_CLAIMS: Checks = {
  async 'a node claims tasks that wait for one, once they are due'({ store }) {
    const ids = await addTasks(store, 4, (position) => ({
      node: '',
      dueAt: [0, NOW + 10, NOW, NOW + 20][position] ?? 0,
      status: position === 2 ? 'input_required' : 'working',
    }))
    await store.beat('node-2', NOW + 100)
    assertSame(
      sorted(await store.claim('node-2', NOW, 10, OWN)),
      sorted([ids[0], ids[2]]),
      'tasks that are due now',
    )
    assertSame(sorted(await store.claim('node-2', NOW + 10, 10, OWN)), [ids[1]], 'tasks that are due at 10')
    assertSame(await store.claim('node-3', NOW + 19, 10, OWN), [], 'tasks that are due at 19')
  },

  async 'a claim changes the node and the version, and nothing else'({ store }) {
    const task = sampleTask({ node: '', dueAt: NOW - 5, state: '{"asked":1}', statusMessage: 'm', ttlMs: 50 })
    await store.create(task, ROOMY)
    const claimed = { ...task, node: 'node-2', version: 2 }
    assertSame(await store.claim('node-2', NOW, 1, OWN), [claimed], 'claim answers')
    assertSame(await store.get(task.id), claimed, 'get answers')
    assertSame(
      await store.change(task.id, 1, { statusMessage: 'late' }),
      undefined,
      'a change by the node before',
    )
  },

  async 'a node claims tasks of its own server, and of tools that it has'({ store }) {
    const others: readonly Partial<TaskRecord>[] = [
      {},
      { server: 'books' },
      { tool: 'print' },
      // Nobody knows whose it is.
      { server: '' },
      { server: '', tool: 'print' },
      { tool: 'mix' },
    ]
    const ids = await addTasks(store, 12, (position) => ({
      ...others[position % 6],
      node: position < 6 ? '' : 'dead',
    }))
    const those = (...wanted: readonly number[]): readonly string[] =>
      sorted(ids.filter((_, position) => wanted.includes(position % 6)))
    const claim = async (server: string, ...tools: readonly string[]): Promise<readonly string[]> =>
      sorted(await store.claim('node-2', NOW, 20, { server, tools }))
    assertSame(await claim('films'), [], 'tasks of no tool')
    assertSame(await claim('books', 'print'), those(4), 'tasks for a server without most of the tools')
    assertSame(await claim('films', 'mix', 'render'), those(0, 3, 5), 'tasks for a server with two tools')
    assertSame((await store.head(ids[1] ?? ''))?.node, '', 'the node of a task that waits for its server')
  },

  async 'final tasks are never claimed'({ store }) {
    const ids = await addTasks(store, 9, (position) => ({
      node: position % 2 === 0 ? '' : 'dead',
      status: FINAL[position % 3] ?? 'failed',
    }))
    const [open = ''] = await addTasks(store, 1, () => ({ node: '' }))
    await store.change(open, 1, { status: 'completed' })
    assertSame(await store.claim('node-2', NOW, 10, OWN), [], 'claim answers')
    await store.change(ids[1] ?? '', 1, { status: 'working', node: '' })
    assertSame(
      sorted(await store.claim('node-2', NOW, 10, OWN)),
      [ids[1]],
      'claim answers for a task that is open again',
    )
  },

  async 'tasks of living nodes are not claimed, those of dead ones are'({ store }) {
    const nodes = ['living', 'dead', 'unknown', 'stopped']
    const ids = await addTasks(store, 8, (position) => ({ node: nodes[position % 4] ?? '' }))
    await store.beat('living', NOW + 100)
    await store.beat('dead', NOW)
    await store.beat('stopped', NOW + 100)
    await store.beat('stopped', 0)
    const of = (name: string): readonly (string | undefined)[] =>
      ids.filter((_, position) => nodes[position % 4] === name)
    const taken = [...of('dead'), ...of('unknown'), ...of('stopped')]
    assertSame(
      sorted(await store.claim('node-2', NOW, 10, OWN)),
      sorted(taken),
      'tasks of nodes that are dead now',
    )
    assertSame(await store.claim('living', NOW + 500, 0, OWN), [], 'no task with limit 0')
    await store.beat('node-2', NOW + 500)
    assertSame(await store.claim('living', NOW + 100, 10, OWN), [], 'tasks for a node that runs its own')
    assertSame(
      sorted(await store.claim('node-2', NOW + 100, 10, OWN)),
      sorted(of('living')),
      'tasks of a node that died',
    )
  },

  async 'a node that lives longer keeps its tasks'({ store }) {
    await addTasks(store, 2, () => ({ node: 'node-1' }))
    for (let until = NOW + 1; until < NOW + 20; until++) {
      await store.beat('node-1', until)
      assertSame(await store.claim('node-2', until - 1, 10, OWN), [], 'claim answers')
    }
    assertSame(
      (await store.claim('node-2', NOW + 19, 10, OWN)).length,
      2,
      'the number of tasks after its end',
    )
  },

  async 'a task of a dead node waits until it is due'({ store }) {
    const [id = ''] = await addTasks(store, 1, () => ({ node: 'dead', dueAt: NOW + 10 }))
    assertSame(await store.claim('node-2', NOW, 10, OWN), [], 'claim answers before')
    assertSame(sorted(await store.claim('node-2', NOW + 10, 10, OWN)), [id], 'claim answers when it is due')
  },

  async 'callers take turns, also within one claim'({ store }) {
    const callers = [...Array.from({ length: 30 }, () => 'ada'), 'bob', 'bob', 'cyd']
    await addTasks(store, callers.length, (position) => {
      const caller = callers[position] ?? ''
      return { node: '', dueAt: NOW - 100 + position, owner: caller, scope: caller }
    })
    const claim = async (limit: number): Promise<readonly string[]> =>
      (await store.claim('node-2', NOW, limit, OWN)).map(({ owner }) => owner).toSorted()
    assertSame(await claim(5), ['ada', 'ada', 'bob', 'bob', 'cyd'], 'callers of the tasks of a claim')
    assertSame(await claim(3), ['ada', 'ada', 'ada'], 'callers of the next one')
  },

  async 'a task that its node gives up can be claimed'({ store }) {
    const [id = ''] = await addTasks(store, 1)
    await store.beat('node-1', NOW + 100)
    assertSame(await store.claim('node-2', NOW, 10, OWN), [], 'claim answers before')
    await store.change(id, 1, { node: '', dueAt: NOW + 5 })
    assertSame(await store.claim('node-2', NOW, 10, OWN), [], 'claim answers before it is due')
    assertSame(sorted(await store.claim('node-2', NOW + 5, 10, OWN)), [id], 'claim answers when it is due')
  },

  async 'no task is claimed twice'({ store, again }) {
    const ids = await addTasks(store, 120, (position) => ({ node: position % 2 === 0 ? '' : 'dead' }))
    const stores = [store, await again()]
    const nodes = ['one', 'two', 'three', 'four']
    for (const node of nodes) await store.beat(node, NOW + 100)
    const claims = await Promise.all(
      nodes.map(async (node, position) => {
        const claimed: TaskRecord[] = []
        for (;;) {
          const some = await (stores[position % 2] ?? store).claim(node, NOW, 7, OWN)
          if (some.length > 7) throw new Error(`a claim of 7 has ${some.length} tasks`)
          if (some.length === 0) return claimed
          claimed.push(...some)
          if (claimed.length > ids.length) throw new Error(`a claim of tasks that a living node has`)
        }
      }),
    )
    assertSame(sorted(claims.flat()), sorted(ids), 'tasks that were claimed')
    for (const [position, node] of nodes.entries())
      for (const { id } of claims[position] ?? [])
        assertSame((await store.head(id))?.node, node, 'the node of a task that was claimed')
  },

  async 'a claim and a change of one version do not both win'({ store, again }) {
    const other = await again()
    for (let round = 0; round < 20; round++) {
      const [id = ''] = await addTasks(store, 1, () => ({ node: 'dead' }))
      const [changed, claimed] = await Promise.all([
        store.change(id, 1, { status: 'completed', node: '', outcome: '{}' }),
        other.claim('node-2', NOW, 1, OWN),
      ])
      assertSame((changed === undefined ? 0 : 1) + claimed.length, 1, 'the number of steps that won')
      if (changed === undefined) await store.change(id, 2, { status: 'completed' })
    }
  },
}

/** Ids in one order; a claim promises none. */
function sorted(tasks: readonly (TaskRecord | string | undefined)[]): readonly string[] {
  return tasks.map((task) => (typeof task === 'object' ? task.id : (task ?? ''))).toSorted()
}
