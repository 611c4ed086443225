import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile } from './compile.ts'
import { inspect } from './inspect.ts'
import { TooCostly } from './work.ts'
import { countPoints } from './scalar-rules.ts'

const small = fc.integer({ min: -3, max: 3 })
// The other validator stumbles over names that every object inherits.
const name = fc.constantFrom('a', 'b', 'bar', 'length')
const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const scalar = fc.constantFrom<unknown>('a', '', 1, 0, null, true)
const compound = fc.constantFrom<unknown>([1], [], {}, { a: 1 }, { length: 0 })

/** Now and then some members of each record: schemas that say too much refuse every value. */
function some(...records: readonly Readonly<Record<string, fc.Arbitrary<unknown>>>[]): fc.Arbitrary<object> {
  const parts = records.map((record) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.record({ ...record }, { requiredKeys: [] }) },
    ),
  )
  return fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object)
}

function schemaOf(depth: number): fc.Arbitrary<object> {
  const leaf = some(
    { type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })) },
    { minimum: small, maximum: small, exclusiveMinimum: small, exclusiveMaximum: small },
    { multipleOf: fc.constantFrom(2, 0.5, 0.1) },
    { minLength: fc.nat(3), maxLength: fc.nat(3), pattern: fc.constantFrom('^a', 'b$', '^.$') },
    { minItems: fc.nat(2), maxItems: fc.nat(2), uniqueItems: fc.boolean() },
    { minProperties: fc.nat(2), maxProperties: fc.nat(2), required: fc.uniqueArray(name, { maxLength: 2 }) },
    { format: fc.constant('email'), title: fc.constant('t') },
  )
  const values = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ const: fc.oneof(scalar, compound) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        enum: fc.uniqueArray(fc.oneof(scalar, compound), { minLength: 1, maxLength: 3 }),
      }),
    },
  )
  const both = fc.tuple(leaf, values).map(([one, other]) => ({ ...one, ...other }))
  if (depth === 0) return both
  const sub = fc.oneof({ weight: 5, arbitrary: schemaOf(depth - 1) }, { weight: 1, arbitrary: fc.boolean() })
  const list = fc.array(sub, { minLength: 1, maxLength: 3 })
  const named = fc.dictionary(name, sub, { noNullPrototype: true, maxKeys: 2 })
  const nested = some(
    { properties: named, additionalProperties: sub },
    {
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'r$'), sub, { maxKeys: 2 }),
      propertyNames: sub,
    },
    { allOf: list, anyOf: list },
    { oneOf: list, not: sub },
    { if: sub, ['then' as string]: sub, else: sub },
    {
      dependentSchemas: named,
      dependentRequired: fc.dictionary(name, fc.uniqueArray(name), { maxKeys: 2 }),
    },
    { $ref: fc.constant('#/$defs/other') },
  )
  // Not both: the other validator lets an empty list pass `contains` beside `prefixItems`.
  const lists = fc.oneof(
    some({ items: sub, prefixItems: list }),
    some({ items: sub, contains: sub, minContains: fc.nat(2), maxContains: fc.nat(2) }),
  )
  return fc.tuple(both, nested, lists).map((all) => Object.assign({}, ...all) as object)
}

// Without unevaluatedProperties and unevaluatedItems: the other validator gets some of them wrong.
const rooted = fc
  .tuple(schemaOf(2), schemaOf(0))
  .map(([schema, other]) => ({ ...schema, $defs: { other } }) as Record<string, unknown>)

function valueOf(depth: number): fc.Arbitrary<unknown> {
  const leaf = fc.constantFrom<unknown>('', 'a', 'ab', '😀', '😀😀', 0, 1, -1, 1.5, 0.3, 4, null, true, false)
  if (depth === 0) return leaf
  const sub = valueOf(depth - 1)
  return fc.oneof(
    leaf,
    fc.array(sub, { maxLength: 3 }),
    fc.dictionary(name, sub, { noNullPrototype: true, maxKeys: 3 }),
  )
}

/** The verdict of the other validator; undefined where it breaks down. */
function verdictOf(validate: (value: unknown) => unknown, value: unknown): unknown {
  try {
    return validate(value)
  } catch {
    return undefined
  }
}

test('a check agrees with another validator, whatever the schema', () => {
  const judge = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    logger: false,
  })
  const verdicts = { true: 0, false: 0 }
  fc.assert(
    fc.property(rooted, fc.array(valueOf(2), { minLength: 8, maxLength: 8 }), (schema, values) => {
      const ours = compile(inspect(schema))
      const theirs = judge.compile(schema)
      for (const value of values) {
        expect([value, ours(value)]).toEqual([value, verdictOf(theirs, value) ?? ours(value)])
        verdicts[`${ours(value)}`]++
      }
    }),
    { numRuns: 150 },
  )
  expect(verdicts.true).toBeGreaterThan(100)
  expect(verdicts.false).toBeGreaterThan(100)
})

test('characters are counted as code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(countPoints(text)).toBe(Array.from(text).length)
    }),
  )
})

