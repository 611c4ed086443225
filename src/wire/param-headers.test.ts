import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HeaderLookup } from './headers.ts'
import { checkParamHeaders, paramHeadersOf, toParamHeaders, type ParamHeader } from './param-headers.ts'

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    limit: { type: 'integer', 'x-mcp-header': 'Limit' },
    plain: { type: 'string' },
    nested: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' } } },
  },
}
const params = paramHeadersOf(schema) as readonly ParamHeader[]

describe('collecting', () => {
  test('annotated properties are found with the way to them', () => {
    expect(params).toEqual([
      { path: ['region'], header: 'Mcp-Param-Region', lookup: 'mcp-param-region', type: 'string' },
      { path: ['limit'], header: 'Mcp-Param-Limit', lookup: 'mcp-param-limit', type: 'integer' },
      { path: ['nested', 'dry'], header: 'Mcp-Param-Dry-Run', lookup: 'mcp-param-dry-run', type: 'boolean' },
    ])
  })

  test('a schema without annotations has none', () => {
    for (const none of [{ type: 'object' }, {}, true, undefined, null, []])
      expect(paramHeadersOf(none)).toEqual([])
  })

  test('a property may itself be called x-mcp-header, and data is not searched', () => {
    const mark = { type: 'array', 'x-mcp-header': 'X' }
    expect(paramHeadersOf({ properties: { 'x-mcp-header': { type: 'string' } } })).toEqual([])
    expect(
      paramHeadersOf({ properties: { a: { default: mark, const: mark, enum: [mark], examples: [mark] } } }),
    ).toEqual([])
  })

  test('a schema is searched up to a number of parts', () => {
    const parts = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at % 2 === 0 ? {} : 0]))
    const marked = { type: 'string', 'x-mcp-header': 'Region' }
    expect(paramHeadersOf({ properties: { ...parts(49_998), marked } })).toHaveLength(1)
    const problem = 'the schema has more than 50000 parts'
    expect(paramHeadersOf({ properties: { ...parts(49_999), marked } })).toEqual({ problem })
    expect(paramHeadersOf({ properties: { a: { allOf: Array(50_000).fill({}) } } })).toEqual({ problem })
  })

  test.each(['', 'a b', 'a:b', 'a\r\nb', 'é', 7, null, {}])('%j is not a header name', (name) => {
    const found = paramHeadersOf({ properties: { a: { type: 'string', 'x-mcp-header': name } } })
    expect(found).toEqual({ problem: 'x-mcp-header at a must be a header name: letters, digits and dashes' })
  })

  test.each(['number', 'object', 'array', 'null', undefined, ['string', 'null']])(
    'type %j cannot be repeated in a header',
    (type) => {
      const found = paramHeadersOf({ properties: { a: { type, 'x-mcp-header': 'A' } } })
      expect(found).toMatchObject({
        problem: expect.stringContaining('"type": "string", "integer" or "boolean"'),
      })
    },
  )

  test('names that differ only in case are refused', () => {
    const twice = {
      a: { type: 'string', 'x-mcp-header': 'Same' },
      b: { type: 'string', 'x-mcp-header': 'SAME' },
    }
    expect(paramHeadersOf({ properties: twice })).toMatchObject({
      problem: expect.stringContaining('repeats the name "SAME"'),
    })
  })

  const marked = { type: 'string', 'x-mcp-header': 'A' }
  const unreachable: readonly object[] = [
    marked,
    { properties: { a: { items: marked } } },
    { properties: { a: { items: [marked] } } },
    { properties: { a: { prefixItems: [marked] } } },
    { properties: { a: { items: { properties: { b: marked } } } } },
    { allOf: [{ properties: { a: marked } }] },
    { anyOf: [{}, { properties: { a: marked } }] },
    { oneOf: [{ properties: { a: marked } }] },
    { not: { properties: { a: marked } } },
    ...['if', 'then', 'else'].map((keyword) => ({ [keyword]: { properties: { a: marked } } })),
    { $defs: { a: marked } },
    { definitions: { a: { properties: { a: marked } } } },
    { additionalProperties: marked },
    { patternProperties: { '^a': marked } },
    { dependentSchemas: { a: { properties: { a: marked } } } },
  ]
  test.each(unreachable.map((found) => [found]))(
    'an annotation that properties alone do not reach is refused: %j',
    (found) => {
      expect(paramHeadersOf(found)).toMatchObject({
        problem: expect.stringContaining('reachable through "properties" alone'),
      })
    },
  )

  test('a bottomless schema is refused', () => {
    const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ properties: { a: inner } }), {})
    expect(paramHeadersOf(deep)).toMatchObject({ problem: expect.stringContaining('deeper') })
  })
})

