import { expect, test } from 'vitest'
import type { Node } from '../../nodes/node.ts'
import { MemoryEventStore } from '../../store/events-memory.ts'
import { Lifetime } from '../../store/lifetime.ts'
import { LONG_ID } from '../http/server/noted-id.ts'
import { joinRuns, ReceivedLog } from './received-log.ts'

const RESUMES = 200

function toLog(number: number): { readonly log: ReceivedLog; readonly events: MemoryEventStore } {
  const events = new MemoryEventStore(new Lifetime())
  const node = { number, stores: { events } } as unknown as Node
  return { log: new ReceivedLog(node, 60_000, 100), events }
}

const call = (id: string): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })

test('a client that connects again and again leaves few logs in the store', async () => {
  const { log, events } = toLog(1)
  const running = Array.from({ length: 1000 }, (_, id) => String(id))
  await log.begin('s', 0, 0)
  let largest = 0
  for (let epoch = 0; epoch < RESUMES; epoch++) {
    const last = await log.end('s', epoch)
    expect(last).toMatchObject({ epoch })
    await log.carryOver('s', last!, running)
    largest = Math.max(largest, events.bytes)
  }
  expect(largest).toBeLessThan(12 * (JSON.stringify(running).length + 2000))
  // Connections that open at the same time find the logs of those before.
  expect(await log.end('s', RESUMES - 5)).toMatchObject({ epoch: RESUMES })
})

test('what may still run at a node has a limit, however many messages a client sends', async () => {
  const { log } = toLog(1)
  await log.begin('s', 0, 0)
  for (let nth = 1; nth < 30; nth++) {
    const texts = Array.from({ length: 100 }, (_, at) => call(`${nth}-${at}-${'i'.repeat(200)}`))
    const note = log.prepare({
      session: 's',
      epoch: 0,
      nth,
      total: 100 * nth,
      texts,
      running: () => [],
    })
    expect(await note()).toBe(true)
  }
  const ended = await log.end('s', 0)
  expect(ended?.total).toBe(2900)
  expect(ended?.runs[0]?.ids.join('').length).toBeLessThan(70_000)
  expect(ended?.runs[0]?.ids).toContain(LONG_ID)
})

test('a note of many long ids does not replace the one that has all running requests', async () => {
  const { log } = toLog(1)
  await log.begin('s', 0, 0)
  for (let nth = 0; nth < 31; nth++) {
    const texts = Array.from({ length: 250 }, (_, at) => call(`${nth}-${at}-${'i'.repeat(200)}`))
    const running = (): readonly string[] => ['7']
    await log.prepare({ session: 's', epoch: 0, nth, total: nth + 1, texts, running })()
  }
  expect((await log.end('s', 0))?.runs[0]?.ids).toContain('7')
})

test('requests of several connections are joined up to a limit', () => {
  let all: readonly string[] = []
  for (let nth = 0; nth < 100; nth++)
    all = joinRuns(
      all,
      Array.from({ length: 500 }, (_, at) => String(500 * nth + at)),
    )
  expect(all.join('').length).toBeLessThan(70_000)
  expect(all).toContain(LONG_ID)
  expect(joinRuns(['1', '2'], ['2', '3'])).toEqual(['1', '2', '3'])
})
