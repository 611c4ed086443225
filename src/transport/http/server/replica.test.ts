import { expect, test, vi } from 'vitest'
import type { Node } from '../../../nodes/node.ts'
import { URI } from '../../../rpc/session-fields.ts'
import { StoredBytes } from '../../io/stored-bytes.ts'
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