describe('a check', () => {
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

  test('applies what is left over to what no schema for the same value has evaluated', () => {
    const inner = {
      anyOf: [{ properties: { a: true } }, { patternProperties: { '^b': { type: 'number' } } }],
    }
    const outer = { ...inner, unevaluatedProperties: false }
    expect(check(outer, { a: 1 })).toBe(true)
    expect(check(outer, { a: 1, b: 2 })).toBe(true)
    expect(check(outer, { a: 1, b: 'x' })).toBe(false)
    expect(check(outer, { c: 1 })).toBe(false)
    expect(check({ allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] }, { a: 1 })).toBe(
      false,
    )
    expect(check({ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, { a: 1 })).toBe(
      true,
    )
    expect(check({ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, { a: 1 })).toBe(
      false,
    )
    expect(
      check({ dependentSchemas: { a: { properties: { b: true } } }, unevaluatedProperties: false }, { b: 1 }),
    ).toBe(false)
    expect(check({ additionalProperties: true, unevaluatedProperties: false }, { b: 1 })).toBe(true)
  })

  test('applies what is left over to items that no schema for the same value has evaluated', () => {
    const schema = {
      prefixItems: [{ type: 'string' }],
      contains: { type: 'number' },
      unevaluatedItems: false,
    }
    expect(check(schema, ['a', 1, 2])).toBe(true)
    expect(check(schema, ['a', 1, 'b'])).toBe(false)
    const nested = { anyOf: [{ unevaluatedItems: {} }], unevaluatedItems: false }
    expect(check(nested, [1, 2])).toBe(true)
    const either = { if: { prefixItems: [{ const: 1 }] }, else: { items: true }, unevaluatedItems: false }
    expect(check(either, [1])).toBe(true)
    expect(check(either, [1, 2])).toBe(false)
    expect(check(either, [2, 2])).toBe(true)
  })

  test('counts the items that a schema of contains fits', () => {
    expect(check({ contains: false }, [])).toBe(false)
    expect(check({ prefixItems: [true], contains: true }, [])).toBe(false)
    expect(check({ contains: { type: 'number' }, minContains: 0 }, [])).toBe(true)
    expect(check({ contains: { type: 'number' }, maxContains: 1 }, [1, 2])).toBe(false)
    expect(check({ contains: { type: 'number' }, minContains: 2, maxContains: 2 }, [1, 'a', 2])).toBe(true)
  })

  test('compares items as JSON, whatever the order of their members', () => {
    expect(check({ uniqueItems: true }, [1, true, '1', null, 'null', [1], { a: 1 }, '{"a":1}', '[1]'])).toBe(
      true,
    )
    expect(
      check({ uniqueItems: true }, [
        { a: 1, b: [{ c: 2, d: 3 }] },
        { b: [{ d: 3, c: 2 }], a: 1 },
      ]),
    ).toBe(false)
    expect(check({ uniqueItems: true }, [0, -0])).toBe(false)
    expect(check({ uniqueItems: false }, [1, 1])).toBe(true)
    expect(check({ enum: [{ a: [1] }] }, { a: [1] })).toBe(true)
    expect(check({ const: { length: 0 } }, [])).toBe(false)
    const many = Array.from({ length: 2000 }, (_, at) => `word ${at}`)
    const items = Array.from({ length: 100_000 }, (_, at) => `word ${at % 2000}`)
    expect(check({ items: { enum: many } }, items)).toBe(true)
    expect(check({ items: { enum: many } }, [...items, 'word 2000'])).toBe(false)
  })

  test.each([
    [0.0075, 0.0001, true],
    [0.00751, 0.0001, false],
    [4.5, 1.5, true],
    [35, 1.5, false],
    [12_391_239_123, 1e-8, true],
    [1e308, 0.123456789, false],
    [-0.3, 0.1, true],
    [0, 7, true],
    [1, 1e9, false],
    [5, 1e10, false],
    [1.000_000_000_1, 1, false],
    [0.3, 0.1, true],
    [19.99, 0.01, true],
    [4.35, 0.01, true],
    [123_456_789.01, 0.01, true],
    [123_456_789.015, 0.01, false],
  ])('says of %d as a multiple of %d: %o', (value, multipleOf, verdict) => {
    expect(check({ multipleOf }, value)).toBe(verdict)
  })

  test('reads dependencies of earlier dialects', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      dependencies: { a: ['b'], c: { required: ['d'] } },
    }
    expect(check(schema, { a: 1, b: 1 })).toBe(true)
    expect(check(schema, { a: 1 })).toBe(false)
    expect(check(schema, { c: 1 })).toBe(false)
    expect(check(schema, { c: 1, d: 1 })).toBe(true)
    expect(check({ dependentRequired: { toString: ['b'] } }, {})).toBe(true)
  })

  test('gives unknown keywords no meaning', () => {
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

  test('matches a pattern whose time grows faster than the length only up to a bounded length', () => {
    expect(check({ pattern: '[a-z]+$' }, 'abc')).toBe(true)
    expect(() => check({ pattern: '[a-z]+$' }, 'a'.repeat(5000))).toThrow(TooCostly)
  })
})
