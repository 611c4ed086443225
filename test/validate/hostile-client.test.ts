import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { weigh } from '../../src/base/weight.ts'
import type { StartableClient } from '../../src/validate/client/program.ts'
import { serve } from '../../src/validate/client/serve.ts'
import { Visit } from '../../src/validate/client/visit.ts'
import { ClientSubject } from '../../src/validate/client-subject.ts'
import { CLIENT_RULES } from '../../src/validate/client-rules.ts'
import { Memory } from '../../src/validate/memory.ts'
import type { Verdict } from '../../src/validate/rule.ts'
import { processorMs } from '../harness/processor.ts'

function newVisit(transport: Visit['transport'] = 'stdio', memory?: Memory): Visit {
  return new Visit({ scenario: 'usual', revision: '2025-06-18', transport, askMs: 100, memory })
}

function listing(padding: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { padding } })
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

test.each<readonly [what: string, padding: unknown]>([
  ['small objects', Array.from({ length: 30_000 }, () => ({ a: [] }))],
  ['numbers', Array<number>(150_000).fill(1)],
  ['text', 'x'.repeat(900_000)],
])('a visit keeps at most 32 MB, values included: requests full of %s', async (_, padding) => {
  const visit = newVisit()
  const text = listing(padding)
  let count = 0
  while (count < 100 && visit.take(text, 'a') !== undefined) count++
  await visit.full
  const kept = visit.seen.reduce((sum, seen) => sum + seen.text.length + weigh(seen.value), 0)
  expect(visit.seen).toHaveLength(count)
  expect(count).toBeGreaterThan(1)
  expect(kept).toBeLessThan(32_000_000)
  expect(visit.lacksRoom).toBe(false)
})

test('the headers of a client count, and what the trace has of a message', () => {
  const headers = { cookie: 'x'.repeat(15_000) }
  const visit = newVisit('http', new Memory(10_000_000))
  let count = 0
  while (count < 900 && visit.take('', 'a', { method: 'GET', path: '/', headers }) !== undefined) count++
  expect(count).toBeGreaterThan(200)
  expect(count).toBeLessThan(334)
  expect(visit.lacksRoom).toBe(true)
  const site = newVisit('http', new Memory(10_000_000))
  while (site.fetch({ method: 'GET', path: '/', headers }, '', 'a') !== undefined) count++
  expect(site.lacksRoom).toBe(true)
})

test('all visits of a client keep at most 128 MB together: rules that need more are not checked', async () => {
  const text = listing('x'.repeat(3_000_000))
  const client: StartableClient = {
    async start({ url = '' }) {
      const ended = (async (): Promise<string> => {
        for (let at = 0; at < 5; at++) await fetch(url, { method: 'POST', body: text }).catch(() => undefined)
        return 'it ended'
      })()
      return { ended, stop: async () => void (await ended) }
    },
  }
  const signal = new AbortController().signal
  const subject = new ClientSubject({ client, revision: '2025-06-18', transport: 'http', signal })
  const about = { does: 'nothing', revisions: [], transports: [], begin: () => ({}) }
  const found: unknown[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    found.push(
      await subject.visit({ ...about, name }).then(
        ({ ending }) => ending,
        (error: unknown) => (error as Error).message,
      ),
    )
  const noRoom = 'the client sent more than 128 MB in all, as texts and values'
  expect(found).toEqual([...Array<string>(4).fill('it ended'), noRoom, noRoom])
})

test.each<readonly [transport: Visit['transport'], open: (url: string, piece: Buffer) => () => void]>([
  [
    'tcp',
    (url, piece) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => undefined).write(piece)
      return () => socket.destroy()
    },
  ],
  [
    'http',
    (url, piece) => {
      const sending = request(url, { method: 'POST', headers: { 'content-length': '3000000' } })
      sending.on('error', () => undefined).write(piece)
      return () => sending.destroy()
    },
  ],
  [
    'ws',
    (url, piece) => {
      const socket = new WebSocket(url, ['mcp'], { perMessageDeflate: false })
      socket.on('error', () => undefined)
      socket.on('open', () => socket.send(piece, { fin: false }))
      return () => socket.terminate()
    },
  ],
])('messages over %s that never end count as well', async (transport, open) => {
  const visit = newVisit(transport)
  const served = await serve(visit, {})
  const piece = Buffer.alloc(1_500_000, 'x')
  const open11 = Array.from({ length: 11 }, () => open(served.address.url ?? '', piece))
  await visit.full
  expect(visit.seen).toEqual([])
  for (const close of open11) close()
  await served.close()
})
