import { expect, test, vi } from 'vitest'
import { toLimits } from '../base/limits.ts'
import { Call } from './call.ts'
import { Load } from './load.ts'
import { answerInTurn, Queue, type Waiting } from './queue.ts'

const limits = toLimits({ queued: 4, queuedBytes: 100, queuedPerCaller: 3, waitMs: Infinity })
const WAIT_MS = 200
/** A request that may start at once, and leaves no room for others. */
const FREE = { mayBegin: () => true, begin: () => false }

/** Waits, and writes down when the turn comes or what comes instead. */
function join(
  queue: Queue,
  said: string[],
  name: string,
  more: Partial<Waiting> & { readonly waitMs?: number } = {},
): { readonly over: Promise<void>; leave(): void } {
  const controller = new AbortController()
  const waiting = { caller: name[0], bytes: 1, signal: controller.signal, ...FREE, ...more }
  const over = queue.wait(waiting, { ...limits, waitMs: more.waitMs ?? Infinity }).then(
    () => void said.push(name),
    (reason: Error & { kind?: string }) => void said.push(`${name} ${reason.kind ?? reason.message}`),
  )
  return { over, leave: () => controller.abort(new Error('left')) }
}

test('callers take turns, and the requests of each keep their order', async () => {
  const queue = new Queue()
  const said: string[] = []
  const all = ['a1', 'a2', 'a3', 'b1'].map((name) => join(queue, said, name).over)
  for (let turn = 0; turn < 4; turn++) queue.next()
  queue.next()
  await Promise.all(all)
  expect(said).toEqual(['a1', 'b1', 'a2', 'a3'])
  expect(queue.size).toBe(0)
})

test('requests start as long as there is room', async () => {
  const queue = new Queue()
  const said: string[] = []
  const all = ['a1', 'b1', 'c1'].map((name) =>
    join(queue, said, name, name === 'b1' ? {} : { begin: () => true }),
  )
  queue.next()
  await Promise.all(all.slice(0, 2).map(({ over }) => over))
  expect([said, queue.size]).toEqual([['a1', 'b1'], 1])
  queue.next()
  await all[2]?.over
  expect(said).toEqual(['a1', 'b1', 'c1'])
})

test('the queue is bounded in total, per caller and in bytes', () => {
  const queue = new Queue()
  const begin = (caller: unknown, bytes = 1): Promise<void> =>
    queue.wait({ caller, bytes, signal: new AbortController().signal, ...FREE }, limits)
  for (const bytes of [1, 1, 1]) void begin('a', bytes)
  expect(() => begin('a')).toThrow(expect.objectContaining({ kind: 'queue_share', code: 1003 }))
  expect(() => begin('b', 98)).toThrow(expect.objectContaining({ kind: 'queue_bytes', code: 1002 }))
  void begin('b', 97)
  expect(() => begin('b', 0)).toThrow(expect.objectContaining({ kind: 'queue_full', code: 1001 }))
  queue.next()
  expect(() => begin('c', 2)).toThrow(expect.objectContaining({ kind: 'queue_bytes' }))
  void begin('c', 1)
  expect(queue.size).toBe(4)
})

test('a caller limited to one queued request cannot queue a second', () => {
  const queue = new Queue()
  const begin = (caller: string): Promise<void> =>
    queue.wait(
      { caller, bytes: 1, signal: new AbortController().signal, ...FREE },
      { ...limits, queuedPerCaller: 1 },
    )
  for (const caller of ['a', 'b']) {
    void begin(caller)
    expect(() => begin(caller)).toThrow(expect.objectContaining({ kind: 'queue_share' }))
  }
  queue.next()
  void begin('a')
  expect(queue.size).toBe(2)
})

test('requests of unknown callers count only against the total limit', () => {
  const queue = new Queue()
  const signal = new AbortController().signal
  for (let count = 0; count < 4; count++)
    void queue.wait({ caller: undefined, bytes: 1, signal, ...FREE }, limits)
  expect(queue.size).toBe(4)
})

test('a cancelled request leaves the queue at once and makes room', async () => {
  const queue = new Queue()
  const said: string[] = []
  const [first, second] = [join(queue, said, 'a1'), join(queue, said, 'a2')]
  first.leave()
  await first.over
  expect([said, queue.size]).toEqual([['a1 left'], 1])
  queue.next()
  await second.over
  second.leave()
  expect([said, queue.size]).toEqual([['a1 left', 'a2'], 0])
})

