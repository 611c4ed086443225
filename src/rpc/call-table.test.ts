import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { Bag } from '../base/bag.ts'
import { Deferred } from '../base/deferred.ts'
import { toLimits } from '../base/limits.ts'
import { Call } from './call.ts'
import { CallTable } from './call-table.ts'
import { InFlight, type Responder } from './in-flight.ts'
import { Load } from './load.ts'
import { Observers } from './observer.ts'
import type { Service } from './service.ts'

const LONG = 2_000
/** Ids of the same length that differ only at their ends: comparing two takes as long as it can. */
const longId = (number: number): string => `${number}`.padStart(LONG, 'x')

function toResponder(calls: CallTable): Responder<string, string> {
  return {
    caller: 'a',
    size: LONG + 100,
    isInBatch: false,
    calls,
    encode: () => 'encoded',
    result: (_call, text) => text,
    error: (_call, { kind }) => kind,
    cancelled: () => 'cancelled',
    pending: () => new Deferred(),
  }
}

function make(): {
  run: (id: string) => string | Promise<string>
  calls: CallTable
  load: Load
  finish: (() => void)[]
} {
  const load = new Load()
  const calls = new CallTable()
  const finish: (() => void)[] = []
  const answer = (): Promise<object> => new Promise((resolve) => finish.push(() => resolve({})))
  const observers = new Observers(() => undefined)
  const service = { load, observers, answer, report: () => undefined } as unknown as Service
  const inFlight = new InFlight<string, string>(service, toLimits({}))
  const responder = toResponder(calls)
  const run = (id: string): string | Promise<string> =>
    inFlight.run(new Call(id, 'tools/call', {}, { source: {} } as never), responder)
  return { run, calls, load, finish }
}

test('only a few unanswered requests of a client may have long ids, since each new one is compared with all of them', async () => {
  const { run, calls, finish } = make()
  const first = Array.from({ length: 40 }, (_, number) => run(longId(number)))
  expect(first.filter((out) => out === 'id_too_long')).toHaveLength(24)
  expect(calls.size).toBe(16)
  const short = Array.from({ length: 40 }, (_, number) => run(`${number}`))
  expect(calls.size).toBe(56)
  finish.splice(0).forEach((end) => end())
  for (const out of [...first.slice(0, 16), ...short]) expect(await out).toBe('encoded')
  expect([run(longId(1)), run(longId(1))]).toEqual([expect.any(Promise), 'id_in_use'])
  calls.cancel({ requestId: longId(1) })
  expect([...Array(20).keys()].filter((number) => run(longId(number + 2)) !== 'id_too_long')).toHaveLength(15)
})

test('a long id counts in the memory of running requests until its request is answered', async () => {
  const { run, load, finish } = make()
  const latin = run(longId(1))
  expect(load.bytes).toBeGreaterThanOrEqual(LONG)
  const before = load.bytes
  const wide = run('ā'.repeat(LONG))
  expect(load.bytes - before).toBeGreaterThanOrEqual(2 * LONG)
  finish.splice(0).forEach((end) => end())
  expect([await latin, await wide, load.bytes]).toEqual(['encoded', 'encoded', 0])
})

test('requests of a batch that have not begun are not remembered by long ids', () => {
  const calls = new CallTable()
  const members = ['short', longId(1), longId(2)].map((id) => ({ id, method: 'ping' }))
  calls.expect(members, members)
  expect(calls.ids).toEqual(['short'])
  expect(calls.claim(members[1], members)).toBeUndefined()
  expect(calls.cancel({ requestId: 'short' })).toBe(true)
  expect(calls.claim(members[0], members)?.kind).toBe('cancelled')
})

test('a request that is answered at once writes nothing to the table of its session, but its id is in use meanwhile', () => {
  const calls = new CallTable()
  Object.freeze(calls)
  const observers = new Observers(() => undefined)
  const seen: unknown[] = []
  const answer = (call: Call): object => {
    seen.push(call.id)
    if (call.id === 'a') seen.push(run('b'))
    if (call.id === 'b') seen.push(run('a'), run('b'), run('c'))
    return {}
  }
  const service = { load: new Load(), observers, answer, report: () => undefined } as unknown as Service
  const inFlight = new InFlight<string, string>(service, toLimits({}))
  const responder = toResponder(calls)
  const run = (id: string): string | Promise<string> =>
    inFlight.run(new Call(id, 'tools/call', {}, { source: {} } as never), responder)
  expect(run('a')).toBe('encoded')
  expect(seen).toEqual(['a', 'b', 'c', 'id_in_use', 'id_in_use', 'encoded', 'encoded'])
  expect(calls.has('a')).toBe(false)
})

test('a session keeps no list of requests while none runs', () => {
  const tables = Array.from({ length: 100 }, () => new CallTable())
  const count = (): number => queryObjects(Bag, { format: 'count' })
  const before = count()
  const call = new Call('a', 'tools/call', {}, { source: {} } as never)
  for (const calls of tables) calls.add(call)
  expect(count() - before).toBe(100)
  for (const calls of tables) calls.delete(call)
  expect(count() - before).toBe(0)
  expect(tables.every((calls) => calls.size === 0)).toBe(true)
})
