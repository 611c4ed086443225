import { expect } from 'vitest'
import { z } from 'zod'
import { createServer, defineTools, text, ToolError } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const icons = [
  { src: 'https://x.example/i.svg', mimeType: 'image/svg+xml', sizes: ['any'], theme: 'dark' as const },
]
const input = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where', default: 'Kiel' },
    days: { type: 'integer', minimum: 1 },
  },
  required: ['city'],
} as const
const output = { type: 'object', properties: { high: { type: 'number' } }, required: ['high'] } as const

const listed = createServer({ name: 'listed', version: '1' })
  .tool(
    'forecast',
    {
      title: 'Forecast',
      description: 'What the weather will be',
      input,
      output,
      icons,
      hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
      _meta: { 'com.example/cost': 3 },
    },
    () => ({ high: 21 }),
  )
  .tool('now', {}, () => 'sunny')

scenario(
  'the list of tools shows each with its schema and what the revision knows of it [R141] [R157] [S0-4.1] [S0-4.2] [S0-4.3] [S0-4.4] [S0-4.5] [S2-4.1-1] [S2-4.2-3] [S3-5.1-1] [S3-7.1-2] [S3-9-3] [S4-1-10] [S4-1-12] [S2-2.5-3] [S0-6.1] [S1-1.1-2] [S4-10-2] [S2-4.2-2] [S2-9.4-2]',
  listed,
  async (client, revision) => {
    const base = { name: 'forecast', description: 'What the weather will be', inputSchema: input }
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }
    const newer = {
      ...base,
      title: 'Forecast',
      outputSchema: output,
      annotations: hints,
      _meta: { 'com.example/cost': 3 },
    }
    const expected = {
      '2024-11-05': base,
      '2025-03-26': { ...base, annotations: { ...hints, title: 'Forecast' } },
      '2025-06-18': newer,
      '2025-11-25': { ...newer, icons },
      '2026-07-28': { ...newer, icons },
    }[revision]
    const now = { name: 'now', inputSchema: { type: 'object', additionalProperties: false } }
    expect(await client.get('tools/list')).toEqual({ tools: [expected, now] })
    expect(await client.get('tools/list', {})).toEqual({ tools: [expected, now] })
  },
)

const values = new Map<string, unknown>([
  ['text', 'plain'],
  ['empty', ''],
  ['number', 4.5],
  ['false', false],
  ['object', { a: [1, { b: null }] }],
  ['list', [1, 'two']],
  ['nothing', undefined],
  ['null', null],
  ['block', text('block', { annotations: { priority: 0.5, audience: ['user'] } })],
  ['blocks', [text('one'), text('two')]],
  ['whole', { content: [text('whole')], _meta: { 'com.example/k': 'v' } }],
  ['failed', { content: [text('no')], isError: true }],
])
const returns = createServer({ name: 'returns', version: '1' }).tool(
  'give',
  { input: z.object({ what: z.string(), later: z.boolean().optional() }) },
  ({ what, later }) => (later === true ? Promise.resolve(values.get(what)) : values.get(what)),
)

scenario(
  'whatever a handler returns becomes content, at once or later [R142] [S0-4.6] [S0-4.7] [S0-4.8] [S2-4.3-4] [S3-5.1-2] [S3-9-4] [S4-10-3] [S1-11-6] [S1-1.1-2] [S2-9.4-2] [S2-4.1-1]',
  returns,
  async (client) => {
    const block = (words: string): object => ({ type: 'text', text: words })
    const expected: [string, object][] = [
      ['text', { content: [block('plain')], isError: false }],
      ['empty', { content: [block('')], isError: false }],
      ['number', { content: [block('4.5')], isError: false }],
      ['false', { content: [block('false')], isError: false }],
      ['object', { content: [block('{"a":[1,{"b":null}]}')], isError: false }],
      ['list', { content: [block('[1,"two"]')], isError: false }],
      ['nothing', { content: [], isError: false }],
      ['null', { content: [], isError: false }],
      [
        'block',
        {
          content: [{ ...block('block'), annotations: { priority: 0.5, audience: ['user'] } }],
          isError: false,
        },
      ],
      ['blocks', { content: [block('one'), block('two')], isError: false }],
      ['whole', { content: [block('whole')], isError: false, _meta: { 'com.example/k': 'v' } }],
      ['failed', { content: [block('no')], isError: true }],
    ]
    for (const [what, result] of expected) {
      expect(await client.call('give', { what })).toEqual(result)
      expect(await client.call('give', { what, later: true })).toEqual(result)
    }
  },
)

const failing = createServer({ name: 'failing', version: '1', log: () => undefined })
  .tool('tell', {}, () => {
    throw new ToolError('the harbour is closed', { until: 'noon' })
  })
  .tool('tell-later', {}, async () => {
    await Promise.resolve()
    throw new ToolError('closed')
  })
  .tool('leak', {}, () => {
    throw new Error('password is hunter2')
  })
  .tool('leak-later', {}, () => Promise.reject(new TypeError('token abc')))
  .tool('odd', {}, () => Promise.reject('secret string' as unknown as Error))

