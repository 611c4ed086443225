import { expect, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import { Deferred } from '../base/deferred.ts'
import type { TaskHead, TaskRequest } from './record.ts'
import type { Soon, TaskExcerpt, TaskStore, TaskText } from './store.ts'

/** A store whose reads of texts wait until they are let go. */
class SlowStore extends MemoryTaskStore {
  readonly reads: { readonly text: TaskText; readonly most: number }[] = []
  go: Deferred<void> | undefined = new Deferred<void>()

  override read(id: string, text: TaskText, most: number): TaskExcerpt | undefined {
    this.reads.push({ text, most })
    const found = super.read(id, text, most)
    const { go } = this
    return (go === undefined ? found : go.promise.then(() => found)) as TaskExcerpt | undefined
  }

  letGo(): void {
    this.go?.resolve()
    this.go = undefined
  }
}

const QUESTION = { method: 'elicitation/create', params: { message: 'sure?' } }
const LARGE = 'x'.repeat(4_000_000)

/** A node at a store of its own, with a task of each of these callers that has ended with a large result. */
async function withResults(
  owners: readonly string[],
): Promise<{ node: Node; store: SlowStore; heads: TaskHead[] }> {
  const store = new SlowStore()
  const node = new Node({ store, isInMemory: false, limits: { taskResultBytes: 8_000_000 } }).tool(
    'big',
    () => ({ content: [LARGE] }),
  )
  const heads: TaskHead[] = []
  for (const owner of owners) {
    const { id } = await node.start('big', { caller: { owner, scope: owner } })
    await settled()
    heads.push(store.head(id)!)
  }
  return { node, store, heads }
}

test('those who want the same text at the same time share one read', async () => {
  const { node, store, heads } = await withResults(['ann'])
  const all = Array.from({ length: 1000 }, async () => node.tasks.reads.of(heads[0]!, 'outcome'))
  await settled()
  store.letGo()
  const found = await Promise.all(all)
  expect(found[0]?.text).toContain(LARGE)
  expect(found.every((one) => one === found[0])).toBe(true)
  // Its size, and then the text.
  expect(store.reads.map(({ text }) => text)).toEqual(['outcome', 'outcome'])
})

test('a read that began before a change does not answer those who know of the change', async () => {
  const { node, store, heads } = await withResults(['ann'])
  const head = heads[0]!
  const before = (async () => node.tasks.reads.of(head, 'state'))()
  const next = store.change(head.id, head.version, { state: 'newer' })!
  const after = (async () => node.tasks.reads.of(next, 'state'))()
  store.letGo()
  expect([(await before)?.text, (await after)?.text]).toEqual(['', 'newer'])
})

test('the bytes of reads that are under way are bounded, for each caller and in total', async () => {
  const owners = ['ann', 'ann', 'ann', 'ann', 'bob', 'eve', 'ida', 'joe', 'kim', 'lea', 'mia', 'noa']
  const { node, store, heads } = await withResults(owners)
  store.letGo()
  const slow = new Deferred<void>()
  const read = store.read.bind(store)
  vi.spyOn(store, 'read').mockImplementation(((id: string, text: TaskText, most: number) => {
    const found = read(id, text, most)
    return most > 65_536 ? slow.promise.then(() => found) : found
  }) as unknown as typeof store.read)
  const results = Promise.allSettled(heads.map(async (head) => node.tasks.reads.of(head, 'outcome')))
  await settled()
  slow.resolve()
  const ends = await results
  const rejected = ends.flatMap((end, at) => (end.status === 'rejected' ? [owners[at]] : []))
  // Each takes 8 MB of 64 here, and one caller has a quarter of what the others leave.
  expect(rejected).toEqual(expect.arrayContaining(['ann', 'noa']))
  expect(rejected).not.toContain('bob')
  expect(rejected.length).toBeGreaterThan(owners.length / 2)
  expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { kind: 'overloaded', retryAfterMs: 1000 },
  })
  // All of it is free again.
  expect((await node.tasks.reads.of(heads[0]!, 'outcome'))?.text).toContain(LARGE)
})

test('the outcome of a failed task, which keeps its request, is read once', async () => {
  const store = new SlowStore()
  store.letGo()
  const node = new Node({ store, isInMemory: false }).tool('fail', () => {
    throw new Error('no')
  })
  const { id } = await node.start('fail')
  await settled()
  const head = store.head(id)!
  for (let count = 0; count < 10; count++)
    expect((await node.tasks.ended(id, 'ann'))?.text).toContain('"error"')
  expect(head.status).toBe('failed')
  expect(store.reads).toHaveLength(1)
})

