import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inspect } from './inspect.ts'
import { SchemaError } from './schema-error.ts'

function refusal(schema: unknown, options?: Parameters<typeof inspect>[1]): SchemaError {
  try {
    inspect(schema, options)
  } catch (thrown) {
    if (thrown instanceof SchemaError) return thrown
    throw thrown
  }
  throw new Error('the schema was accepted')
}

test('a schema that passes is returned unchanged', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: ['string', 'null'] }, b: true },
    required: ['a'],
    'x-note': { any: [1] },
  }
  expect(inspect(schema, { root: 'object' })).toBe(schema)
})

test.each([null, 1, 'object', [], undefined, true, () => 1])(
  'what is no schema object is refused: %s',
  (schema) => {
    expect(refusal(schema).pointer).toBe('#')
  },
)

test('data may name the same object twice side by side, but not inside itself', () => {
  const shared = { deep: [1] }
  expect(() => inspect({ default: [shared, shared], examples: [shared] })).not.toThrow()
  const circular: unknown[] = []
  circular.push(circular)
  expect(refusal({ default: circular }).pointer).toBe('#/default/0')
})

test('a long list of values is not a deep one', () => {
  expect(() => inspect({ enum: Array.from({ length: 1000 }, (_, at) => [at]) })).not.toThrow()
})

const MALFORMED: readonly (readonly [schema: unknown, pointer: string])[] = [
  [{ type: 'strng' }, '#/type'],
  [{ type: [] }, '#/type'],
  [{ type: ['string', 5] }, '#/type'],
  [{ type: null }, '#/type'],
  [{ properties: [] }, '#/properties'],
  [{ properties: { a: 'string' } }, '#/properties/a'],
  [{ properties: { a: null } }, '#/properties/a'],
  [{ properties: { 'a/b~c': { type: 'x' } } }, '#/properties/a~1b~0c/type'],
  [{ required: true }, '#/required'],
  [{ required: ['a', 1] }, '#/required'],
  [{ enum: 'a' }, '#/enum'],
  [{ enum: [] }, '#/enum'],
  [{ enum: [() => 1] }, '#/enum/0'],
  [{ default: Number.NaN }, '#/default'],
  [{ const: 1n }, '#/const'],
  [{ items: 'string' }, '#/items'],
  [{ items: [{ type: 'string' }] }, '#/items'],
  [{ not: [{}] }, '#/not'],
  [{ anyOf: {} }, '#/anyOf'],
  [{ allOf: [] }, '#/allOf'],
  [{ oneOf: [{ type: 'string' }, 4] }, '#/oneOf/1'],
  [{ minLength: -1 }, '#/minLength'],
  [{ maxLength: '1); process.exit(' }, '#/maxLength'],
  [{ minItems: 1.5 }, '#/minItems'],
  [{ minimum: '0' }, '#/minimum'],
  [{ exclusiveMinimum: true }, '#/exclusiveMinimum'],
  [{ multipleOf: 0 }, '#/multipleOf'],
  [{ uniqueItems: 'yes' }, '#/uniqueItems'],
  [{ pattern: 5 }, '#/pattern'],
  [{ description: {} }, '#/description'],
  [{ dependentRequired: { a: 'b' } }, '#/dependentRequired'],
  [{ $schema: 'http://json-schema.org/draft-03/schema#' }, '#/$schema'],
  [{ $defs: { a: { $id: 'other' } } }, '#/$defs/a/$id'],
]

test.each(MALFORMED)('a malformed schema is refused with the place: %o at %s', (schema, pointer) => {
  expect(refusal(schema).pointer).toBe(pointer)
})

test('the message says the problem and the fix', () => {
  expect(refusal({ properties: { city: { type: 'strng' } } }).message).toBe(
    'the schema at #/properties/city/type is the unknown type "strng". Use object, array, string, number, integer, boolean, null, or a list of them.',
  )
})

test('a list of item schemas is read where the dialect has it', () => {
  const items = [{ type: 'string' }]
  expect(inspect({ $schema: 'http://json-schema.org/draft-07/schema#', items })).toBeDefined()
  expect(refusal({ items }).fix).toContain('prefixItems')
})

test('the root of an input must say that it is an object [R141]', () => {
  expect(refusal({}, { root: 'object' }).fix).toContain('type: "object"')
  expect(refusal({ type: 'string' }, { root: 'object' }).problem).toContain('object')
  expect(refusal({ type: ['object', 'null'] }, { root: 'object' }).problem).toContain('object')
})

test('keywords that are undefined count as absent', () => {
  expect(inspect({ type: 'object', description: undefined, properties: undefined })).toBeDefined()
})

describe('references', () => {
  test.each(['#', '#/$defs/x', '#/$defs/a~1b%20c', '#named', '#/properties/k'])(
    '%s is followed',
    (reference) => {
      const schema = {
        $defs: { x: {}, 'a/b c': { $anchor: 'named' } },
        properties: { k: { items: { $ref: reference } } },
      }
      expect(inspect(schema)).toBe(schema)
    },
  )

  test.each([
    'https://example.com/s.json',
    'other.json',
    'other.json#/x',
    '#/$defs/none',
    '#none',
    '#/$defs/constructor',
    '#/$defs/__proto__',
    '#/title',
    '#/enum/0',
    '#/%',
    '#/x-parts/a',
    '//host/s',
  ])('%s is refused with the place', (reference) => {
    const error = refusal({
      title: 't',
      enum: [{ type: 'x' }],
      $defs: { x: {} },
      'x-parts': { a: {} },
      properties: { k: { $ref: reference } },
    })
    expect(error.pointer).toBe('#/properties/k/$ref')
    expect(error.fix).toContain('$defs')
  })

  test('a remote dynamic reference is refused too', () => {
    expect(refusal({ $dynamicRef: 'https://example.com#a' }).pointer).toBe('#/$dynamicRef')
  })

  test('a reference that leads back to itself at the same value is refused', () => {
    expect(refusal({ $ref: '#' }).problem).toContain('without end')
    expect(
      refusal({ $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } })
        .problem,
    ).toContain('without end')
  })

  test('references that multiply without bound are refused', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } }
    for (let at = 1; at <= 30; at++)
      $defs[`d${at}`] = { anyOf: [{ $ref: `#/$defs/d${at - 1}` }, { $ref: `#/$defs/d${at - 1}` }] }
    expect(refusal({ $ref: '#/$defs/d30', $defs }).problem).toContain('10000 checks')
  })
})