scenario(
  'a failing tool is a result that the model reads; only what was meant for it is told [R143] [S0-4.10] [S2-4.3-5] [S3-7.1-3] [S3-9-5] [R188] [S4-14-7]',
  failing,
  async (client) => {
    if (client.hasSession) await client.request('logging/setLevel', { level: 'debug' })
    expect(await client.call('tell')).toEqual({
      content: [
        { type: 'text', text: 'the harbour is closed' },
        { type: 'text', text: '{"until":"noon"}' },
      ],
      isError: true,
      _meta: { 'dev.pierhead/data': { until: 'noon' } },
    })
    expect(await client.call('tell-later')).toEqual({
      content: [{ type: 'text', text: 'closed' }],
      isError: true,
    })
    for (const name of ['leak', 'leak-later', 'odd']) {
      const options = client.hasSession ? {} : { meta: { [META.logLevel]: 'debug' } }
      const { content, isError } = await client.call(name, {}, options)
      expect(isError).toBe(true)
      const words = (content as { text: string }[])[0]!.text
      expect(words).toMatch(new RegExp(`^tool "${name}" failed \\(reference [0-9a-f-]{36}\\)$`))
    }
    const told = client.transcript.map((entry) => entry.text).join('\n')
    for (const secret of ['hunter2', 'token abc', 'secret string']) expect(told).not.toContain(secret)
  },
)

scenario(
  'an unknown tool is an error that names it and what comes close [R144] [S0-4.9] [S3-7.3-2] [S3-7.3-3]',
  listed,
  async (client) => {
    const close = await refusal(client.call('forcast'))
    expect([close.code, close.message]).toEqual([
      -32602,
      'tool "forcast" does not exist; did you mean "forecast"?',
    ])
    expect(close.data).toEqual({
      refusal: { code: 1048, name: 'TOOL_NOT_FOUND', httpStatus: 404, severity: 'warn', retryable: false },
    })
    const far = await refusal(client.call('telescope-array'))
    expect([far.code, far.message]).toEqual([-32602, 'tool "telescope-array" does not exist'])
  },
)

scenario(
  'the name of a tool must be a string [R012] [S3-9-7] [S0-4.6] [S2-4.3-1]',
  listed,
  async (client) => {
    for (const params of [{}, { name: 5 }, { name: null }, { name: ['now'] }]) {
      const error = await refusal(client.request('tools/call', params))
      expect([error.code, error.message]).toEqual([
        -32602,
        'invalid params for tools/call: name is not a string',
      ])
    }
  },
)

const map = defineTools({
  add: { input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b },
  hello: { run: () => 'hello' },
})

scenario(
  'a flat map of tools, and the long form of the options, define the same [S1-11-3] [S1-11-6]',
  createServer({
    id: 'mapped',
    version: '2',
    tools: map,
    transports: ['http', 'stdio'],
    capabilities: ['async', 'stream'],
  }),
  async (client) => {
    const { tools } = await client.get('tools/list')
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(['add', 'hello'])
    expect(await client.call('add', { a: 1, b: 2 })).toEqual({
      content: [{ type: 'text', text: '3' }],
      isError: false,
    })
    expect(await client.call('hello')).toEqual({ content: [{ type: 'text', text: 'hello' }], isError: false })
  },
)

const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

scenario(
  'names that objects inherit are names like any other [R144] [R179]',
  () => {
    const app = createServer({ name: 'odd', version: '1' })
    for (const name of odd.slice(0, 3))
      app.tool(name, {}, () => `ran ${name}`).prompt(name, {}, () => `said ${name}`)
    return app
  },
  async (client) => {
    for (const name of odd.slice(0, 3)) {
      expect((await client.call(name))['content']).toEqual([{ type: 'text', text: `ran ${name}` }])
      expect((await client.get('prompts/get', { name }))['messages']).toEqual([
        { role: 'user', content: { type: 'text', text: `said ${name}` } },
      ])
    }
    for (const name of odd.slice(3)) {
      expect((await refusal(client.call(name))).message).toContain(`tool "${name}" does not exist`)
      expect((await refusal(client.request('prompts/get', { name }))).code).toBe(-32602)
    }
  },
)

scenario(
  'arguments named like inherited members reach the handler as they are and change nothing else',
  createServer({ name: 'echo', version: '1' }).tool('echo', { input: { type: 'object' } }, (args) => [
    Object.keys(args),
    Object.getPrototypeOf(args) === Object.prototype,
    'polluted' in {},
  ]),
  async (client) => {
    const id = client.nextId()
    const text = client.requestText(id, 'tools/call', { name: 'echo', arguments: { PLACE: 1 } })
    const reply = await client.post(
      text.replace('"PLACE":1', '"__proto__":{"polluted":1},"constructor":{"prototype":{}},"a":1'),
    )
    const { content } = (reply as { result: { content: { text: string }[] } }).result
    expect(content[0]!.text).toBe('[["__proto__","constructor","a"],true,false]')
  },
)