test('a long result that was read a moment ago is not read again', async () => {
  const store = new SlowStore()
  store.letGo()
  const node = new Node({ store, isInMemory: false }).tool('long', () => ({
    content: [],
    text: 'x'.repeat(100_000),
  }))
  const { id } = await node.start('long')
  await settled()
  store.reads.length = 0
  const poll = async (): Promise<number | undefined> => (await node.tasks.ended(id, 'ann'))?.text.length
  const chars = await poll()
  // Its size, and then the text.
  expect(store.reads).toHaveLength(2)
  for (let count = 0; count < 10; count++) expect(await poll()).toBe(chars)
  expect(store.reads).toHaveLength(2)
  expect(await node.tasks.ended(id, 'bob')).toBeUndefined()
  await node.clock.pass(2000)
  expect(await poll()).toBe(chars)
  expect(store.reads).toHaveLength(4)
  store.expire(Number.MAX_SAFE_INTEGER, 10)
  expect(await poll()).toBeUndefined()
})

test('results that were read take no more memory than there is for them', async () => {
  const store = new SlowStore()
  store.letGo()
  const node = new Node({ store, isInMemory: false }).tool('long', () => ({
    content: [],
    text: 'x'.repeat(6_000_000),
  }))
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await node.start('long')).id)
  await settled()
  for (const id of ids) await node.tasks.ended(id, 'ann')
  store.reads.length = 0
  for (const id of ids.slice(1)) await node.tasks.ended(id, 'ann')
  expect(store.reads).toHaveLength(0)
  await node.tasks.ended(ids[0] ?? '', 'ann')
  expect(store.reads).toHaveLength(2)
})

const request = (chars: number): TaskRequest => ({
  same: 'digest',
  revision: '2026-07-28',
  params: { name: 'render', arguments: { pad: 'x'.repeat(chars) } },
  client: { name: 'c', version: '1' },
  capabilities: { elicitation: {} },
  auth: { sub: 'ann' },
  ip: '192.0.2.1',
})

test.each([
  // Older programs compare calls with the same key by its beginning.
  ['completed', /^\{"same":"digest","revision":"2026-07-28","params":\{"name":"render"\}/],
  ['failed', /xxx/],
  ['cancelled', /^$/],
  ['cancelled elsewhere', /^$/],
] as const)('a task that is %s keeps a long request only if it can be retried', async (end, kept) => {
  const node = new Node().tool('render', async () => {
    if (end === 'failed') throw new Error('no')
    return end === 'completed' ? { content: [] } : new Promise(() => undefined)
  })
  const long = await node.start('render', { request: request(5000) })
  const short = await node.start('render', { request: request(10) })
  const elsewhere = new Node({ store: node.store, clock: node.clock, isInMemory: false })
  const other = end === 'cancelled' ? node : elsewhere
  if (end.startsWith('cancelled')) for (const { id } of [long, short]) await other.tasks.cancel(id, 'ann')
  await settled()
  expect((await node.record(long.id))!.request).toMatch(kept)
  expect((await node.record(short.id))!.request).toContain('xxx')
})

test('a completed task whose request was long takes no more memory than another', async () => {
  const node = new Node().tool('render', () => ({ content: [] }))
  await node.start('render', { request: request(100_000) })
  await settled()
  expect(node.tasks.bytes.total).toBeLessThan(1000)
})

test('of many answers to one question of a task elsewhere, one changes its record, and the others read nothing more', async () => {
  const node = new Node({ isInMemory: false }).tool('ask', async (run) => {
    await run.once('large', () => 'x'.repeat(1_000_000))
    await run.question('sure', QUESTION)
    await run.question('really', QUESTION)
    return { content: [] }
  })
  const { id } = await node.start('ask')
  await settled()
  const { store } = node
  // A store that is somewhere else answers later.
  const far =
    <Args extends readonly unknown[], Value>(act: (...args: Args) => Soon<Value>) =>
    async (...args: Args): Promise<Value> =>
      act(...args)
  const read = vi.fn<TaskStore['read']>(store.read.bind(store))
  const change = vi.fn<TaskStore['change']>(store.change.bind(store))
  const remote = Object.assign(Object.create(store), {
    read: far(read),
    change: far(change),
    head: far(store.head.bind(store)),
    watch: store.watch.bind(store),
    create: far(store.create.bind(store)),
  }) as typeof store
  const other = new Node({ store: remote, clock: node.clock, isInMemory: false })
  const answers = Array.from({ length: 300 }, async () =>
    other.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]]),
  )
  expect(new Set(await Promise.all(answers))).toEqual(new Set([true]))
  expect(change).toHaveBeenCalledTimes(1)
  // The questions, the state for the answer, and the questions after it that the other node has asked; each with its size before.
  expect(read.mock.calls.length).toBeLessThanOrEqual(6)
  await settled()
  expect(await node.status(id)).toBe('input_required')
})
