import type { EventRoom, EventStore, NewEvent } from '../rpc/event-store.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { LONG_MS, storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

const ROOMY: EventRoom = { events: 1000, bytes: 10_000_000, idleMs: LONG_MS }

/** Opens a stream, and adds texts to it. */
async function filled(store: EventStore, texts: readonly string[], room: EventRoom = ROOMY): Promise<string> {
  const session = `session-${crypto.randomUUID()}`
  await store.open(session, 's', 'node-1', room)
  for (const text of texts) await store.append(session, 's', { text }, room)
  return session
}

async function textsOf(store: EventStore, session: string, stream = 's', after = -1): Promise<unknown> {
  const page = await store.read(session, stream, after, 10_000)
  return page?.events.map(({ text }) => text)
}

const CHECKS: StoreChecks<EventStore> = {
  async 'events are numbered from 0 on, and read as they were added'({ store, other }) {
    const session = await filled(store, [])
    assertSame(await store.append(session, 's', { text: 'a' }, ROOMY), 0, 'append answers')
    assertSame(await other.append(session, 's', { text: '' }, ROOMY), 1, 'append of an empty text answers')
    const events = [
      { seq: 0, text: 'a' },
      { seq: 1, text: '' },
    ]
    const page = { events, isOver: false, first: 0, writer: 'node-1' }
    assertSame(await other.read(session, 's', -1, 9), page, 'read answers')
  },

  async 'every text is kept as it is'({ store, other }) {
    for (const text of ODD_TEXTS) {
      await store.open(`session ${text}`, text, text, ROOMY)
      await store.append(`session ${text}`, text, { text }, ROOMY)
      const page = await other.read(`session ${text}`, text, -1, 9)
      assertSame([page?.writer, page?.events], [text, [{ seq: 0, text }]], 'read answers')
    }
  },

  async 'large texts are kept'({ store, other }) {
    const text = 'é'.repeat(600_000)
    const session = await filled(store, [text])
    assertSame(await textsOf(other, session), [text], 'the text')
  },

  async 'a stream must be opened first'({ store }) {
    assertSame(await store.append('nobody', 's', { text: 'a' }, ROOMY), undefined, 'append answers')
    assertSame(await store.read('nobody', 's', -1, 9), undefined, 'read answers')
    assertSame(await store.position('nobody', 's'), undefined, 'position answers')
    await store.forget('nobody')
    await store.forget('nobody', 's')
  },

  async 'opening a stream again leaves its events'({ store, other }) {
    const session = await filled(store, ['a'])
    await other.open(session, 's', 'node-2', ROOMY)
    const page = { events: [{ seq: 0, text: 'a' }], isOver: false, first: 0, writer: 'node-1' }
    assertSame(await store.read(session, 's', -1, 9), page, 'read answers')
  },

  async 'a stream is read from any event on, page by page'({ store }) {
    const session = await filled(store, ['a', 'b', 'c', 'd'])
    const pages: unknown[] = []
    for (const [after, limit] of [
      [-1, 2],
      [1, 1],
      [1, 9],
      [3, 9],
      [7, 9],
    ] as const)
      pages.push(
        (await store.read(session, 's', after, limit))?.events.map(({ seq, text }) => `${seq}${text}`),
      )
    assertSame(pages, [['0a', '1b'], ['2c'], ['2c', '3d'], [], []], 'the pages')
  },

  async 'streams and sessions do not mix'({ store }) {
    const session = await filled(store, ['a'])
    await store.open(session, 't', 'node-2', ROOMY)
    await store.append(session, 't', { text: 'b' }, ROOMY)
    const another = await filled(store, ['c'])
    assertSame(
      [await textsOf(store, session), await textsOf(store, session, 't'), await textsOf(store, another)],
      [['a'], ['b'], ['c']],
      'the texts',
    )
  },

  async 'the head of a stream tells what is kept'({ store, other }) {
    assertSame(await store.head('nobody', 's'), undefined, 'head of an unknown stream answers')
    const session = await filled(store, [])
    const head = { first: 0, next: 0, isOver: false, writer: 'node-1' }
    assertSame(await other.head(session, 's'), head, 'head answers')
    for (const text of ['a', 'b', 'c']) await store.append(session, 's', { text }, { ...ROOMY, events: 2 })
    assertSame(await other.head(session, 's'), { ...head, first: 1, next: 3 }, 'head answers with events')
    await store.append(session, 's', { text: 'd', isLast: true }, ROOMY)
    await store.trim(session, 's', 4)
    const over = { ...head, first: 4, next: 4, isOver: true }
    assertSame(await other.head(session, 's'), over, 'head answers after the end')
    await store.forget(session)
    assertSame(await other.head(session, 's'), undefined, 'head answers for a forgotten stream')
  },

  async 'a stream ends with its last event'({ store, other }) {
    const session = await filled(store, ['a'])
    assertSame(await store.append(session, 's', { text: 'b', isLast: true }, ROOMY), 1, 'append answers')
    assertSame(
      await other.append(session, 's', { text: 'c' }, ROOMY),
      undefined,
      'append after the end answers',
    )
    const over = async (after: number, limit: number): Promise<unknown> =>
      (await other.read(session, 's', after, limit))?.isOver
    assertSame([await over(-1, 9), await over(-1, 1), await over(1, 9)], [true, false, true], 'isOver')
    assertSame(await textsOf(other, session), ['a', 'b'], 'the texts')
  },

  async 'an event with a number is added once'({ store, other }) {
    const session = await filled(store, [])
    for (const one of [store, other])
      assertSame(await one.append(session, 's', { text: 'a', seq: 0 }, ROOMY), 0, 'append answers')
    assertSame(
      await store.append(session, 's', { text: 'c', seq: 2 }, ROOMY),
      undefined,
      'append of a later one answers',
    )
    const last = { text: 'b', seq: 1, isLast: true }
    for (const one of [store, other])
      assertSame(await one.append(session, 's', last, ROOMY), 1, 'append answers')
    assertSame(await textsOf(store, session), ['a', 'b'], 'the texts')
  },

  async 'a stream takes only positions after its last one'({ store, other }) {
    const session = await filled(store, ['a'])
    const add = async (one: EventStore, position: number): Promise<unknown> =>
      one.append(session, 's', { text: `at ${position}`, position }, ROOMY)
    assertSame(await store.position(session, 's'), undefined, 'the position before')
    const numbers = [await add(store, 5), await add(other, 5), await add(other, 3), await add(other, 8)]
    assertSame(numbers, [1, undefined, undefined, 2], 'append answers')
    await store.append(session, 's', { text: 'b' }, ROOMY)
    assertSame(await other.position(session, 's'), 8, 'the position')
    assertSame(await textsOf(store, session), ['a', 'at 5', 'at 8', 'b'], 'the texts')
  },

  async 'a request that is given up gets no more events'({ store, other }) {
    const session = await filled(store, [])
    const add = async (one: EventStore, text: string, event: Partial<NewEvent>): Promise<unknown> =>
      one.append(session, 's', { text, ...event }, ROOMY)
    const numbers = [
      await add(store, 'a', { requests: ['1'] }),
      // Its number is taken, so this changes nothing.
      await add(other, 'b', { requests: ['1'], givesUp: true, seq: 0 }),
      await add(store, 'c', { requests: ['1'] }),
      await add(other, 'd', { requests: ['1', '"é"'], givesUp: true, seq: 2 }),
      await add(store, 'e', { requests: ['1'] }),
      await add(other, 'f', { requests: ['2', '"é"'] }),
      await add(store, 'g', { requests: ['1'], givesUp: true }),
      await add(store, 'h', { requests: ['2'] }),
      await add(store, 'i', {}),
    ]
    const none = undefined
    assertSame(numbers, [0, 0, 1, 2, none, none, none, 3, 4], 'append answers')
    assertSame(await textsOf(other, session), ['a', 'c', 'd', 'h', 'i'], 'the texts')
    await store.trim(session, 's', 5)
    assertSame(
      await add(other, 'j', { requests: ['1'] }),
      none,
      'append after the events are discarded answers',
    )
    await store.forget(session, 's')
    await store.open(session, 's', 'node-1', ROOMY)
    assertSame(await add(other, 'k', { requests: ['1'] }), 0, 'append to a new stream of that name answers')
  },

  async 'writers at the same time get numbers of their own'({ store, other }) {
    const session = await filled(store, [])
    const numbers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) =>
        (index % 2 === 0 ? store : other).append(session, 's', { text: `${index}` }, ROOMY),
      ),
    )
    const page = await store.read(session, 's', -1, 100)
    const found = page?.events.map(({ seq, text }) => numbers[Number(text)] === seq)
    assertSame(
      found,
      Array.from({ length: 60 }, () => true),
      'whether each text has its number',
    )
  },

  async 'the oldest events make room for new ones'({ store }) {
    const few: EventRoom = { ...ROOMY, events: 2 }
    const session = await filled(store, ['a', 'b', 'c'], few)
    const page = await store.read(session, 's', -1, 9)
    const events = [
      { seq: 1, text: 'b' },
      { seq: 2, text: 'c' },
    ]
    assertSame(page, { events, isOver: false, first: 1, writer: 'node-1' }, 'read answers')
    assertSame(await store.append(session, 's', { text: 'd' }, few), 3, 'append answers')
    assertSame((await store.read(session, 's', -1, 9))?.first, 2, 'the first event')
  },

  async 'the bytes of a stream are limited'({ store }) {
    const small: EventRoom = { ...ROOMY, bytes: 10 }
    const session = await filled(store, ['aaaa', 'bbbb', 'cccc'], small)
    assertSame(await textsOf(store, session), ['bbbb', 'cccc'], 'the texts')
    await store.append(session, 's', { text: 'd'.repeat(20) }, small)
    assertSame(await textsOf(store, session), ['d'.repeat(20)], 'the texts after one that is too large')
  },

  async 'events before a number are discarded, and the numbers go on'({ store, other }) {
    const session = await filled(store, ['a', 'b', 'c'])
    await other.trim(session, 's', 2)
    const page = { events: [{ seq: 2, text: 'c' }], isOver: false, first: 2, writer: 'node-1' }
    assertSame(await store.read(session, 's', -1, 9), page, 'read answers')
    await store.trim(session, 's', 1)
    await store.trim(session, 's', 9)
    assertSame(
      await other.read(session, 's', -1, 9),
      { events: [], isOver: false, first: 3, writer: 'node-1' },
      'read answers after all were discarded',
    )
    const small: EventRoom = { ...ROOMY, bytes: 10 }
    for (const [index, text] of ['dddd', 'eeee', 'ffff'].entries())
      assertSame(await other.append(session, 's', { text }, small), 3 + index, 'append answers')
    assertSame(await textsOf(store, session), ['eeee', 'ffff'], 'the texts that were added then')
    await store.trim('nobody', 's', 1)
  },

  async 'a stream without events ends after its time'({ store, eventually }) {
    const session = await filled(store, ['a'], { ...ROOMY, idleMs: 1 })
    await eventually('the end of a stream', async () => (await store.read(session, 's', -1, 9)) === undefined)
    assertSame(await store.append(session, 's', { text: 'b' }, ROOMY), undefined, 'append answers')
  },

  async 'opening a stream again gives it a new time'({ store, other, eventually }) {
    const session = await filled(store, ['a'])
    await other.open(session, 's', 'node-2', { ...ROOMY, idleMs: 1 })
    await eventually('the end of a stream', async () => (await store.read(session, 's', -1, 9)) === undefined)
  },

  async 'events prolong a stream'({ store, other, eventually }) {
    const brief: EventRoom = { ...ROOMY, idleMs: LONG_MS }
    const session = await filled(store, ['a'], brief)
    await store.append(session, 's', { text: 'b' }, { ...brief, idleMs: 1 })
    await eventually('the end of a stream', async () => (await other.read(session, 's', -1, 9)) === undefined)
  },

  async 'a stream is forgotten, or all of a session'({ store, other }) {
    const session = await filled(store, ['a'])
    for (const name of ['t', 'u']) await store.open(session, name, 'node-1', ROOMY)
    await other.forget(session, 's')
    assertSame(await store.read(session, 's', -1, 9), undefined, 'read answers for the stream')
    assertSame(await textsOf(store, session, 't'), [], 'the texts of another stream')
    const another = await filled(store, ['b'])
    await other.forget(session)
    assertSame(
      [await textsOf(store, session, 't'), await textsOf(store, session, 'u')],
      [undefined, undefined],
      'the texts',
    )
    assertSame(await textsOf(store, another), ['b'], 'the texts of another session')
    await store.open(session, 's', 'node-2', ROOMY)
    assertSame(await store.append(session, 's', { text: 'c' }, ROOMY), 0, 'append to a new stream answers')
  },

  async 'watchers hear of events, also through other nodes'({ store, other, eventually }) {
    const session = await filled(store, [])
    let seen = -1
    const follow = async (): Promise<void> => {
      const page = await other.read(session, 's', seen, 100)
      seen = Math.max(seen, page?.events.at(-1)?.seq ?? -1)
    }
    const stop = other.watch(session, 's', () => void follow())
    try {
      for (const expected of [0, 1, 2]) {
        await store.append(session, 's', { text: 'a' }, ROOMY)
        await eventually('news of an event', () => seen >= expected)
      }
    } finally {
      stop()
    }
  },

  async 'watchers hear that a stream was forgotten'({ store, other, eventually }) {
    const session = await filled(store, ['a'])
    let isGone = false
    const follow = async (): Promise<void> => {
      isGone = (await other.read(session, 's', -1, 1)) === undefined
    }
    const stop = other.watch(session, 's', () => void follow())
    try {
      await store.forget(session)
      await eventually('news of a forgotten stream', () => isGone)
    } finally {
      stop()
    }
  },

  async 'each watcher is stopped by itself'({ store, eventually }) {
    const session = await filled(store, [])
    const calls = [0, 0]
    const stops = calls.map((_, index) =>
      store.watch(session, 's', () => void (calls[index] = (calls[index] ?? 0) + 1)),
    )
    await store.append(session, 's', { text: 'a' }, ROOMY)
    await eventually('news for both watchers', () => calls.every((count) => count > 0))
    stops[0]?.()
    stops[0]?.()
    const [stopped, left = 0] = calls
    await store.append(session, 's', { text: 'b' }, ROOMY)
    await eventually('news for the other watcher', () => (calls[1] ?? 0) > left)
    stops[1]?.()
    assertSame(calls[0], stopped, 'calls of the watcher that was stopped')
  },
}

/**
 * The checks that every store of events must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of eventStoreContract({ open: () => memory() })) test(name, run)
 */
export function eventStoreContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('events', options, CHECKS)
}
