import { expect, test } from 'vitest'
import type { Call } from '../../../rpc/call.ts'
import { CallTable } from '../../../rpc/call-table.ts'
import { LONG_ID } from './noted-id.ts'
import { MOST_NOTED, RunningIds } from './running-ids.ts'

interface Client {
  readonly calls: CallTable
  readonly outbox: { sent: number; stored: number }
  readonly ids: RunningIds
}

function toClient(): Client {
  const calls = new CallTable()
  const outbox = { sent: 0, stored: 0 }
  return { calls, outbox, ids: new RunningIds(calls, outbox) }
}

const toCall = (id: string | number): Call => ({ id }) as Call

function begin({ calls }: Client, id: string | number): Call {
  const call = toCall(id)
  calls.add(call)
  return call
}

/** Ends a request, as its transport does: it is forgotten, and then its response is sent. */
function answer({ calls, outbox }: Client, call: Call): void {
  calls.delete(call)
  outbox.sent++
}

test('a request counts until the store has its response, whatever else waits for the store', () => {
  const client = toClient()
  const [one, two, three] = [1, 2, 3].map((id) => begin(client, id)) as [Call, Call, Call]
  answer(client, two)
  client.outbox.sent++
  answer(client, one)
  expect([...client.ids.noted].sort()).toEqual(['1', '2', '3'])
  client.outbox.stored = 1
  expect([...client.ids.noted].sort()).toEqual(['1', '3'])
  client.outbox.stored = 2
  expect([...client.ids.noted].sort()).toEqual(['1', '3'])
  client.outbox.stored = 3
  expect(client.ids.noted).toEqual(['3'])
  answer(client, three)
  client.outbox.stored = 4
  expect(client.ids.noted).toEqual([])
})

test('a request that ends without a response does not count any more', () => {
  const client = toClient()
  client.calls.delete(begin(client, 1))
  expect(client.ids.noted).toEqual([])
})

test('an id that is used again counts once, until the store has the last response', () => {
  const client = toClient()
  answer(client, begin(client, 1))
  const again = begin(client, 1)
  expect(client.ids.noted).toEqual(['1'])
  answer(client, again)
  client.outbox.stored = 1
  expect(client.ids.noted).toEqual(['1'])
  client.outbox.stored = 2
  expect(client.ids.noted).toEqual([])
})

test('nothing is kept of requests whose responses the store has', () => {
  const client = toClient()
  for (let id = 0; id < 1000; id++) {
    answer(client, begin(client, id))
    client.outbox.stored = Math.max(0, client.outbox.sent - 3)
  }
  expect(client.ids.leaving).toBeLessThan(5)
})

test('what is noted has a limit; the requests beyond it are only known to exist', () => {
  const client = toClient()
  for (let id = 0; id < 1000; id++) begin(client, `${'i'.repeat(250)}${id}`)
  const { noted } = client.ids
  expect(JSON.stringify(noted).length).toBeLessThan(MOST_NOTED + 1000)
  expect(noted.at(-1)).toBe(LONG_ID)
  expect(noted.length).toBeGreaterThan(10)
})

test('many short ids fit', () => {
  const client = toClient()
  for (let id = 0; id < 1024; id++) begin(client, 100_000 + id)
  expect(client.ids.noted).toHaveLength(1024)
  expect(client.ids.noted).not.toContain(LONG_ID)
})