describe('comparing', () => {
  const check = (args: unknown, headers: Readonly<Record<string, string>>): unknown => {
    const map = new Map(Object.entries(headers))
    const header: HeaderLookup = (name) => map.get(name)
    return checkParamHeaders(params, args, header)
  }

  test('headers that repeat the arguments are accepted', () => {
    const headers = { 'mcp-param-region': 'eu', 'mcp-param-limit': '10', 'mcp-param-dry-run': 'true' }
    expect(check({ region: 'eu', limit: 10, nested: { dry: true } }, headers)).toBeUndefined()
  })

  test('an absent or null argument needs no header [R120]', () => {
    for (const args of [
      undefined,
      null,
      {},
      { region: null },
      { nested: null },
      { nested: 7 },
      { nested: {} },
      [],
    ]) {
      expect(check(args, {})).toBeUndefined()
    }
  })

  test('a missing header is refused while the body has the value [R120]', () => {
    expect(check({ region: 'eu' }, {})).toEqual({ header: 'Mcp-Param-Region', reason: 'is missing' })
    expect(check({ region: '' }, {})).toEqual({ header: 'Mcp-Param-Region', reason: 'is missing' })
    expect(check({ limit: 0 }, {})).toEqual({ header: 'Mcp-Param-Limit', reason: 'is missing' })
    expect(check({ nested: { dry: false } }, {})).toEqual({
      header: 'Mcp-Param-Dry-Run',
      reason: 'is missing',
    })
  })

  test('a different header is refused, whatever its case [R115] [R120]', () => {
    for (const region of ['us', 'EU', 'e', '']) {
      expect(check({ region: 'eu' }, { 'mcp-param-region': region })).toMatchObject({
        reason: 'differs from the body',
      })
    }
    expect(check({ nested: { dry: true } }, { 'mcp-param-dry-run': 'True' })).toMatchObject({
      reason: 'differs from the body',
    })
  })

  test('a header for an argument that the body does not have is refused [R120]', () => {
    for (const args of [{}, { region: null }, { region: ['eu'] }]) {
      expect(check(args, { 'mcp-param-region': 'eu' })).toEqual({
        header: 'Mcp-Param-Region',
        reason: 'repeats an argument that is not in the body',
      })
    }
  })

  test('base64 is decoded strictly before comparing [R116] [R120]', () => {
    expect(check({ region: 'Zürich' }, { 'mcp-param-region': '=?base64?WsO8cmljaA==?=' })).toBeUndefined()
    expect(check({ region: 'Zürich' }, { 'mcp-param-region': '=?base64?WsO8cmljaA?=' })).toMatchObject({
      reason: expect.stringContaining('=?base64?'),
    })
  })

  test('integers are compared by value', () => {
    for (const text of ['42', '42.0', '4.2e1', ' 42 ', '=?base64?NDI=?=']) {
      expect(check({ limit: 42 }, { 'mcp-param-limit': text })).toBeUndefined()
    }
    for (const text of ['43', '042', '+42', '0x2a', '42abc', '', '4 2', 'NaN']) {
      expect(check({ limit: 42 }, { 'mcp-param-limit': text })).toMatchObject({
        reason: 'differs from the body',
      })
    }
    expect(check({ limit: 0 }, { 'mcp-param-limit': '' })).toMatchObject({ reason: 'differs from the body' })
  })

  test('an integer beyond 2^53 - 1 is not compared', () => {
    expect(check({ limit: 2 ** 53 }, {})).toBeUndefined()
    expect(check({ limit: 2 ** 53 }, { 'mcp-param-limit': '9007199254740993' })).toBeDefined()
  })

  test('inherited properties are no arguments', () => {
    const odd = paramHeadersOf({
      properties: {
        constructor: { type: 'object', properties: { name: { type: 'string', 'x-mcp-header': 'N' } } },
      },
    })
    expect(checkParamHeaders(odd as readonly ParamHeader[], {}, () => undefined)).toBeUndefined()
  })
})

describe('sending', () => {
  test('arguments are mirrored, absent and null ones left out [R118]', () => {
    expect(
      toParamHeaders(params, { region: 'Zürich', limit: -7, nested: { dry: false }, plain: 'x' }),
    ).toEqual([
      ['Mcp-Param-Region', '=?base64?WsO8cmljaA==?='],
      ['Mcp-Param-Limit', '-7'],
      ['Mcp-Param-Dry-Run', 'false'],
    ])
    expect(toParamHeaders(params, { region: null, limit: 2 ** 53, nested: [] })).toEqual([])
    expect(toParamHeaders(params, undefined)).toEqual([])
  })

  test('what is sent is accepted [R118] [R120]', () => {
    const args = fc.record(
      {
        region: fc.option(fc.string({ unit: 'binary' })),
        limit: fc.option(fc.maxSafeInteger()),
        nested: fc.record({ dry: fc.boolean() }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(args, (sent) => {
        const headers = new Map(
          toParamHeaders(params, sent).map(([name, value]) => [name.toLowerCase(), value]),
        )
        expect(checkParamHeaders(params, sent, (name) => headers.get(name))).toBeUndefined()
      }),
    )
  })
})
