import { expect, test } from 'vitest'
import type { EventRoom } from '../../../rpc/event-store.ts'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import type { Sink } from './parts.ts'
import { RecentPages } from './recent-pages.ts'
import { StreamFollower } from './stream-follower.ts'

const ROOM: EventRoom = { events: 3, bytes: 1_000_000, idleMs: 60_000 }

/** A client that reads as much as a test says. */
class Reader implements Sink {
  text = ''
  state: 'open' | 'ended' | 'aborted' = 'open'
  waiting = 0
  isSlow = false
  #gone: () => void = () => undefined

  write(text: string): void {
    this.text += text
    if (this.isSlow) this.waiting += text.length
  }

  end(...texts: readonly string[]): void {
    this.text += texts.join('')
    this.state = 'ended'
  }

  abort(): void {
    this.state = 'aborted'
  }

  onGone(listener: () => void): void {
    this.#gone = listener
  }

  leave(): void {
    this.#gone()
  }

  get ids(): readonly string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id as string)
  }
}

interface Following {
  readonly events: MemoryEventStore
  readonly reader: Reader
  readonly follower: StreamFollower
  readonly detached: number[]
  add(text: string, isLast?: boolean): void
}

function follow(options: {
  readonly after?: number
  readonly isLossy?: boolean
  readonly texts?: number
}): Following {
  const { after = -1, isLossy = false, texts = 0 } = options
  const events = new MemoryEventStore(new Lifetime())
  events.open('s', 'r', 'w', ROOM)
  const add = (text: string, isLast = false): void => void events.append('s', 'r', { text, isLast }, ROOM)
  for (let at = 0; at < texts; at++) add(`${at}`)
  const reader = new Reader()
  const detached: number[] = []
  const follower = new StreamFollower({
    events,
    pages: new RecentPages(events),
    caller: '',
    session: 's',
    name: 'r',
    after,
    maxUnread: 1000,
    isLossy,
    inTurn: (act) => act(),
    onError: () => undefined,
    onAttached: () => undefined,
    onDetached: (sent) => void detached.push(sent),
  })
  follower.attach(reader)
  return { events, reader, follower, detached, add }
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true)
}

test('a client gets what follows its last event, and then each event as it is added, until the last', async () => {
  const { reader, add, detached } = follow({ after: 0, texts: 2 })
  await until(() => reader.ids.length === 1)
  add('2')
  await until(() => reader.ids.length === 2)
  add('3', true)
  await until(() => reader.state === 'ended')
  expect([reader.ids, detached]).toEqual([['r_1', 'r_2', 'r_3'], [3]])
})

test('a client whose next event was discarded is disconnected, unless it may miss some', async () => {
  const strict = follow({ after: 0, texts: 10 })
  await until(() => strict.reader.state === 'aborted')
  expect(strict.reader.ids).toEqual([])
  const lossy = follow({ after: 0, texts: 10, isLossy: true })
  await until(() => lossy.reader.ids.length === 3)
  expect(lossy.reader.ids).toEqual(['r_7', 'r_8', 'r_9'])
  lossy.follower.end()
})

test('a client that reads nothing is disconnected, by its unread bytes or by the time', async () => {
  const many = follow({})
  many.reader.isSlow = true
  many.add('x'.repeat(2000))
  await until(() => many.reader.state === 'aborted')
  const slow = follow({})
  slow.reader.isSlow = true
  slow.follower.keepAlive()
  expect(slow.reader.state).toBe('open')
  slow.follower.keepAlive()
  expect([slow.reader.state, slow.detached]).toEqual(['aborted', [-1]])
})

test('nothing is written after the client has left, and a stream that is forgotten ends', async () => {
  const left = follow({})
  left.reader.leave()
  left.add('late')
  left.follower.keepAlive()
  expect([left.reader.text, left.detached]).toEqual(['', [-1]])
  const forgotten = follow({ texts: 1 })
  await until(() => forgotten.reader.ids.length === 1)
  forgotten.events.forget('s')
  await until(() => forgotten.reader.state === 'ended')
})
