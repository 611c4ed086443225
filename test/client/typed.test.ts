import { expect, expectTypeOf, test } from 'vitest'
import { createServer, defineTools, text } from 'pierhead'
import { z } from 'zod'
import { connect, type AnyTools } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { everyRevision, testClient } from '../../src/testing.ts'
import { scripted } from './scripted.ts'

const tools = defineTools({
  add: {
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    run: ({ a, b }) => ({ sum: a + b }),
  },
  shout: {
    input: z.object({ text: z.string(), times: z.number().default(1) }),
    run: ({ text: said, times }) => `${said.toUpperCase()}!`.repeat(times),
  },
})

everyRevision((revision) =>
  test(`tools that are known by type are called with their input and give back their output at ${revision}`, async () => {
    const app = createServer({ name: 'typed', version: '1', tools })
    await using client = await testClient<typeof tools>(app, { revision })
    const added = client.call('add', { a: 1, b: 2 })
    expectTypeOf(added).resolves.toEqualTypeOf<{ sum: number }>()
    expect(await added).toEqual({ sum: 3 })
    expect(await client.call('shout', { text: 'hey' })).toBe('HEY!')
    // @ts-expect-error a text is needed
    await expect(client.call('shout', { times: 2 })).rejects.toThrow('text')
    // @ts-expect-error a text is needed
    await expect(client.call('shout')).rejects.toThrow('text')
    // @ts-expect-error there is no such tool
    await expect(client.call('whisper', {})).rejects.toThrow('whisper')
  }),
)

const chained = createServer({ name: 'chained', version: '1' })
  .tool('list', { output: z.array(z.number()) }, () => [1, 2])
  .tool('text', { output: z.string() }, () => 'calm')
  .tool('nothing', { output: z.null() }, () => null)
  .tool('number', { output: z.number() }, () => -5)
  .tool('object', { output: z.object({ result: z.array(z.number()) }) }, () => ({ result: [3] }))
  .tool('silent', { output: z.array(z.string()) }, () => ({ content: [], structuredContent: ['a'] }))
  .provide(() => ({ tenant: 'acme' }))
  .tool('who', { output: z.object({ tenant: z.string() }) }, (_input, { tenant }) => ({ tenant }))
  .tool('words', {}, () => '{"just":"text"}')
  .add(tools)

everyRevision((revision) =>
  test(`call returns what the tool returned, as its type says, at ${revision}`, async () => {
    await using client = await testClient(chained, { revision })
    expect((await client.call('list')).map((one) => one + 1)).toEqual([2, 3])
    expect((await client.call('text')).toUpperCase()).toBe('CALM')
    expect(await client.call('nothing')).toBe(null)
    expect((await client.call('number')).toFixed(1)).toBe('-5.0')
    expect((await client.call('object')).result).toEqual([3])
    expect((await client.call('silent'))[0]).toBe('a')
    expect((await client.call('who')).tenant).toBe('acme')
    expect((await client.call('add', { a: 1, b: 2 })).sum).toBe(3)
    expect(await client.call('words')).toBe('{"just":"text"}')
  }),
)

everyRevision((revision) =>
  test(`listed tools are checked in the form that was sent, and returned as the tool returned it, at ${revision}`, async () => {
    await using client = await testClient(chained, { revision })
    expect((await client.tools().toArray()).length).toBe(10)
    expect(await client.call('list')).toEqual([1, 2])
    const { structuredContent } = await client.callRaw('list')
    const forms: JsonObject = { '2024-11-05': undefined, '2025-03-26': undefined, '2026-07-28': [1, 2] }
    expect(structuredContent).toEqual(revision in forms ? forms[revision] : { result: [1, 2] })
  }),
)

