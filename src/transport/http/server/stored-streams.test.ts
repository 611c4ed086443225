import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Node } from '../../../nodes/node.ts'
import { Suspects } from '../../../nodes/suspects.ts'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import type { Sink } from './parts.ts'
import type { HttpSession } from './sessions.ts'
import { StoredStreams } from './stored-streams.ts'
import type { StreamFollower } from './stream-follower.ts'

const ROOM = { events: 100, bytes: 1_000_000, idleMs: 600_000 }
const BEAT_MS = 5000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Followed {
  /** The streams that have ended, by the ids of their sessions. */
  readonly ended: string[]
  readonly suspects: Suspects
  look(): Promise<void>
}

/** Follows one stream of each of three sessions, whose requests run at node 1. */
async function follow(isAlive: () => boolean, confirmed?: number): Promise<Followed> {
  const events = new MemoryEventStore(new Lifetime())
  const stores = { events, nodes: { isAlive: async () => isAlive() } }
  const suspects = new Suspects(BEAT_MS)
  if (confirmed !== undefined) suspects.confirm(confirmed)
  const node = { number: 2, suspects, stores } as unknown as Node
  const onError = (error: unknown): never => {
    throw error
  }
  const streams = new StoredStreams({ node, room: ROOM, idleMs: 600_000, maxUnread: 1_000_000, onError })
  const followers = new Set<StreamFollower>()
  const ended: string[] = []
  for (const id of ['a', 'b', 'c']) {
    events.open(id, 'r1x1', '1 {"lost":true}', ROOM)
    events.append(id, 'r1x1', { text: '{"a":1}' }, ROOM)
    const session = { id, shared: { followers } } as unknown as HttpSession
    const { stream } = await streams.resume(session, 'r1x1_0', {})
    const sink: Sink = {
      waiting: 0,
      write: () => undefined,
      end: () => void ended.push(id),
      abort: () => undefined,
      onGone: () => undefined,
    }
    stream?.attach(sink)
  }
  await vi.advanceTimersByTimeAsync(10)
  return {
    ended,
    suspects,
    async look() {
      await streams.look()
      await vi.advanceTimersByTimeAsync(BEAT_MS)
    },
  }
}

test('a node that seems dead gets a second look, however many of its streams are followed', async () => {
  const answers = [false, true, false, false]
  let isAlive = true
  const { ended, look } = await follow(() => isAlive)
  for (const answer of answers) {
    expect(ended).toEqual([])
    isAlive = answer
    await look()
  }
  expect(ended).toEqual(['a', 'b', 'c'])
})

test('a node that is known to be dead gets one look, also before the first one is due', async () => {
  const { ended, suspects, look } = await follow(() => false)
  suspects.confirm(1)
  await look()
  expect(ended).toEqual(['a', 'b', 'c'])
  expect((await follow(() => false, 1)).ended).toEqual(['a', 'b', 'c'])
  expect((await follow(() => true, 1)).ended).toEqual([])
})

test('one look at a node does for all its streams', async () => {
  let looks = 0
  const { look } = await follow(() => ++looks > 0)
  await look()
  expect(looks).toBe(1)
})

test('a client that opens its stream again and again lets few notes wait for the store', async () => {
  const events = new MemoryEventStore(new Lifetime())
  const notes: string[] = []
  let isHeld = true
  const cache = {
    add: () => false,
    get: () => '0 -1',
    set: async (_: string, text: string) => {
      if (!text.startsWith('0 ')) return
      notes.push(text)
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 10))
    },
  }
  const stores = { events, cache, nodes: { isAlive: () => true } }
  const node = { number: 2, stores, publish: async () => undefined } as unknown as Node
  const onError = (): void => undefined
  const streams = new StoredStreams({ node, room: ROOM, idleMs: 600_000, maxUnread: 1_000_000, onError })
  const shared = { followers: new Set(), notices: { open: () => events.open('a', 's', '', ROOM) } }
  const session = { id: 'a', shared, session: { dialect: {} } } as unknown as HttpSession
  for (let nth = 0; nth < 100; nth++) {
    const { stream } = await streams.open(session, {})
    let leave = (): void => undefined
    stream?.attach({
      waiting: 0,
      write: () => undefined,
      end: () => undefined,
      abort: () => undefined,
      onGone: (gone) => void (leave = gone),
    })
    leave()
    await vi.advanceTimersByTimeAsync(1)
  }
  isHeld = false
  await vi.advanceTimersByTimeAsync(1000)
  await streams.done()
  expect(notes).toHaveLength(2)
})
