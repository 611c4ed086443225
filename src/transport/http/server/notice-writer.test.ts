import { expect, test, vi } from 'vitest'
import { mcpError } from '../../../errors/error.ts'
import { STORE_UNREACHABLE } from '../../../errors/store.ts'
import type { KnownChange } from '../../../nodes/recent-changes.ts'
import type { Node } from '../../../nodes/node.ts'
import { LATEST } from '../../../protocol/revisions.ts'
import type { SentChange } from '../../../rpc/changes.ts'
import type { EventRoom, EventStore } from '../../../rpc/event-store.ts'
import type { Notice, SessionContents } from '../../../rpc/session-fields.ts'
import type { Session } from '../../../rpc/session.ts'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import { withoutMark } from './marked-text.ts'
import { NoticeWriter } from './notice-writer.ts'
import { STANDALONE } from './sessions.ts'

const ROOM: EventRoom = { events: 1000, bytes: 100_000, idleMs: 600_000 }

interface Written {
  readonly writer: NoticeWriter
  isAway: boolean
  /** The texts in the stream. */
  texts(): readonly string[]
}

/** A writer whose store is away at first. Changes are notices of tools, which have positions. */
function toWriter(room: EventRoom = ROOM): Written {
  const store = new MemoryEventStore(new Lifetime())
  const written = { isAway: true }
  const events = new Proxy(store, {
    get: (target, name: keyof EventStore) => {
      const step = target[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (written.isAway) throw mcpError(STORE_UNREACHABLE, {})
        return step.apply(target, args)
      }
    },
  })
  const changesAfter = async (after: number, upTo: number): Promise<readonly KnownChange[]> =>
    Array.from({ length: upTo - after }, (_, at) => ({
      position: after + at + 1,
      change: { kind: 'tools' },
    }))
  const contents = {
    allNotices: () => [],
    noticeOf: (_: Session, { kind }: SentChange): Notice => ({ method: `notifications/${kind}`, params: {} }),
  } as unknown as SessionContents
  const writer = new NoticeWriter({
    node: { number: 1, stores: { events }, changesAfter, hasForgotten: () => false } as unknown as Node,
    contents,
    session: { id: 's', dialect: { revision: LATEST } } as unknown as Session,
    room,
    after: 0,
    onError(error) {
      throw error
    },
    onMoved: () => undefined,
  })
  const texts = (): readonly string[] =>
    store.read('s', STANDALONE, -1, 1_000_000)?.events.map(({ text }) => withoutMark(text)) ?? []
  return Object.assign(written, { writer, texts })
}

const change = (position: number): string => `{"change":${position}}`
const message = (number: number): string => `{"message":${number}}`
const isMessage = (text: string): boolean => text.startsWith('{"message')

test('messages of one node are kept while the store is away, whatever changes besides', async () => {
  const written = toWriter()
  const { writer } = written
  for (let at = 1; at <= 300; at++) {
    if (at <= 150) writer.add(message(at), undefined)
    writer.add(change(at), at)
  }
  written.isAway = false
  await writer.done()
  const found = written.texts()
  expect(found.filter(isMessage)).toEqual(Array.from({ length: 150 }, (_, at) => message(at + 1)))
  expect(found.filter((text) => !isMessage(text))).toHaveLength(300)
})

test('as many messages wait as the stream has room for, the newest ones', async () => {
  const written = toWriter({ ...ROOM, events: 50 })
  for (let at = 1; at <= 5000; at++) written.writer.add(message(at), undefined)
  expect(written.writer.waiting).toBeLessThanOrEqual(51)
  written.isAway = false
  await written.writer.done()
  expect(written.texts()).toEqual(Array.from({ length: 50 }, (_, at) => message(at + 4951)))
})

test('they take no more bytes than the stream may have', async () => {
  const written = toWriter({ ...ROOM, bytes: 10_000 })
  const long = (at: number): string => `{"message":${at},"text":"${'x'.repeat(960)}"}`
  for (let at = 1; at <= 500; at++) written.writer.add(long(at), undefined)
  expect(written.writer.waiting).toBeLessThanOrEqual(11)
  written.isAway = false
  await written.writer.done()
  expect(written.texts().at(-1)).toBe(long(500))
})

test('many changes are made again from those that the bus has', async () => {
  const written = toWriter()
  for (let at = 1; at <= 500; at++) written.writer.add(change(at), at)
  expect(written.writer.waiting).toBeLessThanOrEqual(101)
  written.isAway = false
  await vi.waitFor(() => expect(written.texts()).toHaveLength(500))
  await written.writer.done()
})
