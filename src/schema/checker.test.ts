import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'
import { processorMs } from '../../test/harness/processor.ts'

function refusal(schema: unknown, use: 'input' | 'output' = 'input'): SchemaError {
  try {
    toChecker(schema as AnySchema, use)
  } catch (thrown) {
    if (thrown instanceof SchemaError) return thrown
    throw thrown
  }
  throw new Error('the schema was accepted')
}

const RAW = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 14 } },
  required: ['city'],
} as const

const FAMILIES: readonly (readonly [name: string, schema: AnySchema])[] = [
  ['zod', z.object({ city: z.string(), days: z.int().max(14).optional() })],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(14))) }),
    ),
  ],
  ['arktype', type({ city: 'string', 'days?': 'number.integer <= 14' })],
  ['raw', RAW],
]

describe.each(FAMILIES)('%s', (_, schema) => {
  const checker = toChecker(schema, 'input')

  test('shows an object with its properties and no dialect of ours', () => {
    expect(checker.json).toMatchObject({
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' } },
    })
    expect(checker.json).not.toHaveProperty('$schema')
    expect(Object.keys(checker.json.properties!).toSorted()).toEqual(['city', 'days'])
  })

  test('answers at once and passes a good value on', () => {
    expect(checker.check({ city: 'Oslo', days: 3 })).toEqual({ ok: true, value: { city: 'Oslo', days: 3 } })
  })

  test('names path and problem of the first few issues in one line', async () => {
    const checked = await checker.check({ city: 4, days: 20 })
    expect(checked).toMatchObject({
      ok: false,
      issue: expect.stringMatching(/^city: .*string.*; days: .*14/),
    })
    expect(checked).toMatchObject({ issue: expect.not.stringContaining('\n') })
  })

  test('says what a missing property is called', async () => {
    expect(await checker.check({})).toMatchObject({ ok: false, issue: expect.stringMatching(/^city: /) })
  })

  test.each([null, 5, 'text', true, undefined])('refuses %o without a path', async (value) => {
    expect(await checker.check(value)).toMatchObject({
      ok: false,
      issue: expect.stringMatching(/object|Object/),
    })
  })

  test('never repeats a long value', async () => {
    const long = 'x'.repeat(100_000)
    for (const value of [{ city: 'a', days: long }, { city: 'a', days: { [long]: long } }, long]) {
      const checked = (await checker.check(value)) as { issue: string }
      expect(checked.issue.length).toBeLessThan(400)
      expect(checked.issue).not.toContain('x'.repeat(90))
    }
  })

  test('is made once for each side', () => {
    expect(toChecker(schema, 'input')).toBe(checker)
    expect(toChecker(schema, 'input').json).toBe(checker.json)
    expect(toChecker(schema, 'output')).toBe(toChecker(schema, 'output'))
  })
})

describe('sides', () => {
  const withDefault: readonly (readonly [string, AnySchema])[] = [
    ['zod', z.object({ n: z.number().default(3) })],
    ['valibot', toStandardJsonSchema(v.object({ n: v.optional(v.number(), 3) }))],
    ['arktype', type({ n: 'number = 3' })],
  ]
  test.each(withDefault)(
    'a default of %s is optional to the caller and given to the handler',
    (_, schema) => {
      const checker = toChecker(schema, 'input')
      expect(checker.json.required ?? []).toEqual([])
      expect(checker.check({})).toEqual({ ok: true, value: { n: 3 } })
    },
  )

  test('the output side of zod shows a default as present', () => {
    expect(toChecker(z.object({ n: z.number().default(3) }), 'output').json.required).toEqual(['n'])
  })

  test('a transform is shown as what callers send and delivered as its result', () => {
    const checker = toChecker(z.object({ n: z.string().transform(Number) }), 'input')
    expect(checker.json).toMatchObject({ properties: { n: { type: 'string' } } })
    expect(checker.check({ n: '4' })).toEqual({ ok: true, value: { n: 4 } })
  })

  test('an output may be anything, an input must be an object [R141]', () => {
    expect(toChecker(z.string(), 'output').check('a')).toEqual({ ok: true, value: 'a' })
    expect(refusal(z.string()).problem).toContain('object')
    expect(refusal({ type: 'array' }).problem).toContain('object')
    expect(refusal(type('string')).fix).toContain('type: "object"')
  })

  test('a union of objects is shown as an object', () => {
    const union = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b'), n: z.number() }),
    ])
    expect(toChecker(union, 'input').json.type).toBe('object')
    expect(toChecker(type({ a: 'string' }).or({ b: 'number' }), 'input').json.type).toBe('object')
    expect(refusal(z.union([z.object({}), z.string()])).problem).toContain('object')
  })
})

