import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toChecker } from './checker.ts'
import { multiplies } from './recursion.ts'
import type { JsonSchema } from './schema.ts'
import { processorMs } from '../../test/harness/processor.ts'

const self = { $ref: '#/$defs/node' }
const recursive = (node: object): JsonSchema => ({
  type: 'object',
  properties: { a: self },
  $defs: { node },
})

/** Shapes of a node that lead to the node again in more than one way. */
const SHAPES: Readonly<Record<string, object>> = {
  anyOf: {
    anyOf: [
      { properties: { a: self }, required: ['x'] },
      { properties: { a: self }, required: ['y'] },
    ],
  },
  oneOf: {
    oneOf: [
      { type: 'object', properties: { a: self }, required: ['x'] },
      { type: 'object', properties: { a: self, b: self }, required: ['y'] },
      { type: 'array', items: self },
    ],
  },
  allOf: { allOf: [{ properties: { a: self } }, { properties: { a: self }, minProperties: 1 }] },
  'if and else': {
    if: { properties: { a: self }, required: ['x'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { a: self, b: self } },
    else: { properties: { a: self }, maxProperties: 2 },
  },
  not: { not: { not: { properties: { a: self }, required: ['x'] } }, properties: { a: self } },
  'patterns that overlap': { type: 'object', patternProperties: { a: self, '^[a-z]$': self } },
  'patterns and rest': {
    type: 'object',
    properties: { x: { type: 'integer' }, y: true },
    patternProperties: { '^[ab]$': self, '^a$': self },
    additionalProperties: self,
  },
  contains: {
    anyOf: [
      { type: 'object', properties: { a: self } },
      { type: 'array', contains: self, items: self },
      { type: 'integer' },
    ],
  },
  'what is not evaluated': {
    anyOf: [
      { type: 'object', properties: { a: self }, required: ['x'] },
      { type: 'object', properties: { a: self, y: true } },
    ],
    properties: { x: true },
    unevaluatedProperties: false,
  },
  'what is not evaluated behind a reference': {
    type: 'object',
    anyOf: [
      { properties: { a: { ...self, unevaluatedProperties: false } }, required: ['x'] },
      { properties: { a: { ...self, unevaluatedProperties: { type: 'integer' } }, y: true } },
    ],
  },
  'dependent schemas': {
    dependentSchemas: { x: { properties: { a: self } }, y: { properties: { a: self }, required: ['b'] } },
    type: 'object',
  },
}

const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.integer({ min: 0, max: 2 }),
    fc.array(tie('tree'), { maxLength: 2 }),
    fc.record(
      { a: tie('tree'), b: tie('tree'), x: fc.constant(1), y: fc.constant('y') },
      { requiredKeys: [] },
    ),
  ),
}))

describe.each(Object.entries(SHAPES))('a schema that leads to itself in several ways by %s', (_, node) => {
  const schema = recursive(node)
  const checker = toChecker(schema, 'input')

  test('is judged as by another validator', async () => {
    const other = new Ajv2020({ strict: false }).compile(schema)
    expect(multiplies(schema)).toBe(true)
    await fc.assert(
      fc.asyncProperty(tree, async (a) => {
        expect((await checker.check({ a })).ok).toBe(other({ a }))
      }),
      { numRuns: 200 },
    )
  })

  test('costs time in proportion to the value, not twice as much with every level', async () => {
    await checker.check({ a: 1 })
    for (const [first, level] of [
      [{ x: 1 }, { x: 1 }],
      [{ z: 1 }, { x: 1, y: 1 }],
      ['no', { y: 1 }],
    ] as const) {
      let a: unknown = first
      for (let depth = 0; depth < 120; depth++) a = { a, ...level }
      expect(await processorMs(() => checker.check({ a }))).toBeLessThan(5000)
    }
  })
})

test('references that meet again at every level multiply without any circle', async () => {
  const levels = Array.from({ length: 100 }, (_, at) => {
    const next = { $ref: `#/$defs/l${at + 1}` }
    return [
      `l${at}`,
      {
        anyOf: [
          { properties: { a: next }, required: ['x'] },
          { properties: { a: next }, required: ['y'] },
        ],
      },
    ]
  })
  const schema = {
    type: 'object',
    $ref: '#/$defs/l0',
    $defs: { ...Object.fromEntries(levels), l100: { type: 'integer' } },
  }
  expect(multiplies(schema)).toBe(true)
  let a: unknown = 'no'
  for (let depth = 0; depth < 100; depth++) a = { a, x: 1, y: 1 }
  const ms = await processorMs(async () => {
    expect(await toChecker(schema as JsonSchema, 'input').check(a)).toMatchObject({ ok: false })
  })
  expect(ms).toBeLessThan(2000)
})

test('schemas of the ordinary kind are checked as they stand', () => {
  const ordinary: readonly object[] = [
    recursive({ type: 'object', properties: { children: { type: 'array', items: self } } }),
    recursive({ type: 'object', properties: { left: self, right: self } }),
    {
      type: 'object',
      properties: { a: self, b: self },
      $defs: { node: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    },
    { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  ]
  expect(ordinary.map(multiplies)).toEqual([false, false, false, false])
})
