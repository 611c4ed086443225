import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toFormSchema } from './form.ts'
import type { AnySchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'

const SAFE = Number.MAX_SAFE_INTEGER

test('zod fields become form fields [R207]', () => {
  const schema = z.object({
    name: z.string().min(2).max(40).describe('Your name'),
    mail: z.email().meta({ title: 'E-mail' }),
    site: z.url().optional(),
    day: z.iso.date(),
    at: z.iso.datetime(),
    id: z.uuid(),
    age: z.int().min(18).default(30),
    score: z.number().gt(0).lt(1),
    steps: z.int().positive(),
    yes: z.boolean().default(false),
    agreed: z.literal(true),
    color: z.enum(['red', 'blue']).default('red'),
    size: z.union([z.literal('s'), z.literal('m')]),
    plan: z.union([
      z.literal('free').meta({ title: 'Free' }),
      z.literal('pro').meta({ title: 'Professional' }),
    ]),
    tags: z
      .array(z.enum(['x', 'y']))
      .min(1)
      .max(2)
      .default(['x']),
    only: z.literal('one'),
  })
  expect(toFormSchema(schema)).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 40, description: 'Your name' },
      mail: { type: 'string', format: 'email', title: 'E-mail' },
      site: { type: 'string', format: 'uri' },
      day: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      id: { type: 'string' },
      age: { type: 'integer', minimum: 18, default: 30 },
      score: { type: 'number', minimum: 0, maximum: 1 },
      steps: { type: 'integer', minimum: 1 },
      yes: { type: 'boolean', default: false },
      agreed: { type: 'boolean' },
      color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
      size: { type: 'string', enum: ['s', 'm'] },
      plan: {
        type: 'string',
        oneOf: [
          { const: 'free', title: 'Free' },
          { const: 'pro', title: 'Professional' },
        ],
      },
      tags: {
        type: 'array',
        items: { type: 'string', enum: ['x', 'y'] },
        minItems: 1,
        maxItems: 2,
        default: ['x'],
      },
      only: { type: 'string', enum: ['one'] },
    },
    required: ['name', 'mail', 'day', 'at', 'id', 'score', 'steps', 'agreed', 'size', 'plan', 'only'],
  })
})

test.each([
  ['integer', { minimum: 1, maximum: 9 }, { minimum: 1, maximum: 9 }],
  ['integer', { exclusiveMinimum: 1, exclusiveMaximum: 9 }, { minimum: 2, maximum: 8 }],
  [
    'integer',
    { minimum: 3, exclusiveMinimum: 1, maximum: 7, exclusiveMaximum: 9 },
    { minimum: 3, maximum: 7 },
  ],
  [
    'integer',
    { minimum: 1, exclusiveMinimum: 3, maximum: 9, exclusiveMaximum: 7 },
    { minimum: 4, maximum: 6 },
  ],
  ['number', { exclusiveMinimum: 1, exclusiveMaximum: 9 }, { minimum: 1, maximum: 9 }],
  ['integer', { minimum: -SAFE, maximum: SAFE }, {}],
  ['integer', { minimum: 1 - SAFE, maximum: SAFE - 1 }, { minimum: 1 - SAFE, maximum: SAFE - 1 }],
])('an %s with the bounds %o is asked for with %o', (type, bounds, asked) => {
  const schema = { type: 'object', properties: { n: { type, ...bounds } } } as AnySchema
  expect(toFormSchema(schema).properties).toEqual({ n: { type, ...asked } })
})

test('valibot and arktype become forms too', () => {
  const wanted = {
    type: 'object',
    properties: { n: { type: 'number' }, pick: { type: 'string', enum: ['a', 'b'] } },
    required: ['n'],
  }
  expect(
    toFormSchema(toStandardJsonSchema(v.object({ n: v.number(), pick: v.optional(v.picklist(['a', 'b'])) }))),
  ).toEqual(wanted)
  expect(toFormSchema(type({ n: 'number', 'pick?': "'a'|'b'" }))).toEqual(wanted)
})

test('raw schemas keep what a form knows and lose the rest', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { level: { type: 'string', enum: ['lo', 'hi'], enumNames: ['Low', 'High'] } },
    type: 'object',
    additionalProperties: false,
    properties: {
      level: { $ref: '#/$defs/level', title: 'Level' },
      code: { type: 'string', pattern: '^[a-z]+$', format: 'uuid', default: 5 },
      many: {
        type: 'array',
        uniqueItems: true,
        items: {
          anyOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
      },
      mixed: { oneOf: [{ const: 'a', title: 'A' }, { enum: ['b', 'c'] }] },
    },
    required: ['code', 'ghost'],
  }
  expect(toFormSchema(schema)).toEqual({
    type: 'object',
    properties: {
      level: { type: 'string', enum: ['lo', 'hi'], enumNames: ['Low', 'High'], title: 'Level' },
      code: { type: 'string' },
      many: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
      },
      mixed: {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'b' },
          { const: 'c', title: 'c' },
        ],
      },
    },
    required: ['code'],
  })
})

test('a form may be empty, and a field may have any name', () => {
  expect(toFormSchema(z.object({}))).toEqual({ type: 'object', properties: {} })
  const form = toFormSchema(
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"boolean"}}}') as AnySchema,
  )
  expect(Object.entries(form.properties!)).toEqual([['__proto__', { type: 'boolean' }]])
})

describe('refusals name the property', () => {
  const UNFIT: readonly (readonly [schema: AnySchema, message: RegExp])[] = [
    [z.object({ where: z.object({ x: z.number() }) }), /"where", a nested object.*flat/],
    [z.object({ list: z.array(z.string()) }), /"list", a list/],
    [z.object({ list: z.array(z.number()) }), /"list", a list/],
    [z.object({ any: z.unknown() }), /"any", a shape/],
    [z.object({ both: z.union([z.string(), z.number()]) }), /"both", a shape/],
    [z.object({ none: z.string().nullable() }), /"none" be null.*optional/],
    [z.object({ none: z.enum(['a']).nullable() }), /"none" be null.*optional/],
    [{ type: 'object', properties: { n: { enum: [1, 2] } } }, /"n", a shape/],
    [{ type: 'object', properties: { n: { type: ['string', 'number'] } } }, /"n", a shape/],
    [{ type: 'object', properties: { n: true } }, /"n", a shape/],
    [{ type: 'object', anyOf: [{ required: ['a'] }] }, /uses anyOf at its root/],
    [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), /at its root/],
  ]
  test.each(UNFIT)('schema %# is refused [S4-13-4]', (schema, message) => {
    expect(() => toFormSchema(schema)).toThrow(SchemaError)
    expect(() => toFormSchema(schema)).toThrow(message)
  })
})
