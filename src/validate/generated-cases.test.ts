import { describe, expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generateCases, inputFor } from './generated-cases.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

type Members = Readonly<Record<string, unknown>>

function object(properties: Members, more: Members = {}): Members {
  return { type: 'object', properties, required: Object.keys(properties), ...more }
}

describe('cases from a schema', () => {
  it.each<readonly [string, Members]>([
    ['bounds with fractions', object({ n: { type: 'number', minimum: 0.2, maximum: 0.8 } })],
    ['an exclusive bound', object({ n: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 } })],
    ['exclusive integers', object({ n: { type: 'integer', exclusiveMinimum: 3, exclusiveMaximum: 5 } })],
    ['only an upper bound', object({ n: { type: 'integer', maximum: -7 } })],
    ['steps', object({ n: { type: 'number', multipleOf: 0.25, minimum: 0.3 } })],
    ['several types', object({ n: { type: ['null', 'number'], minimum: 3 } })],
    ['a pattern', object({ id: { type: 'string', pattern: '^[A-Z]{3}-\\d{4,}(x|yy)?$', minLength: 12 } })],
    ['an open pattern', object({ id: { type: 'string', pattern: 'b+', minLength: 5, maxLength: 6 } })],
    [
      'different items',
      object({ l: { type: 'array', items: { type: 'string' }, minItems: 3, uniqueItems: true } }),
    ],
    [
      'different choices',
      object({ l: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, uniqueItems: true } }),
    ],
    [
      'a tuple',
      object({ l: { type: 'array', prefixItems: [{ type: 'number' }, { const: 'x' }], items: false } }),
    ],
    [
      'a reference',
      object({ p: { $ref: '#/$defs/point' } }, { $defs: { point: object({ x: { type: 'number' } }) } }),
    ],
    [
      'recursion',
      { ...object({ n: { type: 'string' } }), properties: { n: { type: 'string' }, child: { $ref: '#' } } },
    ],
    ['all of several', object({ n: { allOf: [{ type: 'integer', minimum: 2 }, { minimum: 5 }] } })],
    ['any of several', object({ n: { anyOf: [false, { type: 'string', minLength: 6 }] } })],
    ['a default that does not fit', object({ n: { type: 'number', default: 'none' } })],
    ['a required member without a schema', { type: 'object', required: ['a'] }],
  ])('fit with %s, and those that are wrong do not', (_, schema) => {
    const check = ajv.compile(schema)
    const { cases, dropped, problem } = generateCases(schema)
    expect({ dropped, problem }).toEqual({ dropped: 0, problem: undefined })
    expect(cases.slice(0, 2).map(({ isWrong }) => isWrong)).toEqual([false, false])
    expect(cases.length).toBeGreaterThan(2)
    for (const { input, isWrong } of cases)
      expect({ input, ok: check(input) }).toEqual({ input, ok: !isWrong })
    expect(check(inputFor(schema))).toBe(true)
  })

  it('are left out and counted where none can be made', () => {
    for (const member of [
      { type: 'string', minLength: 20_000 },
      { type: 'string', format: 'of-this-house' },
      { type: 'number', minimum: 5, maximum: 4 },
      { not: {} },
      { type: 'array', minItems: 100_000 },
    ])
      expect(generateCases(object({ member }))).toEqual({ cases: [], dropped: 2 })
    expect(generateCases({ type: 'object', minProperties: 1 })).toEqual({ cases: [], dropped: 2 })
  })

  it('may have members of any name', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"number"}},"required":["__proto__"]}',
    )
    const [least, , without] = generateCases(schema).cases
    expect([Object.keys(least?.input ?? {}), Object.keys(without?.input ?? {})]).toEqual([['__proto__'], []])
  })

  it('say why there are none if the schema cannot be checked', () => {
    expect(generateCases(object({ a: { pattern: '(a+)+$' } }))).toMatchObject({
      cases: [],
      problem: expect.stringContaining('pattern'),
    })
    expect(generateCases({ type: 'object', properties: { a: { minLength: -1 } } }).problem).toBeDefined()
    expect(inputFor(object({ a: { minLength: -1, type: 'string' } }))).toEqual({ a: 'text' })
  })

  it('name each thing that can be wrong', () => {
    const schema = object(
      {
        n: { type: 'integer', minimum: 1, maximum: 9 },
        t: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]' },
        l: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
        c: { type: 'string', enum: ['a', 'b'] },
      },
      { additionalProperties: false },
    )
    const { cases } = generateCases(schema)
    expect(cases.map(({ name }) => name)).toEqual([
      'the least that it needs',
      'everything that it takes',
      'without n',
      'without t',
      'without l',
      'without c',
      'n of another type',
      'n with a fraction',
      'n below its minimum',
      'n above its maximum',
      't of another type',
      't too short',
      't too long',
      't outside its pattern',
      'l of another type',
      'l with too few items',
      'l with too many items',
      'c of another type',
      'c outside its choices',
      'a member too many',
    ])
  })
})

describe('hostile schemas', () => {
  let nested: Members = { type: 'string' }
  for (let i = 0; i < 6; i++) nested = { type: 'array', minItems: 20, items: nested }
  let choices: Members = { type: 'string' }
  for (let i = 0; i < 3000; i++) choices = { anyOf: [choices] }
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  )
  const names = Array.from({ length: 1900 }, (_, i) => `member${i}`.padEnd(400, 'x'))
  const wide = object(Object.fromEntries(names.map((name) => [name, { type: 'string' }])))
  const long = 'x'.repeat(500_000)

  it.each<readonly [string, Members, number]>([
    ['nested lists', object({ a: nested }), 0],
    ['deep alternatives', object({ a: choices }), 0],
    ['references that double', object({ a: { $ref: '#/$defs/d0' } }, { $defs: { ...doubling, d40: {} } }), 0],
    ['a megabyte of members', wide, 100],
    [
      'a long default many times',
      object({ a: { type: 'array', minItems: 5000, items: { default: long } } }),
      0,
    ],
    [
      'many required names',
      { type: 'object', required: Array.from({ length: 100_000 }, (_, i) => `m${i}`) },
      0,
    ],
    ['endless recursion', object({ a: { $ref: '#' } }), 0],
    [
      'long texts',
      object({ a: { type: 'array', minItems: 5000, items: { type: 'string', minLength: 9000 } } }),
      0,
    ],
  ])('with %s give few cases of bounded size', (_, schema, most) => {
    const { cases } = generateCases(schema)
    expect(cases.length).toBeLessThanOrEqual(most)
    for (const { input } of cases.slice(0, 3)) expect(JSON.stringify(input).length).toBeLessThan(3_000_000)
    expect(JSON.stringify(inputFor(schema)).length).toBeLessThan(3_000_000)
  })
})
