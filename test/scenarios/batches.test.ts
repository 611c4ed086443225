import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const app = createServer({ name: 'batches', version: '1', limits: { batch: 5 } })
  .tool('slow', { input: { type: 'object', properties: { n: { type: 'number' } } } }, async ({ n = 0 }) => {
    for (let turn = 0; turn < 10 - n; turn++) await new Promise((resolve) => setImmediate(resolve))
    return n
  })
  .tool('fast', {}, () => 'fast')
  .tool('busy', {}, () => {
    const end = performance.now() + 25
    while (performance.now() < end);
    setImmediate(() => turns++)
    return turns
  })

/** How often others had a turn after a busy handler. */
let turns = 0

const call = (id: unknown, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const result = (id: unknown, text: string): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }], isError: false },
})

scenario(
  'a batch is answered in the order of its requests, with nothing for notifications [R013] [R015] [S2-1.5-1] [S2-1.5-3] [S2-1.5-4] [S2-1.5-6] [S4-4-2]',
  app,
  async (client) => {
    const batch = [
      call(1, 'slow', { n: 1 }),
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      call('two', 'fast'),
      call(3, 'slow', { n: 9 }),
      { jsonrpc: '2.0', id: 4, method: 'ping' },
    ]
    expect(await client.post(JSON.stringify(batch))).toEqual([
      result(1, '1'),
      result('two', 'fast'),
      result(3, '9'),
      { jsonrpc: '2.0', id: 4, result: {} },
    ])
  },
  { only: ['2025-03-26'] },
)

scenario(
  'members of a batch that are wrong get an error each, the others are served [S2-1.5-5]',
  app,
  async (client) => {
    const batch = [
      5,
      call(1, 'fast'),
      { jsonrpc: '1.0', id: 2, method: 'ping' },
      call(3, 'none'),
      { jsonrpc: '2.0', id: 4, method: 'no/such' },
    ]
    const reply = await client.post(JSON.stringify(batch))
    expect(reply).toMatchObject([
      { error: { code: -32600, message: 'not a JSON-RPC 2.0 message: it is not an object' } },
      { id: 1, result: { isError: false } },
      { id: 2, error: { code: -32600, message: 'not a JSON-RPC 2.0 message: jsonrpc is not "2.0"' } },
      { id: 3, error: { code: -32602, message: 'tool "none" does not exist' } },
      { id: 4, error: { code: -32601 } },
    ])
  },
  { only: ['2025-03-26'] },
)

scenario(
  'a batch of notifications or of answers gets no answer [R013] [S2-1.5-6] [R008]',
  app,
  async (client) => {
    const notes = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/x' },
    ]
    const answers = [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: { code: 1, message: 'x' } },
    ]
    const before = client.transcript.filter(({ from }) => from === 'server').length
    await client.put(JSON.stringify(notes))
    await client.put(JSON.stringify(answers))
    await client.settle()
    expect(client.transcript.filter(({ from }) => from === 'server')).toHaveLength(before + 1)
  },
  { only: ['2025-03-26'] },
)

scenario(
  'questions of the server may be answered in a batch [R013]',
  createServer({ name: 'asks', version: '1' }).tool('roots', {}, async (_, { roots }) =>
    JSON.stringify(await Promise.all([roots(), roots()])),
  ),
  async (client) => {
    const asked: number[] = []
    client.answer('roots/list', () => new Promise(() => undefined))
    const called = client.call('roots')
    await client.until(() => client.questions.length === 2)
    for (const { from, text } of client.transcript) {
      const message = JSON.parse(text) as { id: number; method?: string }
      if (from === 'server' && message.method === 'roots/list') asked.push(message.id)
    }
    const answers = asked.map((id) => ({ jsonrpc: '2.0', id, result: { roots: [{ uri: `file:///${id}` }] } }))
    await client.put(JSON.stringify(answers))
    const { content } = await called
    expect(content).toEqual([
      { type: 'text', text: JSON.stringify(asked.map((id) => [{ uri: `file:///${id}` }])) },
    ])
  },
  { only: ['2025-03-26'], capabilities: { roots: {} } },
)

scenario(
  'an empty batch, one that is too long and one with initialize are refused as a whole [R014] [S2-1.5-2]',
  app,
  async (client) => {
    const open = { jsonrpc: '2.0', id: 9, method: 'initialize', params: {} }
    const wrong: [object[], string][] = [
      [[], 'it is empty'],
      [Array.from({ length: 6 }, (_, at) => call(at, 'fast')), 'it has more than 5 members'],
      [[call(1, 'fast'), open], 'initialize must come alone'],
    ]
    for (const [batch, reason] of wrong) {
      expect(await client.post(JSON.stringify(batch))).toMatchObject({
        error: { code: -32600, message: `a batch is not accepted here: ${reason}` },
      })
    }
  },
  { only: ['2025-03-26'] },
)

for (const only of [['2024-11-05'], ['2025-06-18'], ['2025-11-25'], ['2026-07-28']] as const) {
  scenario(
    'an array is refused where the revision has no batches [R016] [S2-1.5-1] [S2-1.5-2] [S4-1-1] [S4-2-3]',
    app,
    async (client) => {
      for (const batch of [[], [call(1, 'fast')], [call(1, 'fast'), call(2, 'fast')]]) {
        const reply = await client.post(JSON.stringify(batch))
        expect(reply).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
        expect(reply).not.toHaveProperty('id')
      }
      await client.settle()
    },
    { only: [...only] },
  )
}

scenario(
  'others have a turn between the members of a batch that take long',
  app,
  async (client) => {
    const batch = [call(1, 'busy'), call(2, 'busy'), call(3, 'busy')]
    const replies = (await client.post(JSON.stringify(batch))) as {
      readonly id: number
      readonly result: { readonly content: readonly { readonly text: string }[] }
    }[]
    expect(replies.map(({ id }) => id)).toEqual([1, 2, 3])
    const [first, second, third] = replies.map((reply) => Number(reply.result.content[0]?.text))
    expect(second).toBeGreaterThan(first!)
    expect(third).toBeGreaterThan(second!)
  },
  { only: ['2025-03-26'] },
)
