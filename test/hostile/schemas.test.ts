import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { called, expectHarmless } from './called.ts'
import { all, endOf, WAYS, meet, tool, web } from './peer.ts'

test.each(WAYS)('C.ref-remote a remote reference is never fetched, over %s', async (way) => {
  const canary = await web((_, response) => response.end('{"type":"string"}'))
  const references = [
    `${canary.origin}/s.json`,
    `${canary.origin}/s.json#/x`,
    `//127.0.0.1:${new URL(canary.url).port}/s`,
    'file:///etc/passwd',
    's.json',
    '../x',
  ]
  for (const $ref of references) {
    const schemas = [
      { $ref },
      { $id: canary.url, type: 'object', properties: { a: { $ref } } },
      { $schema: $ref, type: 'object' },
      { $dynamicRef: $ref },
      { $id: $ref, $ref: '#/$defs/a', $defs: { a: { $id: $ref } } },
      { allOf: [{ $ref }], $vocabulary: { [$ref]: true } },
    ]
    for (const schema of way === 'memory' ? schemas : schemas.slice(0, 1))
      await expectHarmless(way, schema, { a: 1 })
  }
  expect(canary.requests).toEqual([])
})

test.each(WAYS)('C.ref-cycle cyclic references do not hang or crash, over %s', async (way) => {
  const cycles = [
    { $ref: '#' },
    { allOf: [{ $ref: '#' }] },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { anyOf: [{ type: 'string' }, { $ref: '#' }] },
    { $dynamicRef: '#n', $dynamicAnchor: 'n' },
    { not: { $ref: '#' } },
    { if: { $ref: '#' }, ['then' as string]: true },
    { $defs: { a: { $anchor: 'x', $ref: '#x' } }, $ref: '#x' },
  ]
  for (const cycle of cycles) await expectHarmless(way, cycle, { a: { a: 1 } })
})

test('C.ref-cycle a schema that refers to itself through its parts is checked', async () => {
  const tree = { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'number' } } }
  expect((await called('memory', tree, { next: { next: { n: 1 } } })).kind).toBe('fits')
  expect((await called('memory', tree, { next: { next: { n: 'x' } } })).kind).toBe('bad_answer')
})

test.each(WAYS)('C.schema-deep a schema nested 5 000 levels does not hang or crash, over %s', async (way) => {
  const nest = (open: string, close: string, inner: string): string =>
    open.repeat(5000) + inner + close.repeat(5000)
  for (const [open, close] of [
    ['{"type":"object","properties":{"a":', '}}'],
    ['{"not":', '}'],
    ['{"anyOf":[', ']}'],
    ['{"items":', '}'],
  ] as const) {
    const { client } = await meet(way, ({ id, method }, wire) =>
      method === 'tools/list'
        ? wire.send(
            `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"t","inputSchema":${nest(open, close, '{}')},"outputSchema":{}}]}}`,
          )
        : false,
    )
    expect(['fine', 'bad_answer']).toContain(await endOf(all(client.tools())))
    expect(await client.call('t')).toBe('{}')
    await client.close()
  }
})

test('C.schema-deep the deepest schemas that a message can carry do no harm', async () => {
  for (const depth of [10, 25, 30]) {
    let schema: JsonObject = { type: 'number' }
    let value: unknown = 'wrong'
    for (let level = 0; level < depth; level++) {
      schema = { anyOf: [{ type: 'object', properties: { a: schema } }] }
      if (level % 2 === 0) value = { a: value }
    }
    await expectHarmless('memory', schema, value)
  }
})

test('C.schema-blowup an exponential anyOf schema does not hang the client', async () => {
  const doubling = (count: number, make: (next: object) => object): object => {
    const $defs: Record<string, object> = { [`d${count}`]: { type: 'string' } }
    for (let level = count - 1; level >= 0; level--)
      $defs[`d${level}`] = make({ $ref: `#/$defs/d${level + 1}` })
    return { $ref: '#/$defs/d0', $defs }
  }
  for (const keyword of ['anyOf', 'allOf', 'oneOf'])
    await expectHarmless(
      'memory',
      doubling(40, (next) => ({ [keyword]: [next, next] })),
      { a: 1 },
    )
  await expectHarmless(
    'memory',
    doubling(12, (next) => ({ anyOf: [next, next] })),
    { a: 1 },
  )
})

test.each(WAYS)(
  'C.schema-blowup a recursive schema with many branches does not make a deep value dear, over %s',
  async (way) => {
    const branch = (name: string): object => ({
      type: 'object',
      properties: { a: { $ref: '#' } },
      required: [name],
    })
    let value: unknown = 7
    for (let level = 0; level < 100; level++) value = { a: value, x: 1 }
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const required = keyword === 'allOf' ? ['x', 'a', 'x'] : ['p', 'q', 'r']
      await expectHarmless(way, { [keyword]: required.map(branch) }, value)
    }
    await expectHarmless(
      way,
      {
        properties: { a: { $ref: '#' } },
        additionalProperties: { $ref: '#' },
        patternProperties: { '^a$': { $ref: '#' } },
        unevaluatedProperties: { $ref: '#' },
      },
      value,
    )
    await expectHarmless(
      way,
      {
        if: { properties: { a: { $ref: '#' } } },
        ['then' as string]: { properties: { a: { $ref: '#' } } },
        else: { not: { properties: { a: { $ref: '#' } } } },
      },
      value,
    )
  },
)

