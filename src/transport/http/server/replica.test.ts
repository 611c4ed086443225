import { queryObjects } from 'node:v8'
import { expect, test, vi } from 'vitest'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { Dialects } from '../../../protocol/switches.ts'
import { POSITION, URI } from '../../../rpc/session-fields.ts'
import { Session } from '../../../rpc/session.ts'
import { StoredBytes } from '../../io/stored-bytes.ts'
import { NoticeWriter } from './notice-writer.ts'
import { Replica, type ReplicaParts, type ReplicaSession } from './replica.ts'

/** A replica whose caller has sent too much to other nodes. */
function toReplica(isAwaited: boolean): Replica {
  const node = { forwarded: { take: () => false }, number: 1, position: 0 } as unknown as Node
  const parts = { node, isAwaited, now: () => 0 } as unknown as ReplicaParts
  const session = { id: 's', countedFor: 'ann', session: { opened: false } } as unknown as ReplicaSession
  return new Replica(session, parts)
}

test('requests learn that their messages to other nodes were rejected', async () => {
  const replica = toReplica(true)
  replica.cancel({ requestId: 1 })
  await expect(replica.settled()).rejects.toMatchObject({ kind: 'overloaded' })
  await replica.settled()
})

test('nothing is kept of rejected messages that nobody waits for', async () => {
  const replica = toReplica(false)
  for (let id = 0; id < 100; id++) replica.cancel({ requestId: id })
  await new Promise((resolve) => setImmediate(resolve))
  expect(replica.unsettled).toBe(0)
  await replica.settled()
})

test('subscriptions in the store count for their caller after this node has forgotten the session', () => {
  const stored = new StoredBytes({ heldBytes: 10_000 })
  const field = URI + 'x'.repeat(3000)
  const subscribe = (id: string): void => {
    const node = { number: 1, position: 0 } as unknown as Node
    const parts = { node, stored, idleMs: 60_000, now: () => 0 } as unknown as ReplicaParts
    const session = { id, countedFor: 'net', session: { opened: false } } as unknown as ReplicaSession
    const replica = new Replica(session, parts)
    replica.change(field, '')
    replica.close()
  }
  subscribe('a')
  subscribe('b')
  expect(stored.bytes).toBeGreaterThan(6000)
  expect(() => subscribe('c')).toThrow('10000')
  stored.forget('a')
  subscribe('c')
})

test('a cancellation counts as much as it is long, since all nodes read the id', async () => {
  const sizes: number[] = []
  const take = (_: string, size: number): boolean => sizes.push(size) > 0
  const node = { forwarded: { take }, number: 1, position: 0, publish: async () => undefined }
  const parts = { node, isAwaited: true, now: () => 0 } as unknown as ReplicaParts
  const session = { id: 's', countedFor: 'ann', session: { opened: false } } as unknown as ReplicaSession
  const replica = new Replica(session, parts)
  replica.cancel({ requestId: 1 })
  replica.cancel({ requestId: 'x'.repeat(1_000_000) })
  await replica.settled()
  expect(sizes).toEqual([1, 16])
})

test('subscriptions that a caller may not send yet are not put together for each request', async () => {
  let [now, isRefused, sent] = [0, true, 0]
  const take = (): boolean => !isRefused
  const stores = { sessions: { use: () => undefined, create: () => 'created', change: () => 2 } }
  const publish = async (): Promise<void> => void sent++
  const node = { forwarded: { take }, number: 1, position: 0, server: 's', stores, publish }
  const contents = { fieldsOf: () => [] }
  const stored = new StoredBytes({ heldBytes: 100_000_000 })
  const parts = { node, contents, stored, idleMs: 60_000, now: () => now } as unknown as ReplicaParts
  const inner = { opened: true, whenReady: () => undefined }
  const replica = new Replica(
    { id: 's', countedFor: 'ann', session: inner } as unknown as ReplicaSession,
    parts,
  )
  await replica.create(new Map())
  for (let nth = 0; nth < 50; nth++) replica.change(`${URI}a://${nth}`, '')
  const stringify = vi.spyOn(JSON, 'stringify')
  try {
    for (let nth = 0; nth < 100; nth++)
      await expect(replica.settled()).rejects.toMatchObject({ kind: 'overloaded' })
    const looks = stringify.mock.calls.filter(
      ([value]) => (value as { kind?: string })?.kind === 'subscribed',
    )
    expect(looks).toHaveLength(1)
  } finally {
    stringify.mockRestore()
  }
  isRefused = false
  now = 1001
  await replica.settled()
  expect(sent).toBe(1)
})

test('a session whose client is up to date keeps nothing for notifications, streams and changes that it has none of', async () => {
  const stores = { sessions: { create: () => 'created', change: () => 2 }, events: {} }
  const node = { number: 1, position: 7, server: 's', stores } as unknown as Node
  const contents = { fieldsOf: () => [], restore: () => undefined }
  const parts = { node, contents, idleMs: 60_000, now: () => 0 } as unknown as ReplicaParts
  const kept: Replica[] = []
  const open = async (): Promise<void> => {
    const inner = new Session({} as Dialects)
    inner.opened = true
    const replica = new Replica({ id: 's', countedFor: 'ann', session: inner } as never, parts)
    inner.keeper = replica
    await replica.create(new Map())
    inner.setReady()
    replica.refresh({ version: 2, fields: new Map([[POSITION, '7']]) }, {})
    await replica.settled()
    kept.push(replica)
  }
  const counts = (): readonly number[] =>
    [Map, Set, NoticeWriter, Steps, AbortController].map((kind) => queryObjects(kind, { format: 'count' }))
  await open()
  const before = counts()
  for (let nth = 0; nth < 200; nth++) await open()
  const more = counts().map((count, at) => count - (before[at] ?? 0))
  expect(Math.max(...more)).toBeLessThan(20)
  expect(kept[0]?.notices).toBeInstanceOf(NoticeWriter)
})

test('changes since a session was created are caught up with once its client is ready', async () => {
  const asked: unknown[] = []
  const stores = { sessions: { create: () => 'created', change: () => 2 } }
  const node = {
    position: 7,
    stores,
    hasForgotten: () => false,
    changesAfter: (...range: unknown[]) => (asked.push(range), { changes: [], lost: [] }),
  }
  const contents = { fieldsOf: () => [] }
  const parts = { node, contents, idleMs: 60_000, now: () => 0 } as unknown as ReplicaParts
  const inner = new Session({} as Dialects)
  inner.opened = true
  const replica = new Replica({ id: 's', countedFor: 'ann', session: inner } as never, parts)
  await replica.create(new Map())
  node.position = 9
  inner.setReady()
  await replica.flushed()
  expect(asked).toEqual([[7, 9]])
})

test('a session that has ended adds no notifications, even if it had none before', () => {
  const parts = { node: { position: 7, stores: {} }, now: () => 0 } as unknown as ReplicaParts
  const session = { id: 's', countedFor: 'ann', session: { id: 's' } } as unknown as ReplicaSession
  const replica = new Replica(session, parts)
  replica.close()
  replica.notify('{}', 8)
  expect(replica.notices.waiting).toBe(0)
})
