import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { hooked } from '../../test/harness/task-hooks.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskCaller } from './plan.ts'
import type { TaskHead, TaskRequest } from './record.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

function requestOf(text: string): TaskRequest {
  const nobody = { client: undefined, capabilities: {}, auth: undefined, ip: undefined }
  return { revision: '2026-07-28', params: { name: 'work', text }, ...nobody }
}

/** A store with tasks that a server gave up in an orderly way. */
async function given(count: number, text = ''): Promise<{ store: MemoryTaskStore; clock: FakeClock }> {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const node = new Node({ store, clock, isInMemory: false }).tool('work', never, { onRestart: 'retry' })
  const request = requestOf(text)
  for (let number = 0; number < count; number++) await node.start('work', { request })
  await node.tasks.close(0)
  return { store, clock }
}

test('one look at the store ends before the next one begins', async () => {
  const { store, clock } = await given(1)
  const door = new Deferred<void>()
  let claims = 0
  const slow = hooked(store, { before: (step) => step === 'claim' && (claims++, door.promise) })
  const node = new Node({ store: slow, clock, isInMemory: false }).tool('work', () => DONE)
  await node.tasks.start()
  await clock.pass(0)
  expect(claims).toBe(1)
  for (let times = 0; times < 3; times++) {
    node.tasks.upkeep.due(clock.now())
    await clock.pass(3000)
  }
  expect(claims).toBe(1)
  door.resolve()
  await clock.pass(0)
  expect(claims).toBe(2)
})

test('an attempt that could not be written at first begins once, however often the server looks', async () => {
  const { store, clock } = await given(4)
  const begins = ([, , change]: readonly unknown[]): boolean => (change as { dueAt?: number }).dueAt === 0
  const door = new Deferred<void>()
  let isBusy = true
  const slow = hooked(store, {
    async before(step, args) {
      if (step !== 'change' || !begins(args)) return
      if (isBusy) throw new Error('busy')
      await door.promise
    },
  })
  const ran: unknown[] = []
  const node = new Node({ store: slow, clock, isInMemory: false }).tool(
    'work',
    (run) => (ran.push(run.head?.id), never()),
    { onRestart: 'retry' },
  )
  await node.tasks.start()
  await clock.pass(0)
  isBusy = false
  for (let times = 0; times < 10; times++) {
    node.tasks.upkeep.due(clock.now())
    await clock.pass(1000)
  }
  door.resolve()
  await clock.pass(10_000)
  expect(ran).toHaveLength(4)
  expect(new Set(ran).size).toBe(4)
})

test('after the wall clock jumped, a server waits one lease before it takes over tasks of others', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const options = { store, clock, isInMemory: false }
  const ready = new Node(options).tool('work', () => DONE, { onRestart: 'retry' })
  const worker = new Node(options).tool('work', never, { onRestart: 'retry' })
  await ready.tasks.start()
  const { id } = await worker.start('work')
  await clock.pass(12_000)
  clock.set(clock.now() + 60_000)
  await clock.pass(30_000)
  expect(store.head(id)).toMatchObject({ status: 'working', node: worker.tasks.node })
  // Tasks of those that give no further sign of life are taken over as ever.
  store.beat(worker.tasks.node, 0)
  const beat = store.beat.bind(store)
  store.beat = (node, until) => (node === worker.tasks.node ? undefined : beat(node, until))
  await clock.pass(20_000)
  expect(await ready.status(id)).toBe('completed')
})

test('progress and changes that are tried again do not depend on the wall clock', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const door = new Deferred<typeof DONE>()
  let isBusy = false
  const slow = hooked(store, {
    before() {
      if (isBusy) throw new Error('busy')
    },
  })
  let say: (message: string) => void = () => undefined
  const node = new Node({ store: slow, clock }).tool('work', (run) => {
    say = (message) => run.progress(message)
    return door.promise
  })
  const { id } = await node.start('work')
  await settled()
  say('one')
  await settled()
  clock.set(clock.now() - 500_000)
  say('two')
  await clock.pass(1000)
  expect(store.head(id)).toMatchObject({ statusMessage: 'two' })
  isBusy = true
  door.resolve(DONE)
  await settled()
  isBusy = false
  clock.set(clock.now() - 400_000)
  await clock.pass(5000)
  expect(await node.status(id)).toBe('completed')
})

test('no more tasks are claimed than there is room for', async () => {
  const { store, clock } = await given(20, 'x'.repeat(10_000))
  const limit = 80_000
  const ends: (() => void)[] = []
  let most = 0
  const node = new Node({ store, clock, isInMemory: false, limits: { taskBytes: limit } }).tool(
    'work',
    () => {
      most = Math.max(most, node.tasks.bytes.total)
      return new Promise((resolve) => ends.push(() => resolve(DONE)))
    },
  )
  await node.tasks.start()
  await clock.pass(0)
  expect(node.tasks.runs.size).toBeGreaterThan(0)
  expect(node.tasks.runs.size).toBeLessThan(8)
  const waiting = store.list({ limit: 20 }).filter((head) => head.node === '')
  expect(waiting).toHaveLength(20 - node.tasks.runs.size)
  for (let ended = 0; ended < 20; ended++) {
    ends[ended]?.()
    await clock.pass(30_000)
  }
  expect(store.list({ status: 'completed', limit: 20 })).toHaveLength(20)
  expect(most).toBeLessThanOrEqual(limit)
})