test('C.schema-blowup a recursive schema of lists does not make nested lists dear', async () => {
  let value: unknown = 'x'
  for (let level = 0; level < 100; level++) value = [value]
  await expectHarmless(
    'memory',
    { anyOf: [{ items: { $ref: '#' }, minItems: 2 }, { contains: { $ref: '#' } }, { type: 'number' }] },
    value,
  )
  await expectHarmless(
    'memory',
    { prefixItems: [{ $ref: '#' }], items: { $ref: '#' }, contains: { $ref: '#' }, uniqueItems: true },
    value,
  )
})

test('C.schema-blowup many checks of many values do not block the client', async () => {
  const many = Array.from({ length: 200_000 }, (_, index) => `v${index}`)
  await expectHarmless(
    'memory',
    { items: { anyOf: Array.from({ length: 1900 }, (_, index) => ({ const: index })) } },
    many,
  )
  await expectHarmless(
    'memory',
    { items: { enum: Array.from({ length: 90_000 }, (_, index) => index) } },
    many,
  )
  await expectHarmless(
    'memory',
    { items: { anyOf: Array.from({ length: 1900 }, () => ({ required: ['x'], type: 'object' })) } },
    many.map(() => ({})),
  )
  await expectHarmless(
    'memory',
    { anyOf: Array.from({ length: 1900 }, (_, index) => ({ const: { index } })) },
    { many },
  )
  await expectHarmless(
    'memory',
    {
      uniqueItems: true,
      anyOf: Array.from({ length: 500 }, () => ({ uniqueItems: true, minItems: 300_000 })),
    },
    many,
  )
  const keys = Object.fromEntries(many.map((key) => [key, 1]))
  const patternProperties = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`^x${index}`, {}]))
  await expectHarmless('memory', { patternProperties, additionalProperties: { type: 'number' } }, keys)
  await expectHarmless(
    'memory',
    { propertyNames: { anyOf: Array.from({ length: 500 }, (_, index) => ({ const: `${index}` })) } },
    keys,
  )
})

test('C.schema-blowup large results with ordinary schemas are still checked', async () => {
  const rows = Array.from({ length: 50_000 }, (_, index) => ({
    id: index,
    name: `row ${index}`,
    tags: ['a', 'b'],
  }))
  const row = {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      name: { type: 'string', pattern: '^row ' },
      tags: { type: 'array', items: { enum: ['a', 'b', 'c'] } },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  }
  const schema = {
    type: 'object',
    properties: { rows: { type: 'array', items: { $ref: '#/$defs/row' } } },
    $defs: { row },
  }
  expect((await called('memory', schema, { rows })).kind).toBe('fits')
  expect((await called('memory', schema, { rows: [...rows, { id: 'x' }] })).kind).toBe('bad_answer')
})

test.each(WAYS)(
  'C.schema-redos a catastrophic pattern in a schema does not hang the client, over %s',
  async (way) => {
    const attack = `${'a'.repeat(40_000)}!`
    const patterns = [
      '^(a+)+$',
      '(a|a)*$',
      '^(a|aa)+$',
      '(.*a){20}',
      '^((a*)*)*$',
      '(?:a?){60}a{60}',
      '^(?=(a+)+$)',
      '(a+)\\1+$',
      '([a-z]+)+[A-Z]',
      '(?<=(a+)+)b',
    ]
    for (const pattern of way === 'memory' ? patterns : patterns.slice(0, 2)) {
      await expectHarmless(
        way,
        { type: 'object', properties: { s: { type: 'string', pattern } } },
        { s: attack },
      )
      await expectHarmless(way, { patternProperties: { [pattern]: { type: 'number' } } }, { [attack]: 1 })
      await expectHarmless(way, { propertyNames: { pattern } }, { [attack]: 1 })
    }
  },
)

/** Patterns that look harmless, with a text for which the engine needs far more than any time limit. */
const SLOW: readonly (readonly [pattern: string, text: string])[] = [
  ['^\\w*\\w*\\w*\\w*^', 'a'.repeat(300)],
  ['[\\p{L}b]{3,}b{100}b{10}$', `${'b'.repeat(2200)}!`],
  ['.*b{100}$', `${'b'.repeat(2200)}!`],
  ['^(?:\\w*\\w*\\w*\\w*(?:^|!))', 'a'.repeat(300)],
  ['(?=(?:.*b{50}){2}!)^', `${'b'.repeat(2200)}!`],
  ['^\\-?(u*\\u{2})*$', `${'u'.repeat(38)}!`],
  ['^\\-?(\\012*)*$', `${'\n'.repeat(26)}!`],
  [`^(a{${'0'.repeat(60)}1,}b?)*$`, `${'a'.repeat(26)}!`],
  [`^(?:${'()'.repeat(400)}a)*$`, `${'a'.repeat(60_000)}!`],
]

