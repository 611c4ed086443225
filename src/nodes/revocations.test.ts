import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import type { EventPage } from '../rpc/event-store.ts'
import type { NodeStores } from './node-options.ts'
import { Revocations } from './revocations.ts'

const EMPTY: EventPage = { events: [], isOver: false, first: 0, writer: '' }

test('revocations that could not be read stay missed, although an earlier look at the log succeeds', async () => {
  const looks: Deferred<EventPage>[] = []
  const read = (): Promise<EventPage> => {
    const look = new Deferred<EventPage>()
    looks.push(look)
    return look.promise
  }
  const revocations = new Revocations({ read } as unknown as NodeStores['events'], 'server', () => undefined)
  const [early, late] = [revocations.read(), revocations.read()]
  looks[1]?.reject(new Error('away'))
  await expect(late).rejects.toThrow('away')
  looks[0]?.resolve(EMPTY)
  await early
  expect(revocations.areMissed).toBe(true)
  const again = revocations.read()
  looks[2]?.resolve(EMPTY)
  await again
  expect(revocations.areMissed).toBe(false)
})
