import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countPoints, toDirectTest } from './direct.ts'
import { inspect } from './inspect.ts'
import { compile } from './typebox.ts'

const small = fc.integer({ min: -3, max: 3 })
const number = fc.record(
  { minimum: small, maximum: small, exclusiveMinimum: small, exclusiveMaximum: small },
  { requiredKeys: [] },
)
const size = fc.record(
  { minLength: fc.nat(3), maxLength: fc.nat(3), minItems: fc.nat(2), maxItems: fc.nat(2) },
  { requiredKeys: [] },
)
const values = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ const: fc.constantFrom('a', 1, true) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      enum: fc.array(fc.constantFrom('a', '', 1, 0, null, true), { minLength: 1, maxLength: 3 }),
    }),
  },
)
const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const type = fc.oneof(
  fc.constant({}),
  fc.record({ type: typeName }),
  fc.record({ type: fc.array(typeName, { minLength: 1, maxLength: 3 }) }),
)
const name = fc.constantFrom('a', 'b', 'toString', 'constructor', '__proto__')

function schemaOf(depth: number): fc.Arbitrary<Record<string, unknown>> {
  const notes = fc.record({ format: fc.constant('email'), title: fc.constant('t') }, { requiredKeys: [] })
  const rest = fc.record(
    { required: fc.array(name, { maxLength: 2 }), additionalProperties: fc.boolean() },
    { requiredKeys: [] },
  )
  const parts: fc.Arbitrary<object>[] = [type, values, number, size, notes, rest]
  if (depth > 0) {
    const sub = schemaOf(depth - 1)
    const properties = fc.dictionary(name, sub, { noNullPrototype: true, maxKeys: 3 })
    parts.push(fc.record({ properties, items: sub }, { requiredKeys: [] }))
  }
  return fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Record<string, unknown>)
}

function valueOf(depth: number): fc.Arbitrary<unknown> {
  const leaf = fc.constantFrom<unknown>('', 'a', 'ab', '😀', '😀😀', 0, 1, -1, 1.5, 4, null, true, false)
  if (depth === 0) return leaf
  const sub = valueOf(depth - 1)
  return fc.oneof(
    leaf,
    fc.array(sub, { maxLength: 3 }),
    fc.dictionary(name, sub, { noNullPrototype: true, maxKeys: 3 }),
  )
}

describe('the direct check', () => {
  test('agrees with the full validator on every schema that it takes', () => {
    let taken = 0
    fc.assert(
      fc.property(schemaOf(2), fc.array(valueOf(2), { minLength: 8, maxLength: 8 }), (schema, values) => {
        const direct = toDirectTest(schema)
        if (direct === undefined) return
        taken++
        const full = compile(inspect(schema))
        for (const value of values) expect([value, direct(value)]).toEqual([value, full(value)])
      }),
      { numRuns: 700 },
    )
    expect(taken).toBeGreaterThan(300)
  })

  test('takes everyday schemas and annotations', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        q: { type: 'string', minLength: 1, format: 'uri' },
        tags: { type: 'array', items: { enum: ['x', 'y'] } },
        n: true,
      },
      required: ['q'],
      additionalProperties: false,
      'x-note': 1,
    }
    const fits = toDirectTest(schema)!
    expect(fits({ q: 'a', tags: ['x'], n: {} })).toBe(true)
    expect(fits({ q: 'a', tags: ['z'] })).toBe(false)
    expect(fits({ q: 'a', more: 1 })).toBe(false)
    expect(fits({})).toBe(false)
  })

  test.each([
    { pattern: 'a' },
    { anyOf: [{}] },
    { $ref: '#' },
    { additionalProperties: { type: 'string' } },
    { uniqueItems: true },
    { enum: [{}] },
    { properties: { a: { not: {} } } },
    { items: false },
  ])('leaves to the full validator what it does not know: %o', (schema) => {
    expect(toDirectTest(schema)).toBeUndefined()
  })

  test('counts characters as code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(countPoints(text)).toBe(Array.from(text).length)
      }),
    )
  })
})

describe('the full validator', () => {
  const check = (schema: unknown, value: unknown): boolean => compile(inspect(schema))(value)

  test('takes formats as annotations', () => {
    expect(check({ format: 'email' }, 'no address')).toBe(true)
  })

  test('follows pointers, anchors and dynamic references', () => {
    const schema = {
      $defs: { 'a/b %': { $anchor: 'it', type: 'string' } },
      properties: { p: { $ref: '#/$defs/a~1b%20%25' }, q: { $ref: '#it' } },
    }
    expect(check(schema, { p: 'x', q: 'y' })).toBe(true)
    expect(check(schema, { p: 1 })).toBe(false)
    expect(check(schema, { q: 1 })).toBe(false)
    const tree = {
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { kids: { type: 'array', items: { $dynamicRef: '#node' } } },
    }
    expect(check(tree, { kids: [{ kids: [] }] })).toBe(true)
    expect(check(tree, { kids: [{ kids: [1] }] })).toBe(false)
  })

  test('gives inherited names no meaning', () => {
    for (const name of ['toString', 'valueOf', 'hasOwnProperty', 'constructor', '__proto__']) {
      const properties = JSON.parse(`{"${name}":{"type":"string","pattern":"^a"}}`) as unknown
      expect(check({ properties }, {})).toBe(true)
      expect(check({ required: [name], pattern: 'a' }, {})).toBe(false)
      expect(check({ properties, required: [name] }, JSON.parse(`{"${name}":"a"}`))).toBe(true)
      expect(check({ properties }, JSON.parse(`{"${name}":"b"}`))).toBe(false)
    }
  })

  test('gives keywords of its own library no meaning', () => {
    expect(check({ '~refine': [{ refine: 'x' }], '~kind': 'Never', '~unsafe': 1, anyOf: [{}] }, 1)).toBe(true)
  })

  test('reads a list of item schemas of earlier dialects', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: false,
    }
    expect(check(schema, ['a'])).toBe(true)
    expect(check(schema, ['a', 1])).toBe(false)
  })

  test('copes with schemas as wide and as deep as the limits allow', () => {
    const names = Array.from({ length: 1999 }, (_, at) => `k${at}`)
    const wide = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', pattern: '^a' }])),
    }
    expect(check(wide, { k7: 'a' })).toBe(true)
    expect(check(wide, { k1998: 'b' })).toBe(false)
    let deep: unknown = { pattern: '^a' }
    for (let level = 1; level < 64; level++) deep = { items: deep }
    expect(check(deep, [[['b']]])).toBe(true)
  })

  test('holds a length that no string can have', () => {
    expect(check({ minLength: 2 ** 31, pattern: '' }, 'a')).toBe(false)
  })

  test('matches a quadratic pattern only up to a bounded length', () => {
    expect(check({ pattern: '[a-z]+$' }, 'abc')).toBe(true)
    expect(check({ pattern: '[a-z]+$' }, 'a'.repeat(5000))).toBe(false)
  })
})
