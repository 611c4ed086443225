import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const app = createServer({ name: 'strict', version: '1', limits: { depth: 20 } }).tool('one', {}, () => 1)

interface Reply {
  readonly jsonrpc: string
  readonly id?: unknown
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

const PROTOCOL_ERROR = {
  code: 1066,
  name: 'PROTOCOL_ERROR',
  httpStatus: 400,
  severity: 'error',
  retryable: false,
}

scenario(
  'text that is not JSON is a parse error without an id, and the connection goes on [R009] [S3-3-1] [S2-8.1-1] [S2-0-5] [S4-2-1] [S2-13-S8]',
  app,
  async (client) => {
    for (const text of [
      '{',
      'hello',
      '{"jsonrpc":"2.0","id":1,"method":"ping"',
      "{'a':1}",
      '\u0001',
      '{"jsonrpc":"2.0",}',
    ]) {
      const reply = (await client.post(text)) as Reply
      expect(reply).toEqual({
        jsonrpc: '2.0',
        error: { code: -32700, message: 'the message is not valid JSON', data: { refusal: PROTOCOL_ERROR } },
      })
    }
    await client.settle()
  },
)

scenario(
  'a message of the wrong structure is invalid, says why, and keeps its id when it has one [S4-2-2] [R001] [R010] [S0-2.1] [S2-1.1-1] [S3-7.3-1] [S3-3-1] [S2-0-5] [S2-1.3-1] [S2-13-S8]',
  app,
  async (client) => {
    const wrong: [string, string, unknown][] = [
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'jsonrpc is not "2.0"', 1],
      ['{"jsonrpc":2.0,"id":1,"method":"ping"}', 'jsonrpc is not "2.0"', 1],
      ['{"id":1,"method":"ping"}', 'jsonrpc is not "2.0"', 1],
      ['{"jsonrpc":"2.0","id":"a","method":5}', 'the method is not a non-empty string', 'a'],
      ['{"jsonrpc":"2.0","id":1,"method":""}', 'the method is not a non-empty string', 1],
      ['{"jsonrpc":"2.0","id":1}', 'it has no method', 1],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 'it is both a request and a response', 1],
      [
        '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}',
        'it is both a request and a response',
        1,
      ],
      ['{"jsonrpc":"2.0","id":1,"result":5}', 'the result is not an object', 1],
      ['{"jsonrpc":"2.0","result":{}}', 'a result needs an id', undefined],
      [
        '{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}}',
        'the error needs an integer code and a message',
        1,
      ],
      ['{"jsonrpc":"2.0","id":1,"Method":"ping"}', '"Method" is not in lower case', 1],
      ['5', 'it is not an object', undefined],
      ['"text"', 'it is not an object', undefined],
      ['null', 'it is not an object', undefined],
    ]
    for (const [text, reason, id] of wrong) {
      const reply = (await client.post(text)) as Reply
      expect([text, reply]).toEqual([
        text,
        {
          jsonrpc: '2.0',
          ...(id === undefined ? {} : { id }),
          error: {
            code: -32600,
            message: `not a JSON-RPC 2.0 message: ${reason}`,
            data: { refusal: PROTOCOL_ERROR },
          },
        },
      ])
    }
    await client.settle()
  },
)

scenario(
  'params are an object or absent: null counts as absent, an array is refused [R012] [S2-1.1-2] [S3-9-7] [S0-2.1] [S3-3-1] [S2-13-S8]',
  app,
  async (client) => {
    for (const params of ['[]', '[{"name":"one"}]', '5', '"x"', 'true']) {
      const reply = (await client.post(
        `{"jsonrpc":"2.0","id":"p","method":"tools/list","params":${params}}`,
      )) as Reply
      expect(reply).toMatchObject({
        id: 'p',
        error: { code: -32602, message: 'invalid params for tools/list: they are not an object' },
      })
    }
    const meta = (await client.post(
      '{"jsonrpc":"2.0","id":"p","method":"tools/list","params":{"_meta":[]}}',
    )) as Reply
    expect(meta).toMatchObject({
      id: 'p',
      error: { code: -32602, message: 'invalid params for tools/list: _meta is not an object' },
    })
    if (!client.hasSession) return
    const reply = await client.post('{"jsonrpc":"2.0","id":"p","method":"tools/list","params":null}')
    expect(reply).toMatchObject({ id: 'p', result: { tools: [{ name: 'one' }] } })
  },
)