describe('limits', () => {
  const chain = (levels: number): unknown => (levels === 1 ? {} : { items: chain(levels - 1) })
  const wide = (count: number): unknown => ({ anyOf: Array.from({ length: count - 1 }, () => ({})) })

  test.each([63, 64])('%d levels pass', (levels) => {
    expect(inspect(chain(levels))).toBeDefined()
  })
  test.each([65, 5000])('%d levels are refused', (levels) => {
    let schema: unknown = {}
    for (let level = 1; level < levels; level++) schema = { items: schema }
    expect(refusal(schema).problem).toContain('64 levels')
  })
  test.each([1999, 2000])('%d subschemas pass', (count) => {
    expect(inspect(wide(count))).toBeDefined()
  })
  test.each([2001, 50_000])('%d subschemas are refused', (count) => {
    expect(refusal(wide(count)).problem).toContain('2000 subschemas')
  })

  test('values in the schema are bounded too', () => {
    let deep: unknown = 1
    for (let level = 0; level < 5000; level++) deep = [deep]
    expect(refusal({ default: deep }).problem).toContain('levels')
    expect(refusal({ enum: Array.from({ length: 100_001 }, (_, at) => at) }).problem).toContain('values')
  })

  test('an object that contains itself is refused', () => {
    const properties: Record<string, unknown> = {}
    const schema = { type: 'object', properties }
    properties['self'] = schema
    expect(refusal(schema).fix).toContain('$ref')
    const loop: unknown[] = []
    loop.push(loop)
    expect(refusal({ examples: loop }).pointer).toBe('#/examples/0')
  })

  test('one object used in two places is not a cycle', () => {
    const shared = { type: 'string' }
    expect(inspect({ properties: { a: shared, b: shared } })).toBeDefined()
  })
})

describe('patterns', () => {
  test.each(['^(a+)+$', '(a|a)*b', '(.*)*$'])('%s is refused with the place', (pattern) => {
    expect(refusal({ properties: { a: { pattern } } })).toMatchObject({
      pointer: '#/properties/a/pattern',
      fix: expect.stringContaining('^'),
    })
    expect(refusal({ patternProperties: { [pattern]: {} } }).problem).toContain('pattern')
  })

  test('a pattern for keys must be linear', () => {
    expect(refusal({ patternProperties: { '[a-z]+$': {} } }).problem).toContain('grows faster')
    expect(inspect({ patternProperties: { '^[a-z]+$': {} } })).toBeDefined()
  })

  test('patterns that nobody matches are not judged', () => {
    expect(inspect({ pattern: '^(a+)+$' }, { costOf: () => undefined })).toBeDefined()
  })
})

test('names that objects inherit are names like any other', () => {
  const text =
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__","toString"],"$defs":{"__proto__":{"type":"x"}}}'
  expect(refusal(JSON.parse(text)).pointer).toBe('#/$defs/__proto__/type')
})

test('whatever JSON comes, it passes or is a SchemaError', () => {
  const keyword = fc.constantFrom(
    'type', 'properties', 'required', 'items', 'prefixItems', 'enum', 'const', '$ref', '$defs', 'anyOf', 'allOf', 'not', 'pattern',
    'patternProperties', 'additionalProperties', 'minLength', 'minimum', '$anchor', '$dynamicRef', '$schema', '$id', 'dependencies', '__proto__', 'if',
  ) // oxfmt-ignore
  const leaf = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('object', 'string', '#', '#/$defs/a', '#a', '^(a+)+$', ['a'], {}, true),
  )
  const schemaOf = (depth: number): fc.Arbitrary<unknown> => {
    if (depth === 0) return leaf
    const sub = schemaOf(depth - 1)
    const value = fc.oneof(
      sub,
      fc.array(sub, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), sub),
    )
    return fc.oneof(
      { weight: 1, arbitrary: leaf },
      { weight: 3, arbitrary: fc.dictionary(keyword, value, { maxKeys: 3 }) },
    )
  }
  fc.assert(
    fc.property(schemaOf(4), (value) => {
      let thrown: unknown
      try {
        inspect(value)
      } catch (error) {
        thrown = error
      }
      expect(thrown === undefined || thrown instanceof SchemaError).toBe(true)
    }),
    { numRuns: 800 },
  )
})

test('a reference of 2019-09 that would not be followed is rejected, and says what to write instead', () => {
  const schema = (dialect: string): object => ({
    $schema: `https://json-schema.org/draft/${dialect}/schema`,
    properties: { child: { $recursiveRef: '#' } },
  })
  const { message, pointer } = refusal(schema('2019-09'))
  expect(pointer).toBe('#/properties/child/$recursiveRef')
  expect(message).toContain('Write $ref: "#" instead')
  expect(() => inspect(schema('2020-12'))).not.toThrow()
})
