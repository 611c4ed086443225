import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { processorMs } from '../harness/processor.ts'
import { all, failure, meet, tool, type Attack } from './peer.ts'

/** The engine compares texts longer than 16,383 characters one by one, because those of the same length share a hash. */
const LENGTH = 16_400
const COUNT = 900
/** How often the client may do the work of parsing a message. */
const TIMES = 8

const TEXTS = Array.from({ length: COUNT }, (_, at) => 'k'.repeat(LENGTH - 5) + String(at).padStart(5, '0'))

/** Expects that listing and calling tools costs about as much as reading the list. */
async function expectCheap(tools: readonly JsonObject[]): Promise<readonly string[]> {
  const attack: Attack = ({ method }, wire) => {
    if (method === 'tools/list') return wire.reply({ tools })
    return method === 'tools/call' ? wire.reply({ content: [], structuredContent: { a: 'a' } }) : false
  }
  const { client, warnings } = await meet('http', attack)
  const text = JSON.stringify({ tools })
  const reading = async (): Promise<unknown> =>
    JSON.parse(new TextDecoder().decode(new TextEncoder().encode(text)))
  const once = await processorMs(async () => {
    for (let time = 0; time < TIMES; time++) await reading()
  })
  const spent = await processorMs(async () => {
    await all(client.tools())
    await client.call('t').catch(() => undefined)
  })
  expect(spent).toBeLessThan(once)
  return warnings
}

test('tools with long names are skipped, with one warning', async () => {
  const warnings = await expectCheap([...TEXTS.map((name) => tool(name)), tool('t')])
  expect(warnings).toEqual([
    expect.stringMatching(/^skipped 900 items of tools\/list: a name or URI has more than 8192 characters$/),
  ])
})

test('long names of headers are not accepted', async () => {
  const named = TEXTS.map((header, at) => [`p${at}`, { type: 'string', 'x-mcp-header': header }])
  const inputSchema = { type: 'object', properties: Object.fromEntries(named) as JsonObject }
  const [warning] = await expectCheap([tool('t', { inputSchema })])
  expect(warning).toContain('x-mcp-header at p0 must be a header name of at most 256 characters')
})

test.each([
  ['required', { required: TEXTS }],
  ['enum', { properties: { a: { enum: TEXTS } } }],
  ['dependentRequired', { dependentRequired: { a: TEXTS } }],
  ['$anchor', { $defs: Object.fromEntries(TEXTS.map(($anchor, at) => [`d${at}`, { $anchor }])), $ref: '#x' }],
])('a schema with many long texts in %s is not checked', async (_, keywords) => {
  const outputSchema = { type: 'object', ...keywords } as unknown as JsonObject
  const [warning] = await expectCheap([tool('t', { outputSchema })])
  expect(warning).toContain('the schema has more than 20 texts of more than 16383 characters')
})

test.each([
  ['prompts', 'prompts/list', (name: string) => ({ prompts: [{ name }, { name: 'short' }] })],
  [
    'resources',
    'resources/list',
    (uri: string) => ({
      resources: [
        { uri, name: 'a' },
        { uri: 'a:b', name: 'b' },
      ],
    }),
  ],
] as const)(
  '%s with long names or URIs are skipped, unless limits.uriLength allows them',
  async (list, method, page) => {
    const attack: Attack = (asked, wire) =>
      asked.method === method && wire.reply(page(`a:${'x'.repeat(8191)}`))
    const { client, warnings } = await meet('memory', attack)
    expect(await all<object>(client[list]())).toHaveLength(1)
    expect(warnings).toHaveLength(1)
    const patient = await meet('memory', attack, { limits: { uriLength: 8193 } })
    expect(await all<object>(patient.client[list]())).toHaveLength(2)
  },
)

test('a URI that is too long for a header is rejected before it is sent', async () => {
  const { client, count } = await meet('http', () => false)
  const error = await failure(client.read(`a:${'é'.repeat(8191)}`))
  expect(error).toMatchObject({ kind: 'uri_too_long', hint: expect.stringContaining('limits.uriLength') })
  expect(count('resources/read')).toBe(0)
  expect((await client.read(`a:${'é'.repeat(1000)}`)).contents).toHaveLength(1)
})

test.each([
  ['many values', `[${'0,'.repeat(150_000)}0]`],
  ['deep nesting', `${'['.repeat(100)}${']'.repeat(100)}`],
  ['many members', `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":0`).join()}}`],
  [
    'long names',
    `{${TEXTS.slice(0, 60)
      .map((name) => `"${name}":0`)
      .join()}}`,
  ],
])('structured content as a text with %s stays a text, as the limits of the client say', async (_, json) => {
  const result = { content: [{ type: 'text', text: json }], _meta: { 'dev.pierhead/structured': 'text' } }
  const attack: Attack = ({ method }, wire) => method === 'tools/call' && wire.reply(result)
  const { client } = await meet('memory', attack, { limits: 'strict' })
  expect(await client.call('t')).toBe(json)
  const usual = await meet('memory', attack)
  expect(typeof (await usual.client.call('t'))).toBe('object')
})

test('a level of a log message is one line of at most 32 characters', async () => {
  const { client } = await meet('memory', ({ method }, wire) => {
    if (method !== 'tools/call') return false
    const params = { level: `\u001b]0;owned\u0007${'x'.repeat(1000)}`, data: 'd' }
    wire.send({ jsonrpc: '2.0', method: 'notifications/message', params })
    return wire.reply({ content: [] })
  })
  const levels: string[] = []
  client.on('log', ({ level }) => levels.push(level))
  await client.call('t')
  expect(levels).toHaveLength(1)
  expect(levels[0]).toMatch(/^\P{Cc}{1,64}$/u)
})

test('tools that ask for invalid headers cause one warning for each list', async () => {
  const tools = Array.from({ length: 500 }, (_, at) =>
    tool(`t${at}`, { inputSchema: { type: 'object', 'x-mcp-header': 1 } }),
  )
  const { client, warnings } = await meet(
    'http',
    ({ method }, wire) => method === 'tools/list' && wire.reply({ tools: [...tools, tool('fine')] }),
  )
  expect((await all(client.tools())).map(({ name }) => name)).toEqual(['fine'])
  expect(warnings).toEqual([expect.stringMatching(/^skipped tool "t0": x-mcp-header .*, and 499 more$/)])
})
