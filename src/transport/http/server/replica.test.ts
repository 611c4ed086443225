import { expect, test } from 'vitest'
import type { Node } from '../../../nodes/node.ts'
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
