import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { toLimits } from '../base/limits.ts'
import { Call } from './call.ts'
import { CallTable } from './call-table.ts'
import { InFlight, type Responder } from './in-flight.ts'
import { Load } from './load.ts'
import { Observers } from './observer.ts'
import type { Service } from './service.ts'

function make(answer: () => Promise<object>): { inFlight: InFlight<string, string>; load: Load } {
  const load = new Load()
  const observers = new Observers(() => undefined)
  const service = { load, observers, answer, report: () => undefined } as unknown as Service
  return { inFlight: new InFlight(service, toLimits({})), load }
}

const broken = (): never => {
  throw new Error('broken')
}

function responder(parts: Partial<Responder<string, string>>): Responder<string, string> {
  return {
    caller: 'a',
    size: 1,
    calls: new CallTable(),
    encode: () => 'encoded',
    result: (_call, text) => text,
    error: (_call, { kind }) => kind,
    cancelled: () => 'cancelled',
    pending: () => new Deferred(),
    ...parts,
  }
}

const call = (): Call => new Call(1, 'tools/call', {}, {} as never)

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