test.each(SLOW)('C.schema-redos the pattern %s does not block the client for long', async (pattern, text) => {
  const schemas = [
    { properties: { s: { type: 'string', pattern } } },
    { patternProperties: { [pattern]: { type: 'number' } } },
  ]
  for (const schema of schemas) await expectHarmless('memory', schema, { s: text, [text]: 1 }, 1500)
})

test('C.schema-redos patterns that take long to compile do not block the client', async () => {
  const letters = (at: number): string => String.fromCharCode(97 + (at % 26), 97 + (Math.floor(at / 26) % 26))
  const edges = (at: number): string => `${letters(at)}${'(?:a\\b|b\\b|c\\b)'.repeat(80)}`
  const classes = (at: number): string => `${letters(at)}${'[^\\p{L}]'.repeat(200)}`
  for (const make of [edges, classes]) {
    const many = Array.from({ length: 300 }, (_, at) => ({ pattern: make(at) }))
    await expectHarmless('memory', { properties: { s: { anyOf: many } } }, { s: 'ab cd' })
  }
})

test('C.schema-redos a slow pattern is not matched against thousands of strings', async () => {
  const strings = Array.from({ length: 3000 }, () => 'a'.repeat(4000))
  await expectHarmless('memory', { items: { type: 'string', pattern: 'a*a*b' } }, strings)
  await expectHarmless(
    'memory',
    { items: { type: 'string', pattern: '^a*a*$', not: { pattern: 'a*b' } } },
    strings,
  )
  await expectHarmless(
    'memory',
    { anyOf: Array.from({ length: 300 }, (_, index) => ({ pattern: `a*${index}` })) },
    'a'.repeat(4_000_000),
  )
  await expectHarmless(
    'memory',
    {
      anyOf: Array.from({ length: 1000 }, (_, index) => ({
        minLength: 3_000_000 + index,
        maxLength: 3_000_001 + index,
      })),
    },
    'a'.repeat(4_000_000),
  )
})

test('C.schema-redos patterns that are hard to judge do not hang the client', async () => {
  const hard = [
    'a?'.repeat(900),
    '[a-z]?'.repeat(300),
    `(${Array.from({ length: 400 }, (_, at) => `${'ab'[at % 2]}c`).join('|')})*`,
  ]
  for (const pattern of hard)
    await expectHarmless('memory', { properties: { s: { pattern } } }, { s: 'aaaa' })
  const stars = Array.from({ length: 60 }, (_, at) => `[a-z]*${at}`).join('')
  const many = Array.from({ length: 1000 }, (_, at) => ({ pattern: `${stars}${at}` }))
  await expectHarmless('memory', { properties: { s: { anyOf: many } } }, { s: 'aaaa' })
  await expectHarmless('memory', { properties: { s: { anyOf: many.slice(0, 400) } } }, { s: 'aaaa' })
})

test.each(WAYS)(
  'C.schema-bad a schema that is not a schema is an error or ignored, not a crash, over %s',
  async (way) => {
    const bad = [
      null,
      7,
      'string',
      true,
      false,
      [],
      [{}],
      { type: 'banana' },
      { type: 7 },
      { type: [] },
      { properties: [] },
      { properties: { a: 7 } },
      { required: 'a' },
      { required: [7] },
      { $ref: 7 },
      { $ref: '#/nowhere' },
      { $ref: '#/%zz' },
      { enum: 'x' },
      { enum: [] },
      { pattern: '(' },
      { pattern: 7 },
      { patternProperties: { '(': {} } },
      { minimum: 'x' },
      { maxLength: -1 },
      { multipleOf: 0 },
      { anyOf: {} },
      { anyOf: [] },
      { items: 7 },
      { $defs: 7 },
      { additionalProperties: 7 },
      { '~standard': { version: 1, vendor: 'x', validate: 'x' } },
      { $schema: 'http://json-schema.org/draft-03/schema#', type: 'any' },
      { $id: '::::' },
      { const: { __proto__: null } },
    ]
    for (const schema of way === 'memory' ? bad : bad.slice(0, 9)) await expectHarmless(way, schema, { a: 1 })
  },
)

test('C.schema-bad an input schema that is not a schema does no harm', async () => {
  const bad = [
    null,
    7,
    'x',
    [],
    { properties: 7 },
    { properties: { a: null } },
    { properties: { a: { 'x-mcp-header': {} } } },
    { allOf: 7 },
    { $defs: [] },
  ]
  const { client } = await meet('http', ({ method }, wire) =>
    method === 'tools/list'
      ? wire.reply({
          tools: bad.map((inputSchema, index) => tool(`t${index}`, { inputSchema } as JsonObject)),
        })
      : false,
  )
  const names = (await all(client.tools())).map(({ name }) => name)
  // A tool whose `x-mcp-header` is not a header is left out.
  expect(names).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't7', 't8'])
  for (const name of names) expect(await client.call(name, { a: 1 })).toBe('{"a":1}')
})
