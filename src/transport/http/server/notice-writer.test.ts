import { expect, test, vi } from 'vitest'
import { mcpError } from '../../../errors/error.ts'
import { STORE_UNREACHABLE } from '../../../errors/store.ts'
import type { PastChanges } from '../../../nodes/change-history.ts'
import type { Node } from '../../../nodes/node.ts'
import { LATEST } from '../../../protocol/revisions.ts'
import type { SentChange } from '../../../rpc/changes.ts'
import type { EventRoom, EventStore } from '../../../rpc/event-store.ts'
import type { Notice, SessionContents } from '../../../rpc/session-fields.ts'
import type { Session } from '../../../rpc/session.ts'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import { withoutMark } from './marked-text.ts'
import { NoticeBudget } from '../../io/notice-budget.ts'
import { NoticeWriter } from './notice-writer.ts'
import { STANDALONE } from './sessions.ts'

const ROOM: EventRoom = { events: 1000, bytes: 100_000, idleMs: 600_000 }

interface Written {
  readonly writer: NoticeWriter
  readonly contents: SessionContents
  isAway: boolean
  /** The texts in the stream. */
  texts(): readonly string[]
}

/** A writer whose store is away at first. Changes are notices of tools, which have positions. */
function toWriter(
  room: EventRoom = ROOM,
  past?: PastChanges,
  store: MemoryEventStore = new MemoryEventStore(new Lifetime()),
): Written {
  const written = { isAway: true }
  const events = new Proxy(store, {
    get: (target, name: Exclude<keyof EventStore, 'nodes'>) => {
      const step = target[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (written.isAway) throw mcpError(STORE_UNREACHABLE, {})
        return step.apply(target, args)
      }
    },
  })
  const changesAfter = async (after: number, upTo: number): Promise<PastChanges> =>
    past ?? {
      changes: Array.from({ length: upTo - after }, (_, at) => ({
        position: after + at + 1,
        change: { kind: 'tools' },
      })),
      lost: [],
    }
  const contents = {
    allNotices: (_: Session, which: string): readonly Notice[] =>
      [1, 2, 3].map((number) => ({ method: `notifications/${which}`, params: { number } })),
    noticeOf: (_: Session, { kind }: SentChange): Notice => ({ method: `notifications/${kind}`, params: {} }),
  } as unknown as SessionContents
  const writer = new NoticeWriter({
    node: { number: 1, stores: { events }, changesAfter, hasForgotten: () => false } as unknown as Node,
    contents,
    session: { id: 's', dialect: { revision: LATEST } } as unknown as Session,
    countedFor: '',
    isCounted: () => true,
    budget: new NoticeBudget({ unsentBytes: 1e9 }),
    room,
    after: 0,
    onError(error) {
      throw error
    },
    onMoved: () => undefined,
  })
  const texts = (): readonly string[] =>
    store.read('s', STANDALONE, -1, 1_000_000)?.events.map(({ text }) => withoutMark(text)) ?? []
  return Object.assign(written, { writer, contents, texts })
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

test('long notifications of changes do not wait in memory: they are made again from the changes', async () => {
  const written = toWriter()
  const { writer } = written
  const add = vi.spyOn(writer, 'catchUp')
  for (let at = 1; at <= 20; at++) writer.add(`{"change":"${'x'.repeat(8000)}"}`, at)
  expect(add).toHaveBeenCalled()
  expect(writer.waiting).toBeLessThan(5)
  written.isAway = false
  await writer.done()
  expect(written.texts()).toHaveLength(20)
})

test.each([
  { upTo: 3000, expected: 'lists lists updates updates updates' },
  { upTo: 2500, expected: 'lists updates updates updates lists' },
])(
  'if only some changes are forgotten, the others are announced once and in order, by all nodes together, up to $upTo',
  async ({ upTo, expected }) => {
    const changes = [7, 2500].map((position) => ({ position, change: { kind: 'tools' } as const }))
    const store = new MemoryEventStore(new Lifetime())
    for (let node = 0; node < 2; node++) {
      const written = toWriter(ROOM, { changes, lost: ['updates'] }, store)
      written.isAway = false
      written.writer.catchUp(upTo)
      await written.writer.done()
      const names = written.texts().map((text) => (text.includes('tools') ? 'lists' : 'updates'))
      expect(names.join(' ')).toBe(expected)
    }
    expect(store.position('s', STANDALONE)).toBe(upTo)
  },
)

test('if nobody knows what has changed, a session that watches nothing has nothing to do', async () => {
  const written = toWriter()
  written.isAway = false
  const { writer } = written
  const catchUp = vi.spyOn(writer, 'catchUp')
  const watched: Notice[] = []
  const { contents } = written
  contents.allNotices = () => watched
  writer.allChanged(5, ['updates'], false)
  expect(writer.waiting).toBe(0)
  expect(catchUp).not.toHaveBeenCalled()
  // A node that has missed messages looks for all changes.
  writer.allChanged(6, ['updates'], true)
  watched.push({ method: 'notifications/resources/updated', params: { uri: 'a://b' } })
  writer.allChanged(7, ['updates'], false)
  expect(catchUp.mock.calls).toEqual([[6], [7]])
  await writer.done()
})
