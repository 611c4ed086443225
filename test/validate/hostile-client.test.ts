import { expect, test } from 'vitest'
import { Visit } from '../../src/validate/client/visit.ts'
import type { ClientSubject } from '../../src/validate/client-subject.ts'
import { CLIENT_RULES } from '../../src/validate/client-rules.ts'
import type { Verdict } from '../../src/validate/rule.ts'
import { processorMs } from '../harness/processor.ts'

function newVisit(): Visit {
  return new Visit({ scenario: 'usual', revision: '2025-06-18', transport: 'stdio', askMs: 100 })
}

function batch(count: number, one: (at: number) => object): string {
  return JSON.stringify(Array.from({ length: count }, (_, at) => one(at)))
}

test('each message of a batch counts: a client that sends more than 1,000 has sent too much', async () => {
  const visit = newVisit()
  expect(
    visit.take(
      batch(600, (id) => ({ id, method: 'ping' })),
      'a',
    )?.messages,
  ).toHaveLength(600)
  expect(
    visit.take(
      batch(401, (id) => ({ id, method: 'ping' })),
      'a',
    ),
  ).toBeUndefined()
  await visit.full
  expect(
    newVisit().take(
      batch(9_000, (id) => ({ id, method: 'ping' })),
      'a',
    ),
  ).toBeUndefined()
})

test.each<readonly [rule: string, one: (at: number) => object]>([
  ['R192', (id) => ({ id, method: 'a', params: { _meta: { progressToken: `t${id}` } } })],
  ['R193', () => ({ method: 'notifications/cancelled', params: { requestId: 'first' } })],
  ['R191', (at) => ({ method: 'notifications/progress', params: { progressToken: 'x', progress: at } })],
])('%s of a client takes time in proportion to the number of messages', async (id, one) => {
  const visit = newVisit()
  visit.take(JSON.stringify({ id: 'first', method: 'a' }), 'a')
  visit.take(batch(990, one), 'a')
  for (let at = 0; at < 990; at++) visit.replied(at)
  const subject = {
    revision: '2025-06-18',
    transport: 'stdio',
    isModern: false,
    usual: async () => visit,
    visit: async () => visit,
    visits: async () => [visit],
  } as unknown as ClientSubject
  const rule = CLIENT_RULES.find((rule) => rule.id === id)
  let verdict: Verdict | undefined
  const ms = await processorMs(async () => (verdict = await rule?.check(subject)))
  expect(verdict).toEqual({ is: 'passed' })
  expect(ms).toBeLessThan(100)
})

test('the last greeting of a client is known', () => {
  const visit = newVisit()
  expect(visit.greeting).toBeUndefined()
  for (const id of [1, 2]) visit.take(JSON.stringify({ id, method: 'initialize' }), 'a')
  visit.take('{"id":3,"method":"ping"}', 'a')
  expect(visit.greeting?.message['id']).toBe(2)
})
