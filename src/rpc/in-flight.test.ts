import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { toLimits } from '../base/limits.ts'
import { weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { Call, type RequestLifetime } from './call.ts'
import { CallTable } from './call-table.ts'
import { InFlight, type Responder } from './in-flight.ts'
import { Load } from './load.ts'
import { Observers } from './observer.ts'
import type { Service } from './service.ts'

function make(
  answer: (call: Call) => Promise<object>,
  limits: Partial<Limits> = {},
): { inFlight: InFlight<string, string>; load: Load } {
  const load = new Load()
  const observers = new Observers(() => undefined)
  const service = { load, observers, answer, report: () => undefined } as unknown as Service
  return { inFlight: new InFlight(service, toLimits(limits)), load }
}

const broken = (): never => {
  throw new Error('broken')
}

function responder(parts: Partial<Responder<string, string>>): Responder<string, string> {
  return {
    caller: 'a',
    size: 1,
    isInBatch: false,
    calls: new CallTable(),
    encode: () => 'encoded',
    result: (_call, text) => text,
    error: (_call, { kind }) => kind,
    cancelled: () => 'cancelled',
    pending: () => new Deferred(),
    ...parts,
  }
}

const call = (params: JsonObject = {}, lifetime?: RequestLifetime): Call =>
  new Call(1, 'tools/call', params, { source: { lifetime } } as never)

test('a result that cannot be encoded becomes an error', async () => {
  const { inFlight, load } = make(async () => ({}))
  expect(await inFlight.run(call(), responder({ encode: broken }))).toBe('internal')
  expect([load.running, inFlight.size]).toEqual([0, 0])
})

test('a request whose response cannot be sent at all is still over', async () => {
  const { inFlight, load } = make(async () => ({}))
  const one = responder({ result: broken, error: broken })
  await expect(inFlight.run(call(), one)).rejects.toThrow('broken')
  expect([load.running, inFlight.size, one.calls?.size]).toEqual([0, 0, 0])
  await inFlight.drain(Number.POSITIVE_INFINITY)
})

test('requests that take too long are answered, and what their handlers return later is ignored', async () => {
  let finish = (_result: object): void => undefined
  const { inFlight } = make(() => new Promise((resolve) => (finish = resolve)))
  const asked = call()
  const response = inFlight.run(asked, responder({}))
  inFlight.abortAll()
  expect([await response, asked.aborted, inFlight.size]).toEqual(['shutting_down', true, 0])
  finish({})
  await inFlight.drain(Number.POSITIVE_INFINITY)
})

test('limits.inFlightBytes large messages are rejected from one byte more on while others run, and small ones never', async () => {
  const finish: (() => void)[] = []
  const answer = (): Promise<object> => new Promise((resolve) => finish.push(() => resolve({})))
  const { inFlight, load } = make(answer, { inFlightBytes: 10_000 })
  const bare = weigh({ text: '' })
  const run = (size: number): string | Promise<string> =>
    inFlight.run(call({ text: 'x'.repeat(size - bare) }), responder({ size, caller: {} }))
  // On its own, a message may exceed the limit.
  const first = run(20_000)
  expect(load.bytes).toBe(20_000)
  expect(run(1025)).toBe('too_much_in_flight')
  const small = run(1024)
  finish.splice(0).forEach((end) => end())
  expect([await first, await small, load.bytes]).toEqual(['encoded', 'encoded', 0])
  const others = [run(4000), run(6000)]
  expect([load.bytes, run(1025)]).toEqual([10_000, 'too_much_in_flight'])
  finish.splice(0).forEach((end) => end())
  for (const other of others) expect(await other).toBe('encoded')
  expect([run(4000), run(6001)]).toEqual([expect.any(Promise), 'too_much_in_flight'])
})

test('values count as memory, for running and for queued requests, until they are answered', async () => {
  const limits = { inFlightBytes: 200_000, allInFlight: 1, queuedBytes: 64_100, waitMs: 60_000 }
  const ends: ((result: object) => void)[] = []
  const { inFlight, load } = make(() => new Promise((resolve) => ends.push(resolve)), limits)
  const items = (length: number): Call => call({ list: Array.from({ length }, () => ({})) })
  const run = (asked: Call): string | Promise<string> =>
    inFlight.run(asked, responder({ size: 2000, caller: {} }))
  const first = run(items(1000))
  expect(load.bytes).toBe(weigh(items(1000).params))
  expect(await run(items(1000))).toBe('queue_bytes')
  const second = run(items(998))
  await expect.poll(() => load.waiting).toBe(1)
  ends[0]?.({})
  expect(await first).toBe('encoded')
  await expect.poll(() => [load.waiting, load.bytes]).toEqual([0, weigh(items(998).params)])
  const third = run(items(998))
  await expect.poll(() => load.waiting).toBe(1)
  ends[1]?.({})
  expect(await second).toBe('encoded')
  await expect.poll(() => ends.length).toBe(3)
  ends[2]?.({})
  expect([await third, load.waiting, load.bytes]).toEqual(['encoded', 0, 0])
})

/** A server with room for two requests, each of which runs until its name is given to `end`. */
function makePair() {
  const ends = new Map<unknown, () => void>()
  const begun: unknown[] = []
  const limits = { allInFlight: 2, inFlightBytes: 100_000, waitMs: 60_000 }
  const { inFlight, load } = make(({ params }) => {
    begun.push(params['name'])
    return new Promise((resolve) => ends.set(params['name'], () => resolve({})))
  }, limits)
  // Their values take much more memory than their text, by which they are admitted.
  const run = async (name: string, bytes = 1, caller = name): Promise<string> => {
    const list = Array.from({ length: Math.floor(bytes / 64) }, () => [])
    return inFlight.run(call({ name, list }), responder({ size: bytes > 1 ? 2000 : 1, caller }))
  }
  const end = async (name: string): Promise<void> => {
    await expect.poll(() => ends.has(name)).toBe(true)
    ends.get(name)?.()
  }
  return { load, begun, run, end }
}

test('free places are filled from the queue at once, as many as there are', async () => {
  const { load, begun, run, end } = makePair()
  const all = [run('large', 80_000), run('small'), run('a', 70_000), run('b', 25_000)]
  await expect.poll(() => load.queue?.size).toBe(2)
  await end('small')
  await all[1]
  // There is a place, but no memory.
  expect([load.running, load.waiting]).toEqual([1, 2])
  // It needs no memory, so it overtakes none that could start.
  all.push(run('c'))
  await expect.poll(() => begun).toEqual(['large', 'small', 'c'])
  await end('c')
  await all[4]
  await end('large')
  await all[0]
  expect([load.running, load.waiting]).toEqual([2, 0])
  await Promise.all([end('a'), end('b')])
  await Promise.all(all)
  expect([load.running, load.waiting, load.bytes]).toEqual([0, 0, 0])
})

test('requests do not overtake queued ones of their caller while there are free places', async () => {
  const { load, begun, run, end } = makePair()
  const all = [run('large', 80_000), run('small'), run('queued large', 70_000, 'a')]
  await expect.poll(() => load.waiting).toBe(1)
  await end('small')
  await all[1]
  all.push(run('next', 1, 'a'))
  await expect.poll(() => load.waiting).toBe(2)
  expect([load.running, begun]).toEqual([1, ['large', 'small']])
  await end('large')
  await expect.poll(() => begun.slice(2)).toEqual(['queued large', 'next'])
  await Promise.all([end('queued large'), end('next')])
  await Promise.all(all)
})

test('a request that arrives while the queue is loaded does not overtake those that wait for it', async () => {
  const { load, begun, run, end } = makePair()
  const all = [run('a'), run('b'), run('c'), run('d')]
  expect(load.waiting).toBe(2)
  await Promise.all([end('a'), end('b')])
  all.push(run('e'))
  await Promise.all([end('c'), end('d'), end('e')])
  await Promise.all(all)
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a small request starts from the queue, however much memory others take', async () => {
  const { load, begun, run, end } = makePair()
  const all = [run('huge', 200_000), run('b'), run('c')]
  await expect.poll(() => load.waiting).toBe(1)
  await end('b')
  await expect.poll(() => begun).toEqual(['huge', 'b', 'c'])
  await Promise.all([end('huge'), end('c')])
  await Promise.all(all)
  expect(load.bytes).toBe(0)
})

test('a request whose handler the runtime has stopped is given up', async () => {
  let finish = (_result: object): void => undefined
  const { inFlight, load } = make(() => new Promise((resolve) => (finish = resolve)))
  const held: { isOver(): boolean; lost(): void }[] = []
  const lifetime: RequestLifetime = {
    defer: (act) => act(),
    hold: (isOver, lost) => void held.push({ isOver, lost }),
    close: () => undefined,
  }
  const [stopped, answered] = [call({}, lifetime), call({}, lifetime)]
  const [one, other] = [responder({}), responder({})]
  const response = inFlight.run(stopped, one)
  expect([held[0]?.isOver(), load.running, one.calls?.size]).toEqual([false, 1, 1])
  held[0]?.lost()
  expect([held[0]?.isOver(), load.running, one.calls?.size, inFlight.size]).toEqual([true, 0, 0, 0])
  expect([await response, stopped.cancelled]).toEqual(['cancelled', true])

  const later = inFlight.run(answered, other)
  finish({})
  expect([await later, held[1]?.isOver()]).toEqual(['encoded', true])
  held[1]?.lost()
  expect([answered.cancelled, load.running]).toEqual([false, 0])
})

test('a queued request that the runtime stopped after it began makes room for another', async () => {
  const ends: ((result: object) => void)[] = []
  const limits = { allInFlight: 1, waitMs: 60_000 }
  const { inFlight, load } = make(() => new Promise((resolve) => ends.push(resolve)), limits)
  const first = inFlight.run(call(), responder({}))
  let lose = (): void => undefined
  const lifetime: RequestLifetime = {
    defer: () => undefined,
    hold: (_isOver, lost) => void (lose = lost),
    close: () => undefined,
  }
  void inFlight.run(call({}, lifetime), responder({}))
  await expect.poll(() => load.waiting).toBe(1)
  ends[0]?.({})
  expect(await first).toBe('encoded')
  await expect.poll(() => ends.length).toBe(2)
  expect(load.running).toBe(1)
  lose()
  expect([load.running, inFlight.size]).toEqual([0, 0])
  ends[1]?.({})
  const third = inFlight.run(call(), responder({}))
  expect(load.running).toBe(1)
  ends[2]?.({})
  expect([await third, load.running]).toEqual(['encoded', 0])
})
