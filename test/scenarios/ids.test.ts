import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open, type Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

let start: () => void = () => undefined
let finish: () => void = () => undefined
const app = createServer({ name: 'ids', version: '1' })
  .tool('echo', { input: { type: 'object', properties: { n: { type: 'number' } } } }, ({ n }) => n)
  .tool('id', {}, (_, { id }) => `${typeof id} ${String(id)}`)
  .tool('wait', {}, async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
      start()
    })
    return 'waited'
  })

scenario(
  'ids are echoed in value and type, large integers digit by digit [R002] [R005] [S2-1.2-1] [S2-1.2-2] [S2-1.3-2] [S0-2.2] [S0-2.1] [S4-2-4] [S2-1.1-3]',
  app,
  async (client) => {
    const ids = [
      0,
      -1,
      1,
      2 ** 31,
      -(2 ** 53) + 1,
      Number.MAX_SAFE_INTEGER,
      9007199254740992n,
      9007199254740993n,
      1152921504606846975n,
      -1152921504606846975n,
      123456789012345678901234567890n,
      '',
      '1',
      'abc',
      '1152921504606846975',
      'ünïcödé ✓',
      'quo"te\\slash',
      '\u0000\n\t',
      '__proto__',
      'x'.repeat(1000),
    ]
    for (const id of ids) {
      const { content } = await client.call('id', {}, { id })
      expect(content).toEqual([{ type: 'text', text: `${typeof id} ${String(id)}` }])
    }
    const exact = client.transcript.filter(
      ({ from, text }) => from === 'server' && text.includes('"id":1152921504606846975,'),
    )
    expect(exact).toHaveLength(1)
  },
)

scenario(
  'an id that is neither a string nor an integer is refused [S4-2-2] [R002] [R010] [S0-2.1] [S2-1.2-1] [S3-2.1-1] [S2-13-S6] [S2-1.1-3]',
  app,
  async (client) => {
    for (const id of ['null', '1.5', 'true', '{}', '[1]', '1e400', '1.0e-3']) {
      const text = client.requestText('ID', 'tools/call', { name: 'id' }).replace('"ID"', id)
      const reply = (await client.post(text)) as { error: { code: number; message: string } }
      expect([reply.error.code, reply.error.message]).toEqual([
        -32600,
        'not a JSON-RPC 2.0 message: the id is neither a string nor an integer',
      ])
      expect(reply).not.toHaveProperty('id')
    }
  },
)

scenario(
  'many requests at once are each answered under their own id [S2-15-1] [S0-2.2] [R006] [S3-9-9] [S4-2-4] [S4-2-1] [S2-1.3-1] [S2-1.3-2]',
  app,
  async (client) => {
    const numbers = Array.from({ length: 50 }, (_, at) => at)
    const results = await Promise.all(
      numbers.map((n) => client.call('echo', { n }, { id: n % 2 === 0 ? 1000 + n : `s${n}` })),
    )
    expect(results.map(({ content }) => content)).toEqual(
      numbers.map((n) => [{ type: 'text', text: String(n) }]),
    )
    expect(replies(client)).toHaveLength(client.hasSession ? 51 : 50)
    for (const reply of replies(client))
      expect(Object.keys(reply).toSorted()).toEqual(['id', 'jsonrpc', 'result'])
  },
)

/** Everything that the server answered. */
function replies({ transcript }: Client): readonly JsonObject[] {
  const said = transcript.filter(({ from }) => from === 'server')
  return said.map(({ text }) => JSON.parse(text) as JsonObject)
}

/** Asks twice under one id; the first request is still running when the second comes. */
async function expectTwiceRefused(client: Client): Promise<void> {
  let began: () => void = () => undefined
  const running = new Promise<void>((resolve) => (began = resolve))
  start = began
  void client.put(client.requestText('busy', 'tools/call', { name: 'wait' }))
  await running
  const error = await refusal(client.request('tools/list', {}, { id: 'busy' }))
  expect([error.code, error.message]).toEqual([-32600, 'a request with id "busy" is already in flight'])
  finish()
  await client.until(() =>
    client.transcript.some(({ from, text }) => from === 'server' && text.includes('waited')),
  )
  expect((await client.get('tools/list', {}, { id: 'busy' }))['tools']).toHaveLength(3)
}

scenario(
  'an id in flight is refused for another request, then free again [R003] [S4-2-2] [S3-2.1-1] [S2-13-S6] [S2-1.1-3]',
  app,
  (client) => expectTwiceRefused(client),
  { until: '2025-11-25' },
)

test.each(['memory', 'stdio'] as const)(
  'so it is where requests share a connection without a session: %s [R004]',
  async (transport) => {
    const client = await open(app, { transport, revision: '2026-07-28' })
    await expectTwiceRefused(client)
    await client.close()
  },
)

scenario(
  'a refusal repeats the id of its request [R005] [R007] [S0-2.3] [S2-1.3-4] [S2-8.4-1] [S0-2.2] [S4-2-4] [S4-2-1]',
  app,
  async (client) => {
    const before = replies(client).length
    for (const id of [7, '7', 9007199254740993n]) {
      const error = await refusal(client.request('no/such', {}, { id }))
      expect([error.code, typeof error.message]).toEqual([-32601, 'string'])
    }
    const refused = replies(client).slice(before)
    expect(refused).toHaveLength(3)
    for (const reply of refused) {
      expect(Object.keys(reply).toSorted()).toEqual(['error', 'id', 'jsonrpc'])
      expect(Object.keys(reply['error'] as JsonObject).toSorted()).toEqual(['code', 'data', 'message'])
    }
  },
)
