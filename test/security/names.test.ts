import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { expectAlive, sound, target } from './target.ts'

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']
const attacked = target()
const { app } = attacked

/** Members that change every object where somebody copies them carelessly. */
const POLLUTION = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'

scenario(
  'M.pollute-message M.pollute-params M.pollute-meta M.pollute-arguments members named after the prototype change nothing',
  app,
  async (client) => {
    const said = (text: string): JsonObject => ({ content: [{ type: 'text', text }], isError: false })
    const good = sound(client)
    const spoilt: [text: string, result: JsonObject][] = [
      [good.replace('{"jsonrpc"', `{${POLLUTION},"jsonrpc"`), said('x')],
      [good.replace('"params":{', `"params":{${POLLUTION},`), said('x')],
      [good.replace('"arguments":{', `"arguments":{${POLLUTION},`), said('x')],
      [
        client
          .requestText('spoilt', 'tools/call', { name: 'any', arguments: {} }, { meta: { a: 1 } })
          .replace('"_meta":{', `"_meta":{${POLLUTION},`),
        said('0 members'),
      ],
      [
        client
          .requestText('spoilt', 'prompts/get', { name: 'greet', arguments: { who: 'x' } })
          .replace('"arguments":{', '"arguments":{"__proto__":"polluted",'),
        { messages: [{ role: 'user', content: { type: 'text', text: 'Hello x' } }] },
      ],
      [
        client
          .requestText('spoilt', 'completion/complete', {
            ref: { type: 'ref/prompt', name: 'greet' },
            argument: { name: 'who', value: 'x' },
            context: { arguments: { a: 'b' } },
          })
          .replace('"context":{"arguments":{', '"context":{"arguments":{"__proto__":"polluted",'),
        { completion: { values: ['x', '__proto__', 'a'] } },
      ],
      [
        client
          .requestText('spoilt', 'tools/list', {})
          .replace('"params":{', `"params":{${POLLUTION}${client.hasSession ? '' : ','}`),
        { tools: [{ name: 'echo' }, { name: 'raw' }] },
      ],
    ]
    for (const [text, result] of spoilt) {
      expect(text).toContain('"__proto__":')
      expect(await client.post(text)).toMatchObject({ id: 'spoilt', result })
      await expectAlive(client)
    }
  },
)

scenario(
  'M.pollute-arguments a tool without a schema gets such members as plain own members, and a strict one refuses them',
  app,
  async (client) => {
    const spoil = (name: string): string =>
      client
        .requestText(1, 'tools/call', { name, arguments: { a: 1 } })
        .replace('"arguments":{', `"arguments":{${POLLUTION},`)
    expect(await client.post(spoil('any').replace('"id":1', '"id":"a"'))).toMatchObject({
      result: { content: [{ text: '3 members' }] },
    })
    const refused = (await client.post(spoil('raw').replace('"id":1', '"id":"a"'))) as JsonObject
    const { error, result } = refused as { error?: { code: number }; result?: { isError: boolean } }
    expect([error?.code, result?.isError]).toContainEqual(error === undefined ? true : -32602)
    await expectAlive(client)
  },
)

scenario(
  'M.pollute-capabilities a capability below __proto__ is not declared',
  () =>
    createServer({ name: 'asks', version: '1', log: () => undefined }).tool('ask', {}, (_, { client }) =>
      ['elicitation', 'sampling', 'roots'].map((one) => client.supports(one as 'roots')).join(),
    ),
  async (client) => {
    expect(await client.call('ask')).toMatchObject({ content: [{ text: 'false,false,false' }] })
  },
  {
    capabilities: JSON.parse(
      '{"__proto__":{"elicitation":{},"sampling":{},"roots":{}},"constructor":{}}',
    ) as JsonObject,
  },
)