everyRevision((revision) =>
  test(`text that a handler wrote in its own words stays text at ${revision}`, async () => {
    const app = createServer({ name: 'own', version: '1' })
      .tool('own', { output: z.object({ a: z.number() }) }, () => ({
        content: [text('7')],
        structuredContent: { a: 7 },
      }))
      .tool('broken', { output: z.object({ a: z.number() }) }, () => ({
        content: [text('{ a: 7 }')],
        structuredContent: { a: 7 },
      }))
    await using client = await testClient(app, { revision })
    const isText = revision < '2025-06-18'
    expect(await client.call('own')).toEqual(isText ? '7' : { a: 7 })
    expect(await client.call('broken')).toEqual(isText ? '{ a: 7 }' : { a: 7 })
  }),
)

/** A server whose only tool gives this result. */
function answering(result: JsonObject): ReturnType<typeof scripted> {
  return scripted('2025-06-18', (message, peer) => {
    if (message.method !== 'tools/call') return false
    peer.reply(result)
    return true
  })
}

test('a result member of another server is not unwrapped, and text of another server is not read as JSON', async () => {
  const content = [{ type: 'text', text: '[1]' }]
  await using wrapped = await connect(answering({ content, structuredContent: { result: [1] } }))
  expect(await wrapped.call('any')).toEqual({ result: [1] })
  await using plain = await connect(answering({ content }))
  expect(await plain.call('any')).toBe('[1]')
})

test.each([
  ['no object', { structuredContent: null, content: [] }, 'result', null],
  ['no JSON', { content: [{ type: 'text', text: '{' }] }, 'text', '{'],
  [
    'too deep',
    { content: [{ type: 'text', text: '['.repeat(200) + ']'.repeat(200) }] },
    'text',
    '['.repeat(200) + ']'.repeat(200),
  ],
  [
    'too much',
    { content: [{ type: 'text', text: `[${'0,'.repeat(1_000_001)}0]` }] },
    'text',
    `[${'0,'.repeat(1_000_001)}0]`,
  ],
])('a server cannot harm a client with a false mark: %s', async (_title, result, mark, value) => {
  await using client = await connect(answering({ ...result, _meta: { 'dev.pierhead/structured': mark } }))
  expect(await client.call('any')).toBe(value)
})

const NUMBER = { type: 'number' }
const WRAPPED = { type: 'object', properties: { result: NUMBER }, required: ['result'] }
const EITHER = { type: 'object', anyOf: [WRAPPED, { type: 'object' }] }

test.each([
  ['a schema of another form', { properties: { temp: NUMBER } }, { temp: 1, result: 'odd' }, false],
  [
    'a schema of another form, without its members',
    { properties: { temp: NUMBER } },
    { result: 'odd' },
    false,
  ],
  ['a wrapped schema', WRAPPED, { result: 1 }, true],
  ['a wrapped schema, with another member', WRAPPED, { result: 1, more: 1 }, false],
  ['a schema that may be wrapped', EITHER, { result: 1 }, true],
  ['a schema that may be wrapped, with another member', EITHER, { result: 'odd', more: 1 }, false],
  ['no schema', undefined, { result: 1 }, true],
])(
  'a marked result is unwrapped only as the listed schema describes it: %s',
  async (_title, schema, content, unwraps) => {
    const outputSchema = schema === undefined ? {} : { outputSchema: { type: 'object', ...schema } }
    const server = scripted('2025-11-25', ({ method }, peer) => {
      const mark = { _meta: { 'dev.pierhead/structured': 'result' } }
      if (method === 'tools/list')
        peer.reply({ tools: [{ name: 'any', inputSchema: { type: 'object' }, ...outputSchema }] })
      else if (method === 'tools/call') peer.reply({ content: [], structuredContent: content, ...mark })
      else return false
      return true
    })
    await using client = await connect(server)
    await client.tools().toArray()
    expect(await client.call('any')).toEqual(unwraps ? content.result : content)
  },
)

test('tools that are not known by type are called by any name', async () => {
  await using client = await connect<AnyTools>(createServer({ name: 'typed', version: '1', tools }))
  const called = client.call('add', { a: 2, b: 2 })
  expectTypeOf(called).resolves.toBeUnknown()
  expect(await called).toEqual({ sum: 4 })
})