test('a task that is larger than all the room runs alone', async () => {
  const { store, clock } = await given(2, 'x'.repeat(10_000))
  const ends: (() => void)[] = []
  const node = new Node({ store, clock, isInMemory: false, limits: { taskBytes: 1000 } }).tool(
    'work',
    () => new Promise((resolve) => ends.push(() => resolve(DONE))),
  )
  await node.tasks.start()
  await clock.pass(0)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await clock.pass(30_000)
  expect(ends).toHaveLength(2)
})

test('no more tasks are claimed than can run at once', async () => {
  const { store, clock } = await given(10)
  const ends: (() => void)[] = []
  const node = new Node({ store, clock, isInMemory: false }).tool(
    'work',
    () => new Promise((resolve) => ends.push(() => resolve(DONE))),
    { concurrency: 2 },
  )
  await node.tasks.start()
  await clock.pass(0)
  expect(ends).toHaveLength(2)
  expect(node.tasks.runs.size).toBe(2)
  for (let ended = 0; ended < 10; ended++) {
    ends[ended]?.()
    await clock.pass(0)
  }
  expect(store.list({ status: 'completed', limit: 20 })).toHaveLength(10)
})

test.each(['books', 'films'])(
  'a server claims, lists and ends only its own tasks, of tools that it has (%s)',
  async (server) => {
    const { store, clock } = await given(1)
    const [{ id }] = store.list({ limit: 1 }) as readonly [TaskHead]
    const other = new Node({ store, clock, isInMemory: false, server })
    if (server === 'books') other.tool('work', () => DONE)
    await other.tasks.start()
    await clock.pass(60_000)
    expect(store.head(id)).toMatchObject({ status: 'working', node: '', attempt: 2 })
    const isOwn = server === 'films'
    expect(await other.tasks.list({ limit: 9 })).toHaveLength(isOwn ? 1 : 0)
    expect((await other.tasks.show(id))?.id).toBe(isOwn ? id : undefined)
    expect((await other.tasks.find(id, 'ann'))?.id).toBe(isOwn ? id : undefined)
    expect((await other.tasks.cancel(id, 'ann'))?.isDone).toBe(isOwn ? true : undefined)
  },
)

/** A store with tasks that a server gave up, of these callers and sizes, in this order. */
async function left(
  ...drafts: readonly { readonly caller: TaskCaller; readonly text?: string }[]
): Promise<{ store: MemoryTaskStore; clock: FakeClock; ids: readonly string[] }> {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const node = new Node({ store, clock, isInMemory: false }).tool('work', never, { onRestart: 'retry' })
  const ids: string[] = []
  for (const { caller, text = '' } of drafts)
    ids.push((await node.start('work', { caller, request: requestOf(text) })).id)
  await node.tasks.upkeep.halt()
  for (const id of ids) {
    await clock.pass(1)
    await node.tasks.release(node.tasks.runs.get(id)!, {})
  }
  await node.tasks.close(0)
  return { store, clock, ids }
}

test('a task that has no room does not keep others waiting, and is tried again after growing pauses', async () => {
  const [eve, ann] = ['eve', 'ann'].map((owner) => ({ owner, scope: owner }))
  const large = { caller: eve!, text: 'x'.repeat(20_000) }
  const { store, clock, ids } = await left(large, large, { caller: ann! }, { caller: ann! })
  const claimed: string[] = []
  const claim = store.claim.bind(store)
  store.claim = (...args) => {
    const records = claim(...args)
    claimed.push(...records.map(({ id }) => id))
    return records
  }
  const ends = new Map<string, () => void>()
  const node = new Node({ store, clock, isInMemory: false, limits: { taskBytes: 200_000 } }).tool(
    'work',
    (run) => new Promise((resolve) => ends.set(run.head!.id, () => resolve(DONE))),
    { onRestart: 'retry' },
  )
  await node.tasks.start()
  await clock.pass(0)
  expect([...ends.keys()]).toEqual([ids[0], ids[2], ids[3]])
  // The end of another task does not read it again.
  ends.get(ids[2]!)?.()
  await clock.pass(0)
  expect(claimed.filter((id) => id === ids[1])).toHaveLength(1)
  await clock.pass(60_000)
  const times = claimed.filter((id) => id === ids[1]).length
  expect(times).toBeGreaterThan(2)
  expect(times).toBeLessThan(10)
  ends.get(ids[0]!)?.()
  await clock.pass(30_000)
  ends.get(ids[1]!)?.()
  await clock.pass(0)
  expect(await node.status(ids[1]!)).toBe('completed')
})