scenario(
  'M.tool-proto M.tool-constructor M.tool-tostring M.prompt-proto M.prompt-constructor M.complete-proto what is named after members of objects does not exist [R144]',
  app,
  async (client) => {
    for (const name of INHERITED) {
      expect(await refusal(client.request('tools/call', { name, arguments: {} }))).toMatchObject({
        code: -32602,
      })
      expect(await refusal(client.request('prompts/get', { name }))).toMatchObject({ code: -32602 })
      const uri = await refusal(client.request('resources/read', { uri: name }))
      expect([-32002, -32602]).toContain(uri.code)
      for (const ref of [
        { type: 'ref/prompt', name },
        { type: 'ref/resource', uri: name },
      ]) {
        const argument = { name: 'who', value: '' }
        expect(await refusal(client.request('completion/complete', { ref, argument }))).toMatchObject({
          code: -32602,
        })
      }
      const argument = { name, value: '' }
      const ref = { type: 'ref/prompt', name: 'greet' }
      expect(await refusal(client.request('completion/complete', { ref, argument }))).toMatchObject({
        code: -32602,
      })
    }
    await expectAlive(client)
  },
)

scenario('M.tool-control names that only look like a tool are unknown [R144]', app, async (client) => {
  const before = attacked.ran
  const names = [
    'echo\0',
    'echo\n',
    '\u001b[2Jecho',
    '\u202eohce',
    'echo ',
    ' echo',
    'ｅｃｈｏ',
    'ECHO',
    'Echo',
    'e\u0301cho',
    'echo\u200d',
    '',
  ]
  for (const name of names) {
    const { code, message } = await refusal(client.request('tools/call', { name, arguments: { text: 'x' } }))
    expect([name, code]).toEqual([name, -32602])
    expect(message.length).toBeLessThan(300)
  }
  expect(attacked.ran).toBe(before)
})

scenario('M.strings M.surrogate awkward strings come back as they were [S0-3.3]', app, async (client) => {
  const strings = [
    '\0',
    '\ufeff',
    '\u2028\u2029',
    'data: x\n\nid: 1\r\n\r\n',
    '\u001b]0;x\u0007',
    '👩‍👩‍👧‍👦',
    'e\u0301\u0301',
    '\ud800',
    'a\udc00b',
    '\uffff',
    '</script>',
    '${x}%s%o',
  ]
  for (const text of strings) {
    const result = await client.call('echo', { text })
    expect(result['content']).toEqual([{ type: 'text', text }])
  }
  const last = client.transcript.at(-1)?.text ?? ''
  expect(new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode(last))).toBe(last)
})

scenario(
  'M.args-schema M.args-schema-types M.tool-throws M.error-leak arguments that break the schema and tools that throw tell nothing of the inside [R188]',
  app,
  async (client, revision) => {
    const before = attacked.ran
    const wrong = [
      {},
      { text: 5 },
      { text: null },
      { text: ['x'] },
      { text: { toString: 'x' } },
      { Text: 'x' },
    ]
    for (const args of wrong) {
      const text = JSON.stringify(await client.call('echo', args).catch((error: unknown) => error))
      expect(text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(/)
      if (revision >= '2025-11-25') expect(text).toContain('"isError":true')
    }
    expect(attacked.ran).toBe(before)
    const outcomes = [
      client.request('tools/call', { name: 'boom' }),
      client.request('prompts/get', { name: 'boom' }),
      client.request('resources/read', { uri: 'note://boom' }),
      client.request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'item://{id}' },
        argument: { name: 'id', value: '' },
      }),
    ]
    for (const outcome of outcomes) {
      const said = await outcome.then(JSON.stringify, String)
      expect(said).toMatch(/reference|[0-9a-f]{8}-/)
    }
    for (const { from, text } of client.transcript) {
      if (from === 'server')
        expect(text).not.toMatch(/private|keys\.pem|hunter2|\.ts:\d|node_modules|\bat \w+ \(/)
    }
    await expectAlive(client)
  },
)