test('requests queued for too long are rejected one after the other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const queue = new Queue()
    const said: string[] = []
    const all = [join(queue, said, 'a1', { waitMs: WAIT_MS })]
    await vi.advanceTimersByTimeAsync(150)
    all.push(join(queue, said, 'b1', { waitMs: WAIT_MS }))
    await vi.advanceTimersByTimeAsync(60)
    expect(said).toEqual(['a1 overloaded'])
    await vi.advanceTimersByTimeAsync(150)
    expect(said).toEqual(['a1 overloaded', 'b1 overloaded'])
    expect([queue.size, vi.getTimerCount()]).toEqual([0, 0])
    await Promise.all(all.map(({ over }) => over))
  } finally {
    vi.useRealTimers()
  }
})

test('every queued request can time out, even after the queue was empty for a while', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const queue = new Queue()
    const said: string[] = []
    const first = join(queue, said, 'a1', { waitMs: WAIT_MS })
    queue.next()
    expect(vi.getTimerCount()).toBe(0)
    await first.over
    const second = join(queue, said, 'a2', { waitMs: WAIT_MS })
    await vi.advanceTimersByTimeAsync(200)
    await second.over
    expect(said).toEqual(['a1', 'a2 overloaded'])
  } finally {
    vi.useRealTimers()
  }
})

test('waits too long for one timer need few timers, and an infinite wait needs none', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const wait = (waitMs: number): void =>
      void new Queue().wait(
        { caller: 'a', bytes: 1, signal: new AbortController().signal, ...FREE },
        { ...limits, waitMs },
      )
    wait(Infinity)
    expect(set).not.toHaveBeenCalled()
    wait(2 ** 32)
    vi.advanceTimersByTime(1000)
    expect(set).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})

function makeCall(method = 'tools/call'): Call {
  return new Call(1, method, {}, { source: {}, peer: {} } as ConstructorParameters<typeof Call>[3])
}

/** A server that answers one request at a time, and is doing so. */
function busy(): {
  load: Load
  leave(): void
  turn(call: Call, name: string, allInFlight?: number): Promise<string>
} {
  const load = new Load()
  const other = makeCall()
  load.enter(other, 'other', 1)
  const leave = (): void => load.leave(other, 'other', 1)
  const turn = async (call: Call, name: string, allInFlight = 1): Promise<string> => {
    const asked = { call, caller: 'a', bytes: 1, answer: () => ({ name }) }
    return answerInTurn(load, asked, { ...limits, allInFlight }).then(
      () => name,
      (error: Error) => `${name}: ${error.message}`,
    )
  }
  return { load, leave, turn }
}

test('a request cancelled before it could be queued is not queued', async () => {
  const { load, leave, turn } = busy()
  const call = makeCall()
  call.cancel(new Error('cancelled'))
  expect(await turn(call, 'a')).toBe('a: cancelled')
  expect([load.waiting, load.running]).toEqual([0, 1])
  leave()
  expect(load.running).toBe(0)
})

test('a request cancelled just as its turn comes lets the next one start', async () => {
  const { load, leave, turn } = busy()
  const call = makeCall()
  const first = turn(call, 'a1')
  const second = turn(makeCall(), 'a2')
  expect(load.waiting).toBe(2)
  leave()
  call.cancel(new Error('cancelled'))
  expect(await first).toBe('a1: cancelled')
  expect(await second).toBe('a2')
  expect([load.waiting, load.running]).toEqual([0, 0])
})

test('a request that was cancelled but could not leave the queue does not count when its turn comes', async () => {
  const { load, leave, turn } = busy()
  const lifetime = { defer: () => undefined, hold: () => undefined, close: () => undefined }
  const stopped = new Call(1, 'tools/call', {}, { source: { lifetime } } as never)
  void turn(stopped, 'a1')
  const second = turn(makeCall(), 'a2')
  stopped.cancel(new Error('its runtime has stopped it'))
  expect(load.waiting).toBe(2)
  leave()
  expect(await second).toBe('a2')
  expect([load.waiting, load.running]).toEqual([0, 0])
})

test('a queued request times out even if an earlier one took its timer away', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const queue = new Queue()
    const said: string[] = []
    void join(queue, said, 'a1', { waitMs: WAIT_MS })
    // On Workers the timers of a request end with it.
    vi.clearAllTimers()
    const second = join(queue, said, 'b1', { waitMs: WAIT_MS })
    await vi.advanceTimersByTimeAsync(WAIT_MS)
    await second.over
    expect(said).toEqual(['b1 overloaded'])
  } finally {
    vi.useRealTimers()
  }
})

