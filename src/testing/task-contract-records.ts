import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { addTasks, assertFails, assertSame, OWN, ROOMY, sampleTask, type Checks } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'

const OWNERS = ['ada', 'Ada', '']

function byId(heads: readonly (TaskHead | undefined)[]): readonly (TaskHead | undefined)[] {
  return heads.toSorted((one, other) => String(one?.id).localeCompare(String(other?.id)))
}

/** What creating and reading tasks promise. */
export const TASK_RECORDS: Checks = {
  async 'a task is read as it was created'({ store }) {
    const task = sampleTask({
      key: 'k',
      same: '{"film":7}',
      network: '192.0.2.1',
      isShared: true,
      status: 'input_required',
      statusMessage: 'half',
      isError: true,
      ttlMs: 60_000,
      attempt: 3,
      dueAt: 1_800_000_000_500,
      version: 7,
      state: '{"asked":1}',
      outcome: '{"result":{}}',
    })
    assertSame(await store.create(task, ROOMY), { outcome: 'created' }, 'create answers')
    assertSame(await store.get(task.id), task, 'get answers')
  },

  async 'heads have no texts'({ store }) {
    const task = sampleTask({ key: 'k' })
    await store.create(task, ROOMY)
    const { request: _, state: __, outcome: ___, ...head } = task
    assertSame(await store.head(task.id), head, 'head answers')
    assertSame(await store.list({ limit: 10 }), [head], 'list answers')
    assertSame(
      await store.create(sampleTask({ key: 'k' }), ROOMY),
      { outcome: 'exists', head },
      'create answers',
    )
    const changed = await store.change(task.id, 1, { statusMessage: 'm' })
    assertSame(changed, { ...head, statusMessage: 'm', version: 2 }, 'change answers')
  },

  async 'one text of a task is read, unless it is too long'({ store, again }) {
    const reader = await again()
    const texts = { request: 'r'.repeat(5000), state: 's'.repeat(300_000), outcome: 'äx' } as const
    const task = sampleTask({ key: 'k', ...texts })
    await store.create(task, ROOMY)
    const head = await store.head(task.id)
    for (const name of ['request', 'state', 'outcome'] as const) {
      const whole = await reader.read(task.id, name, Number.MAX_SAFE_INTEGER)
      assertSame([whole?.head, whole?.text], [head, texts[name]], `read answers for the ${name}`)
      const bytes = whole?.bytes ?? 0
      assertSame(bytes >= texts[name].length, true, `whether the ${name} has bytes for all characters`)
      assertSame((await reader.read(task.id, name, bytes))?.text, texts[name], `the ${name} that just fits`)
      const short = await reader.read(task.id, name, bytes - 1)
      assertSame([short?.head, short?.text, short?.bytes], [head, undefined, bytes], `a long ${name}`)
    }
    await store.change(task.id, 1, { state: '' })
    assertSame((await reader.read(task.id, 'state', 0))?.text, '', 'an empty state')
    assertSame(await reader.read('nobody', 'state', 10), undefined, 'read answers for an unknown task')
  },

  async 'of many tasks, those of an owner are found together'({ store, again }) {
    const ids = await addTasks(store, 30, (position) => ({ owner: OWNERS[position % 3] ?? '' }))
    const odd = ODD_TEXTS.map((owner) => sampleTask({ owner }))
    for (const task of odd) await store.create(task, ROOMY)
    const reader = await again()
    if (reader.owned === undefined) return
    const unknown = ['nobody', '', '__proto__', "' OR 1=1 --", ...ODD_TEXTS]
    for (const [position, owner] of OWNERS.entries()) {
      const heads = await reader.owned([...unknown, ...ids.toReversed()], owner)
      const own = await Promise.all(
        ids.filter((_, index) => index % 3 === position).map(async (id) => reader.head(id)),
      )
      assertSame(byId(heads), byId(own), `owned answers for "${owner}"`)
    }
    for (const { id, owner } of odd)
      assertSame(
        await reader.owned([id], owner),
        [await reader.head(id)],
        `owned answers for ${JSON.stringify(owner)}`,
      )
    assertSame(await reader.owned([...ids, ...unknown], 'nobody'), [], 'owned answers for a stranger')
    assertSame(await reader.owned([], 'ada'), [], 'owned answers for no task')
    await store.change(ids[0] ?? '', 1, { status: 'completed' })
    const [changed] = await reader.owned([ids[0] ?? ''], 'ada')
    assertSame([changed?.status, changed?.version], ['completed', 2], 'owned answers after a change')
  },

  async 'an unknown task is undefined'({ store }) {
    await addTasks(store, 1)
    for (const id of ['nobody', '', '__proto__', "' OR 1=1 --"]) {
      assertSame(await store.get(id), undefined, `get(${id}) answers`)
      assertSame(await store.head(id), undefined, `head(${id}) answers`)
      assertSame(await store.change(id, 1, { statusMessage: 'm' }), undefined, `change(${id}) answers`)
    }
  },

  async 'a key returns the task that has it'({ store }) {
    const first = sampleTask({ key: 'k' })
    await store.create(first, ROOMY)
    const head = await store.head(first.id)
    const second = sampleTask({ key: 'k' })
    assertSame(await store.create(second, ROOMY), { outcome: 'exists', head }, 'create answers')
    assertSame(await store.get(second.id), undefined, 'get answers for the second task')
    const full = await store.create(sampleTask({ key: 'k' }), { tasks: 0, callerTasks: 0, taskBytes: 0 })
    assertSame(full, { outcome: 'exists', head }, 'create answers without room')
  },

  async 'keys count within a server, a scope and a tool'({ store }) {
    const others: readonly Partial<TaskRecord>[] = [
      { key: 'k' },
      { key: 'k', server: 'books' },
      { key: 'k', scope: 'bob' },
      { key: 'k', tool: 'mix' },
      { key: 'K' },
      { key: 'k ' },
      { key: '' },
      { key: '' },
      { key: 'k', scope: '' },
      { key: 'k', scope: '' },
      { key: 'a","b', scope: 'c' },
      { key: 'b', scope: 'c","a' },
    ]
    await addTasks(store, others.length, (position) => others[position] ?? {})
  },

  async 'of several tasks with one key that are created at once, one exists'({ store, again }) {
    const stores = [store, await again()]
    for (let round = 0; round < 5; round++) {
      const tasks = Array.from({ length: 20 }, () => sampleTask({ key: `round ${round}` }))
      const created = await Promise.all(
        tasks.map(async (task, position) => (stores[position % 2] ?? store).create(task, ROOMY)),
      )
      const winners = tasks.filter((_, position) => created[position]?.outcome === 'created')
      assertSame(winners.length, 1, 'the number of tasks that were created')
      const losers = created.filter((one) => one.outcome === 'exists' && one.head.id === winners[0]?.id)
      assertSame(losers.length, 19, 'the number of answers that name the task')
    }
  },

  async 'a task that is removed, or that loses its key, frees it'({ store }) {
    const [first = ''] = await addTasks(store, 1, () => ({ key: 'k', ttlMs: 1 }))
    await store.change(first, 1, { key: '' })
    const [second = ''] = await addTasks(store, 1, () => ({ key: 'k', ttlMs: 1 }))
    await store.change(first, 2, { key: 'k' })
    assertSame((await store.head(first))?.key, '', 'a key that another task has')
    assertSame((await store.head(second))?.key, 'k', 'the key of the task that has it')
    await store.expire(Number.MAX_SAFE_INTEGER, 10)
    const [third = ''] = await addTasks(store, 1, () => ({ key: 'k' }))
    await store.change(third, 1, { key: 'l' })
    await addTasks(store, 1, () => ({ key: 'k' }))
    const taken = await store.create(sampleTask({ key: 'l' }), ROOMY)
    assertSame(taken.outcome, 'exists', 'create answers for a key that a change gave')
  },

  async 'every text is kept as it is'({ store, again }) {
    const reader = await again()
    for (const text of ODD_TEXTS) {
      const task = sampleTask({
        owner: text,
        scope: text,
        tool: text,
        key: text,
        same: text,
        statusMessage: text,
        node: text,
        request: text,
        state: text,
        outcome: text,
      })
      await store.create(task, ROOMY)
      const what = `with the text ${JSON.stringify(text)}`
      assertSame(await reader.get(task.id), task, `get answers ${what}`)
      assertSame(
        (await store.list({ scope: text, tool: text, limit: 5 })).length,
        1,
        `tasks in the list ${what}`,
      )
      assertSame(
        (await store.create({ ...task, id: `${task.id}-2` }, ROOMY)).outcome,
        'exists',
        `create answers ${what}`,
      )
      const changed = await store.change(task.id, 1, { statusMessage: `${text}2`, outcome: `${text}3` })
      assertSame(changed?.statusMessage, `${text}2`, `change answers ${what}`)
      assertSame((await reader.get(task.id))?.outcome, `${text}3`, `the outcome ${what}`)
    }
  },

  async 'large texts are kept'({ store }) {
    const large = 'äx'.repeat(2_000_000)
    const task = sampleTask({ request: large, state: large })
    await store.create(task, ROOMY)
    await store.change(task.id, 1, { outcome: large })
    assertSame(await store.get(task.id), { ...task, outcome: large, version: 2 }, 'get answers')
  },

  async 'an answer does not change later'({ store }) {
    const [id = ''] = await addTasks(store, 1)
    const [head, record] = [await store.head(id), await store.get(id)]
    const [listed] = await store.list({ limit: 1 })
    await store.change(id, 1, { status: 'completed', outcome: '{}' })
    assertSame(
      [head?.status, listed?.status, record?.status],
      Array(3).fill('working'),
      'statuses that were read before',
    )
    assertSame(record?.outcome, '', 'an outcome that was read before')
  },

  async 'a closed store fails, and closing it again does nothing'({ store }) {
    const [id = ''] = await addTasks(store, 1)
    await store.close()
    await store.close()
    await assertFails(() => store.create(sampleTask(), ROOMY), 'create after close')
    await assertFails(() => store.get(id), 'get after close')
    await assertFails(() => store.head(id), 'head after close')
    await assertFails(async () => store.owned?.([id], 'ada') ?? store.head(id), 'owned after close')
    await assertFails(async () => store.read(id, 'state', 10), 'read after close')
    await assertFails(() => store.list({ limit: 1 }), 'list after close')
    await assertFails(() => store.change(id, 1, { statusMessage: '' }), 'change after close')
    await assertFails(() => store.expire(0, 1), 'expire after close')
    await assertFails(() => store.claim('node-2', 0, 1, OWN), 'claim after close')
    await assertFails(() => store.beat('node-2', 0), 'beat after close')
  },
}