scenario(
  'M.complete-odd M.prompt-args M.loglevel M.complete-types odd requests for completion, prompts and log levels are refused as such [R012] [S3-9-7]',
  app,
  async (client) => {
    const ref = { type: 'ref/prompt', name: 'greet' }
    const argument = { name: 'who', value: 'x' }
    const odd: [string, JsonObject][] = [
      ['completion/complete', {}],
      ['completion/complete', { ref: null, argument: null }],
      ['completion/complete', { ref: 'greet', argument }],
      ['completion/complete', { ref: { type: '__proto__' }, argument }],
      ['completion/complete', { ref: { type: 'ref/prompt' }, argument }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: { toString: 'greet' } }, argument }],
      ['completion/complete', { ref: { type: 'ref/resource', uri: { toString: 1, valueOf: 1 } }, argument }],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: ['item://{id}'] }, argument: { name: 'id', value: '' } },
      ],
      ['completion/complete', { ref: { type: 'ref/resource', uri: null }, argument }],
      ['completion/complete', { ref, argument: { name: 5, value: 'x' } }],
      ['completion/complete', { ref, argument: { name: 'who', value: {} } }],
      ['completion/complete', { ref, argument: { name: 'none', value: 'x' } }],
      ['completion/complete', { ref, argument, context: { arguments: ['x'] } }],
      ['completion/complete', { ref, argument, context: { arguments: 5 } }],
      ['completion/complete', { ref, argument, context: { arguments: { a: 5 } } }],
      ['prompts/get', { name: 'greet' }],
      ['prompts/get', { name: 'greet', arguments: 'x' }],
      ['prompts/get', { name: 'greet', arguments: ['x'] }],
      ['prompts/get', { name: 'greet', arguments: { who: 5 } }],
      ['prompts/get', { name: 'greet', arguments: { who: { toString: 'x' } } }],
      ['prompts/get', { name: ['greet'], arguments: { who: 'x' } }],
      ['prompts/get', {}],
    ]
    const levels = ['loud', '', 'INFO', '__proto__', 'constructor', 7, null, ['info'], { toString: 'info' }]
    if (client.hasSession)
      odd.push(...levels.map((level): [string, JsonObject] => ['logging/setLevel', { level }]))
    for (const [method, params] of odd) {
      const reply = (await client.post(client.requestText('spoilt', method, params))) as JsonObject
      expect([method, params, reply]).toMatchObject([method, params, { error: { code: -32602 } }])
    }
    await expectAlive(client)
  },
)

scenario(
  'M.progress-odd odd progress tokens do no harm, and those that are tokens come back as they were [R192]',
  () =>
    createServer({ name: 'progress', version: '1' }).tool(
      'step',
      { input: z.object({}) },
      (_, { progress }) => {
        progress(1)
        return 'done'
      },
    ),
  async (client) => {
    for (const progressToken of [{}, [], null, 1.5, true, { toString: 1 }]) {
      const text = client.requestText('spoilt', 'tools/call', { name: 'step' }, { meta: { progressToken } })
      expect(await client.post(text)).toMatchObject({ result: { content: [{ text: 'done' }] } })
    }
    for (const progressToken of ['__proto__', '', 0, 'x'.repeat(1024), 'data: \n\n']) {
      await client.call('step', {}, { meta: { progressToken } })
      expect(client.heard('notifications/progress').at(-1)).toMatchObject({ progressToken })
    }
    expect(client.heard('notifications/progress')).toHaveLength(5)
  },
)

test('a warning shows the beginning of a name that a client sent, in one line', async () => {
  const log: string[] = []
  const server = createServer({ name: 'x', version: '1', log: (_level, message) => void log.push(message) })
    .prompt('triage', { args: z.object({ id: z.string() }) }, () => 'x')
    .complete('triage', 'id', (_value, _known, { progress }) => {
      progress(1)
      progress(1)
      return []
    })
  const client = await open(server as never, { transport: 'memory', revision: '2025-11-25' })
  const params = { ref: { type: 'ref/prompt', name: 'triage' }, argument: { name: 'id', value: '' } }
  const ask = (name: unknown): Promise<JsonObject> =>
    client.request('completion/complete', { ...params, name })
  await ask(`a\npierhead error: forged\u202e${'x'.repeat(1_000_000)}`)
  await ask({ a: 'x'.repeat(1_000_000) })
  await ask(undefined)
  const odd = 'reported the progress 1 after 1, which was not sent: progress must increase'
  expect(log).toEqual([
    `completion/complete of "a\\npierhead error: forged\\u202e${'x'.repeat(487)}" ${odd}`,
    `completion/complete ${odd}`,
  ])
})