test('requests do not overtake queued ones, and a long-lived request does not count as running', async () => {
  const { load, leave, turn } = busy()
  const order: string[] = []
  const said = async (name: string, method?: string, allInFlight?: number): Promise<void> =>
    void order.push(await turn(makeCall(method), name, allInFlight))
  const all = [said('a1'), said('lasting', 'subscriptions/listen')]
  all.push(said('a2', 'tools/call', 2))
  expect(load.waiting).toBe(3)
  leave()
  await Promise.all(all)
  expect(order).toEqual(['a1', 'lasting', 'a2'])
  expect([load.waiting, load.running]).toEqual([0, 0])
})

test('a caller gets no more than its share from the queue, and others pass it', async () => {
  const load = new Load()
  const own = { ...limits, inFlight: 2, allInFlight: 3 }
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const start = (name: string): Promise<unknown> => {
    const answer = (): Promise<Record<string, never>> =>
      new Promise((resolve) => {
        running.push(name)
        ends.set(name, () => resolve({}))
      })
    return answerInTurn(load, { call: makeCall(), caller: name[0], bytes: 1, answer }, own)
  }
  const all = ['a1', 'a2', 'b1', 'a3', 'b2'].map(start)
  await vi.waitFor(() => expect(running).toHaveLength(3))
  ends.get('b1')?.()
  await vi.waitFor(() => expect(running).toEqual(['a1', 'a2', 'b1', 'b2']))
  ends.get('b2')?.()
  await all[4]
  expect([load.running, load.waiting]).toEqual([2, 1])
  ends.get('a1')?.()
  await vi.waitFor(() => expect(running.at(-1)).toBe('a3'))
  ends.get('a2')?.()
  ends.get('a3')?.()
  await Promise.all(all)
  expect([load.running, load.bytes]).toEqual([0, 0])
})

test('a large request stays queued until the running ones leave room for it', async () => {
  const load = new Load()
  const own = { ...limits, allInFlight: 2, queuedBytes: 10_000, inFlightBytes: 10_000 }
  const [one, other] = [makeCall(), makeCall()]
  load.enter(one, 'a', 6000)
  load.enter(other, 'b', 3000)
  const turn = answerInTurn(load, { call: makeCall(), caller: 'c', bytes: 5000, answer: () => ({}) }, own)
  load.leave(other, 'b', 3000)
  expect([load.running, load.waiting]).toEqual([1, 1])
  load.leave(one, 'a', 6000)
  await turn
  expect([load.running, load.bytes, load.waiting]).toEqual([0, 0, 0])
})

test('while a request asks its client another takes its place, and what runs too much afterwards ends first', async () => {
  const load = new Load()
  const own = { ...limits, inFlight: 3, allInFlight: 1 }
  const [asking, running, next] = [makeCall(), makeCall(), makeCall()]
  load.enter(asking, 'a', 1)
  const started: string[] = []
  const start = (call: Call, name: string): Promise<unknown> => {
    const answer = (): Promise<Record<string, never>> => {
      started.push(name)
      return new Promise(() => undefined)
    }
    return answerInTurn(load, { call, caller: name, bytes: 1, answer }, own)
  }
  void start(running, 'b')
  expect([load.waiting, started]).toEqual([1, []])
  let reply = (): void => undefined
  const asked = load.whileAsking(asking, 1, () => new Promise<void>((resolve) => (reply = resolve)))
  await vi.waitFor(() => expect(started).toEqual(['b']))
  expect([load.running, load.asking, load.runningFor('a')]).toEqual([1, 1, 1])
  await expect(load.whileAsking(running, 1, async () => undefined)).rejects.toMatchObject({
    kind: 'too_many_questions',
  })
  // A further question of the same request needs no further room.
  await load.whileAsking(asking, 1, async () => undefined)
  expect([load.running, load.asking]).toEqual([1, 1])

  reply()
  await asked
  expect([load.running, load.asking]).toEqual([2, 0])
  void start(next, 'c')
  load.leave(asking, 'a', 1)
  expect([load.running, load.waiting]).toEqual([1, 1])
  load.leave(running, 'b', 1)
  await vi.waitFor(() => expect(started).toEqual(['b', 'c']))
})

test('a request that ends while it asks is counted no longer, however late its answer comes', async () => {
  const load = new Load()
  const call = makeCall()
  load.enter(call, 'a', 1)
  let reply = (): void => undefined
  const asked = load.whileAsking(call, 1, () => new Promise<void>((resolve) => (reply = resolve)))
  load.leave(call, 'a', 1)
  reply()
  await asked
  expect([load.running, load.asking, load.runningFor('a'), load.bytes]).toEqual([0, 0, 0, 0])
})