scenario('a key that stands twice is refused, wherever it stands [R010]', app, async (client) => {
  const twice = [
    '"method":"ping","method":"tools/list"',
    '"method":"tools/call","params":{"name":"one","name":"two"}',
  ]
  for (const rest of twice) {
    const reply = (await client.post(`{"jsonrpc":"2.0","id":4,${rest}}`)) as Reply
    expect(reply).toMatchObject({
      id: 4,
      error: { code: -32600, message: expect.stringMatching(/^the key "(method|name)" appears twice/) },
    })
  }
})

scenario('a message that is nested too deep is refused [R010]', app, async (client) => {
  const deep = `${'{"a":'.repeat(25)}1${'}'.repeat(25)}`
  const reply = (await client.post(
    `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":${deep}}`,
  )) as Reply
  expect(reply.error).toEqual({
    code: -32600,
    message: 'the message is nested deeper than 20 levels',
    data: { refusal: PROTOCOL_ERROR },
  })
  await client.settle()
})

scenario('fields that nobody knows are tolerated [S2-2.5-3] [S0-6.1]', app, async (client) => {
  const text = client.requestText(9, 'tools/call', { name: 'one', later: { a: [1] }, requestStates: 'x' })
  const reply = await client.post(text.replace('{"jsonrpc"', '{"trace":{"x":1},"jsonrpc"'))
  expect(reply).toMatchObject({ id: 9, result: { content: [{ type: 'text', text: '1' }] } })
})

scenario(
  'where there are no rounds, their params are fields that nobody knows [S2-2.5-3]',
  app,
  async (client) => {
    const params = { name: 'one', requestState: 'made up', inputResponses: [] }
    const reply = await client.post(client.requestText(9, 'tools/call', params))
    expect(reply).toMatchObject({ id: 9, result: { content: [{ type: 'text', text: '1' }] } })
  },
  { until: '2025-11-25' },
)

scenario(
  'an answer that nobody asked for is ignored',
  app,
  async (client) => {
    const before = client.transcript.length
    await client.put('{"jsonrpc":"2.0","id":12345,"result":{}}')
    await client.put('{"jsonrpc":"2.0","id":"none","error":{"code":-1,"message":"x"}}')
    await client.settle()
    expect(client.transcript).toHaveLength(before + 4)
  },
  { until: '2025-11-25' },
)

const failing = createServer({ name: 'failing', version: '1', log: () => undefined })
  .tool('one', {}, () => 1)
  .prompt('broken', {}, () => {
    throw new Error('a secret')
  })

scenario(
  'the five codes of JSON-RPC say how severe they are: -32603 is critical, the others are errors [S2-8.1-1] [S3-3-1]',
  failing,
  async (client) => {
    const provoked: readonly (readonly [number, string, string])[] = [
      [-32700, 'error', '{'],
      [-32600, 'error', '{"jsonrpc":"1.0","id":"a","method":"ping"}'],
      [-32601, 'error', client.requestText('b', 'no/such/method')],
      [-32602, 'error', client.requestText('c', 'tools/call', { name: 5 })],
      [-32603, 'critical', client.requestText('d', 'prompts/get', { name: 'broken' })],
    ]
    for (const [code, severity, text] of provoked)
      expect(await client.post(text)).toMatchObject({ error: { code, data: { refusal: { severity } } } })
  },
  { profiles: false },
)

scenario(
  'metadata of a request reaches the handler as it was sent, whatever its keys [S4-15-1]',
  createServer({ name: 'meta', version: '1' }).tool('meta', {}, (_, { params }) =>
    JSON.stringify(params['_meta']),
  ),
  async (client) => {
    const meta = { plain: 1, 'com.example/trace': { a: [1] }, 'mcp.dev/odd key': null, '': 'x' }
    const { content } = await client.call('meta', {}, { meta })
    expect(JSON.parse((content as { text: string }[])[0]!.text)).toMatchObject(meta)
  },
)