test('a task of a node that died counts as crashed, even if there is no room for it yet', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  const options = { store, clock, isInMemory: false }
  const dead = new Node(options).tool('safe', never, { onRestart: 'retry' }).tool('unsafe', never)
  const request = requestOf('x'.repeat(10_000))
  const first = await dead.start('safe', { request })
  const safe = await dead.start('safe', { request })
  const unsafe = await dead.start('unsafe', { request })
  await dead.tasks.upkeep.halt()
  store.beat(dead.tasks.node, 0)
  const ends = new Map<string, () => void>()
  const node = new Node({ ...options, limits: { taskBytes: 60_000 } })
    .tool('safe', (run) => new Promise((resolve) => ends.set(run.head!.id, () => resolve(DONE))), {
      onRestart: 'retry',
    })
    .tool('unsafe', never)
  await node.tasks.start()
  await clock.pass(0)
  expect([...ends.keys()]).toEqual([first.id])
  expect(store.get(unsafe.id)).toMatchObject({ status: 'failed', outcome: expect.stringContaining('lost') })
  expect(store.get(safe.id)).toMatchObject({
    node: '',
    attempt: 2,
    state: expect.stringContaining('"crashes":1'),
  })
  ends.get(first.id)?.()
  await clock.pass(30_000)
  expect(store.get(safe.id)).toMatchObject({ node: node.tasks.node, attempt: 2 })
})

test('anonymous callers without a session are told apart after a restart, too', async () => {
  const text = 'x'.repeat(10_000)
  const networks = ['192.0.2.1', '198.51.100.1', '203.0.113.1']
  const { store, clock } = await left(
    ...networks.map((network) => ({ caller: { owner: '', scope: '', network }, text })),
  )
  const node = new Node({ store, clock, isInMemory: false, limits: { taskBytes: 160_000 } }).tool(
    'work',
    never,
  )
  await node.tasks.start()
  await clock.pass(0)
  expect(node.tasks.runs.size).toBe(3)
})

test('a further attempt has the turn of its caller, however many tasks of others wait here', async () => {
  const [clock, store] = [new FakeClock(), new MemoryTaskStore()]
  const seen: string[] = []
  const end: { now?: () => void } = {}
  const node = new Node({ store, clock, isInMemory: false }).tool(
    'work',
    (run) => {
      seen.push(`${run.head!.key} ${run.attempt}`)
      if (run.head!.key === 'flaky' && run.attempt === 1) throw new Error('upstream')
      return new Promise((resolve) => (end.now = () => resolve(DONE)))
    },
    { concurrency: 1, retries: 3 },
  )
  const start = async (key: string, owner: string): Promise<void> => {
    await node.start('work', { key, caller: { owner, scope: owner } })
    await settled()
  }
  const next = async (): Promise<void> => {
    end.now?.()
    await clock.pass(0)
  }
  await start('flaky', 'bob')
  for (let number = 0; number < 20; number++) await start(`a${number}`, 'ann')
  await clock.pass(2000)
  for (let turn = 0; turn < 3; turn++) await next()
  expect(seen.indexOf('flaky 2')).toBeGreaterThan(0)
  expect(seen.filter((what) => what.startsWith('a')).length).toBeLessThan(4)
})

test('a server with tasks that wait claims no more of those in the store than begin here', async () => {
  const { store, clock } = await given(20)
  const ends: (() => void)[] = []
  const node = new Node({ store, clock, isInMemory: false }).tool(
    'work',
    () => new Promise((resolve) => ends.push(() => resolve(DONE))),
    { concurrency: 1 },
  )
  const waiting = (): number =>
    store.list({ status: 'working', limit: 99 }).filter((head) => head.node === '').length
  for (let number = 0; number < 5; number++)
    await node.start('work', { caller: { owner: 'bob', scope: 'bob' } })
  await clock.pass(20_000)
  expect(waiting()).toBeGreaterThan(17)
  for (let ended = 0; ended < 6; ended++) {
    ends[ended]!()
    await clock.pass(0)
  }
  expect(waiting()).toBeLessThan(17)
  expect(waiting()).toBeGreaterThan(11)
  for (let ended = 6; ended < 25; ended++) {
    ends[ended]!()
    await clock.pass(0)
  }
  expect(store.list({ status: 'completed', limit: 99 })).toHaveLength(25)
})

test('the end of a task makes a server look for others of its tool, while that has no place for them', async () => {
  const { store, clock } = await given(3)
  let claims = 0
  const counted = hooked(store, { before: (step) => void (step === 'claim' && claims++) })
  const ends: (() => void)[] = []
  const node = new Node({ store: counted, clock, isInMemory: false })
    .tool('work', () => new Promise((resolve) => ends.push(() => resolve(DONE))), { concurrency: 1 })
    .tool('small', () => DONE)
  await node.tasks.start()
  await clock.pass(0)
  expect(ends).toHaveLength(1)
  const before = claims
  for (let number = 0; number < 5; number++) {
    const { id } = await node.start('small')
    await clock.pass(0)
    expect(store.head(id)?.status).toBe('completed')
  }
  expect(claims).toBe(before)
  ends[0]!()
  await clock.pass(0)
  expect(ends).toHaveLength(2)
})