describe('waiting', () => {
  test('a refinement that waits gives a promise, others do not', async () => {
    const checker = toChecker(
      z.object({ a: z.string().refine(async (a) => a === 'yes', 'say yes') }),
      'input',
    )
    const checked = checker.check({ a: 'no' })
    expect(checked).toBeInstanceOf(Promise)
    expect(await checked).toMatchObject({ ok: false, issue: 'a: say yes' })
    expect(await checker.check({ a: 'yes' })).toEqual({ ok: true, value: { a: 'yes' } })
  })

  test('a valibot schema that waits is served too', async () => {
    const schema = v.objectAsync({
      a: v.pipeAsync(
        v.string(),
        v.checkAsync(async (a) => a === 'yes', 'say yes'),
      ),
    })
    const shown = {
      '~standard': {
        ...schema['~standard'],
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    }
    expect(await toChecker(shown, 'input').check({ a: 'no' })).toMatchObject({
      ok: false,
      issue: 'a: say yes',
    })
  })

  test('what a refinement throws is not swallowed', async () => {
    const checker = toChecker(
      z.object({
        a: z.string().refine(() => {
          throw new Error('broken')
        }),
      }),
      'input',
    )
    await expect((async () => checker.check({ a: 'x' }))()).rejects.toThrow('broken')
  })

  test('a JSON Schema of any kind answers at once', () => {
    const checker = toChecker({ type: 'object', properties: { a: { anyOf: [{ pattern: '^x' }] } } }, 'input')
    expect(checker.check({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
    expect(checker.check({ a: 'y' })).toMatchObject({ ok: false, issue: 'a: must match the pattern ^x' })
  })
})

describe('refusals', () => {
  test('the error for bare valibot says how to wrap it', () => {
    expect(refusal(v.object({})).message).toBe(
      'the schema of valibot cannot be converted to JSON Schema. Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema.',
    )
  })

  test('an unknown library without JSON Schema is refused', () => {
    expect(
      refusal({ '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } }).fix,
    ).toContain('raw JSON Schema')
  })

  test('what has no JSON Schema is refused with the reason', () => {
    expect(refusal(z.object({ at: z.date() })).message).toMatch(/zod.*Date.*ISO date string/)
    expect(refusal(z.object({ n: z.string().transform(Number) }), 'output').message).toMatch(
      /output.*Transforms.*transforms/,
    )
    expect(refusal(z.object({ at: z.date() })).cause).toBeInstanceOf(Error)
  })

  test('a conversion that lost the schema is refused', () => {
    const lost = (json: object): AnySchema => ({
      '~standard': {
        ...z.object({ a: z.string() })['~standard'],
        jsonSchema: { input: () => ({ ...json }), output: () => ({ ...json }) },
      },
    })
    expect(refusal(lost({ type: 'object', properties: {} })).fix).toContain('one copy')
    expect(refusal(lost({}), 'output').problem).toContain('empty JSON Schema')
    expect(
      refusal(lost({ $schema: 'https://json-schema.org/draft/2020-12/schema' }), 'output').problem,
    ).toContain('empty')
  })

  test('a schema that is empty on purpose is served', () => {
    expect(toChecker(z.object({}), 'input').check({})).toEqual({ ok: true, value: {} })
    expect(toChecker(z.looseObject({}), 'input').check({ a: 1 })).toEqual({ ok: true, value: { a: 1 } })
    expect(toChecker(z.unknown(), 'output').check(1)).toEqual({ ok: true, value: 1 })
    expect(toChecker({ type: 'object' }, 'input').check({ a: 1 })).toEqual({ ok: true, value: { a: 1 } })
  })

  test('patterns must be safe, whoever matches them', () => {
    const place = '#/properties/a/pattern'
    expect(refusal(z.object({ a: z.string().regex(/^(a+)+$/) })).pointer).toBe(place)
    expect(refusal({ type: 'object', properties: { a: { pattern: '^(a+)+$' } } }).pointer).toBe(place)
  })

  test.each([null, undefined, 5, 'x', [], () => 1])('%s is no schema', (schema) => {
    expect(refusal(schema)).toBeInstanceOf(SchemaError)
  })
})

describe('raw JSON Schema', () => {
  test('is shown exactly as given and read as 2020-12 [R153]', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { t: { prefixItems: [{ type: 'string' }], items: false } },
    }
    const checker = toChecker(schema, 'input')
    expect(checker.json).toBe(schema)
    expect(await checker.check({ t: ['a'] })).toMatchObject({ ok: true })
    expect(await checker.check({ t: ['a', 'b'] })).toMatchObject({ ok: false, issue: 't[1]: is not allowed' })
  })

  const EXPLAINED: readonly (readonly [schema: object, value: unknown, issue: string])[] = [
    [
      { properties: { a: { enum: ['x', 'y'] } } },
      { a: 'z' },
      'a: expected one of "x", "y", got something else',
    ],
    [{ properties: { a: { const: 1 } } }, { a: 2 }, 'a: expected 1, got something else'],
    [{ properties: { a: { type: ['string', 'null'] } } }, { a: [] }, 'a: expected string or null, got array'],
    [{ properties: { a: { minLength: 2 } } }, { a: '😀' }, 'a: must have at least 2 characters'],
    [{ properties: { a: { maxLength: 1 } } }, { a: 'ab' }, 'a: must have at most 1 characters'],
    [
      { properties: { a: { exclusiveMinimum: 0, multipleOf: 2 } } },
      { a: -1 },
      'a: must be > 0; a: must be a multiple of 2',
    ],
    [{ additionalProperties: false }, { 'b c': 1 }, '"b c": is not a known property'],
    [{ additionalProperties: { type: 'string' } }, { b: 1 }, 'b: expected string, got number'],
    [
      { properties: { l: { items: { properties: { n: { type: 'number' } } } } } },
      { l: [{}, { n: 'x' }] },
      'l[1].n: expected number, got string',
    ],
    [{ properties: { l: { minItems: 1, maxItems: 2 } } }, { l: [] }, 'l: must have at least 1 items'],
    [{ $defs: { d: { required: ['k'] } }, allOf: [{ $ref: '#/$defs/d' }] }, {}, 'k: is required'],
    [
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      'matches none of the 2 allowed shapes; a: is required',
    ],
    [{ not: {} }, {}, 'does not match the schema'],
    [
      { uniqueItems: true, properties: { l: { uniqueItems: true } } },
      { l: [1, 1] },
      'does not match the schema',
    ],
    [{ required: ['a', 'b', 'c', 'd'] }, {}, 'a: is required; b: is required; c: is required'],
    [
      { properties: { a: { pattern: '[a-z]+$' } } },
      { a: 'a'.repeat(5000) },
      'a: must have at most 4093 characters',
    ],
    [
      { not: { properties: { a: { pattern: '[a-z]+$' } } } },
      { a: 'a'.repeat(5000) },
      'has a string of more than 4093 characters for the pattern [a-z]+$',
    ],
    [
      { additionalProperties: { pattern: '[a-z]+$' } },
      Object.fromEntries('abcdefgh'.split('').map((name) => [name, 'a'.repeat(4093)])),
      'has too many long strings for its patterns',
    ],
  ]
  test.each(EXPLAINED)('%o refuses %o with a readable line', async (schema, value, issue) => {
    expect(await toChecker({ type: 'object', ...schema }, 'input').check(value)).toMatchObject({
      ok: false,
      issue,
    })
  })

  test('names that objects inherit are ordinary', async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
    ) as AnySchema
    const checker = toChecker(schema, 'input')
    expect(await checker.check({})).toMatchObject({ ok: false, issue: '__proto__: is required' })
    expect(checker.check(JSON.parse('{"__proto__":"a"}'))).toMatchObject({ ok: true })
    expect(await checker.check(JSON.parse('{"__proto__":1,"constructor":"c"}'))).toMatchObject({
      ok: false,
      issue: '__proto__: expected string, got number; constructor: expected number, got string',
    })
  })

  test('a value made to branch without end is refused in bounded time', async () => {
    const branches = ['and', 'or', 'xor', 'nor', 'nand'].map((op) => ({
      required: [op],
      properties: { [op]: { type: 'array', items: { $ref: '#' } }, alt: { $ref: '#' } },
    }))
    let value: unknown = 5
    for (let level = 0; level < 60; level++) value = { alt: value }
    const checker = toChecker({ type: 'object', oneOf: branches }, 'input')
    const ms = await processorMs(async () => {
      expect(await checker.check(value)).toMatchObject({ ok: false })
    })
    expect(ms).toBeLessThan(2000)
  })
})

test('a problem that the library cannot describe is still an answer', () => {
  const message = (): string => {
    throw new Error('no words')
  }
  const checked = toChecker(type({ a: type('string').configure({ message }) }) as AnySchema, 'input').check({
    a: 1,
  })
  expect(checked).toMatchObject({ ok: false, issue: 'a: is not valid' })
})

test('alternatives for a member called __proto__ are described', () => {
  const schema = type({ '[string]': 'string.numeric | string.date.iso' })
  const value: unknown = JSON.parse('{"__proto__":true}')
  expect(toChecker(schema as AnySchema, 'input').check(value)).toMatchObject({
    ok: false,
    issue: '__proto__: __proto__ must be a string (was boolean)',
  })
})

test('a problem of a whole value has no path', async () => {
  const schema = type({ a: 'number' }).narrow((_, ctx) => ctx.mustBe('even'))
  expect(await toChecker(schema as AnySchema, 'input').check({ a: 1 })).toMatchObject({
    ok: false,
    issue: expect.stringMatching(/^must be even/) as string,
    first: { path: [] },
  })
})
