import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { toChecker, type Checked } from '../../src/schema/checker.ts'
import type { AnySchema, FromJsonSchema, InputOf, OutputOf, StandardSchema } from '../../src/schema/schema.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<T extends true>(): T | undefined {
  return undefined
}

// Libraries, each side
const zod = z.object({ city: z.string(), days: z.number().default(3) })
same<Equal<InputOf<typeof zod>, { city: string; days?: number | undefined }>>()
same<Equal<OutputOf<typeof zod>, { city: string; days: number }>>()
const valibot = toStandardJsonSchema(v.object({ a: v.string(), b: v.optional(v.number(), 1) }))
same<Equal<InputOf<typeof valibot>, { a: string; b?: number | undefined }>>()
same<Equal<OutputOf<typeof valibot>, { a: string; b: number }>>()
const ark = type({ a: 'string', n: 'number = 3' })
same<Equal<OutputOf<typeof ark>, { a: string; n: number }>>()

// All of them are schemas, also through a direct parameter
const any: readonly AnySchema[] = [
  zod,
  valibot,
  ark,
  v.object({}),
  { type: 'object' },
  { type: 'object', properties: {} } as const,
]
declare function define<In, Out>(schema: StandardSchema<In, Out>): { in: In; out: Out }
same<Equal<ReturnType<typeof define<string, number>>, { in: string; out: number }>>()
const defined = define(zod)
same<Equal<(typeof defined)['out'], { city: string; days: number }>>()

// @ts-expect-error a string is no schema
const bad: AnySchema = 'object'
// @ts-expect-error required is a list
const worse: AnySchema = { type: 'object', required: 'a' }

// Raw JSON Schema
const search = {
  type: 'object',
  properties: {
    q: { type: 'string' },
    mode: { enum: ['fast', 'deep'] },
    limit: { type: ['integer', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    exact: { const: true },
  },
  required: ['q', 'limit'],
} as const
interface Search {
  q: string
  limit: number | null
  mode?: 'fast' | 'deep'
  tags?: string[]
  exact?: true
}
same<Equal<FromJsonSchema<typeof search>, { [Key in keyof Search]: Search[Key] }>>()
same<Equal<InputOf<typeof search>, OutputOf<typeof search>>>()

same<Equal<FromJsonSchema<{ type: 'string' }>, string>>()
same<Equal<FromJsonSchema<{ type: 'boolean' }>, boolean>>()
same<Equal<FromJsonSchema<{ type: 'null' }>, null>>()
same<Equal<FromJsonSchema<{ type: 'array' }>, unknown[]>>()
same<Equal<FromJsonSchema<{ type: 'object' }>, { [name: string]: unknown }>>()
same<
  Equal<
    FromJsonSchema<{ type: 'object'; additionalProperties: { type: 'number' } }>,
    { [name: string]: number }
  >
>()
same<Equal<FromJsonSchema<{ type: string }>, unknown>>()
same<Equal<FromJsonSchema<{ description: 'd' }>, unknown>>()
same<Equal<FromJsonSchema<true>, unknown>>()
same<Equal<FromJsonSchema<false>, never>>()
same<Equal<FromJsonSchema<{ anyOf: readonly [{ type: 'string' }, { type: 'null' }] }>, string | null>>()
same<Equal<FromJsonSchema<{ oneOf: readonly [{ const: 1 }, { const: 'b' }] }>, 1 | 'b'>>()
same<
  Equal<
    FromJsonSchema<{
      prefixItems: readonly [{ type: 'string' }, { type: 'number' }]
      items: false
      type: 'array'
    }>,
    [string, number]
  >
>()
same<
  Equal<
    FromJsonSchema<{ prefixItems: readonly [{ type: 'string' }]; items: { type: 'number' }; type: 'array' }>,
    [string, ...number[]]
  >
>()
same<Equal<FromJsonSchema<{ $ref: '#/$defs/x'; $defs: { x: { type: 'string' } } }>, string>>()
same<Equal<FromJsonSchema<{ $ref: '#/definitions/x'; definitions: { x: { type: 'number' } } }>, number>>()
same<Equal<FromJsonSchema<{ $ref: '#/$defs/none'; $defs: { x: { type: 'string' } } }>, unknown>>()

const both = {
  allOf: [
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    { type: 'object', properties: { b: { type: 'number' } } },
  ],
} as const
const fits: FromJsonSchema<typeof both> = { a: 'x', b: 1 }
// @ts-expect-error a is required
const misses: FromJsonSchema<typeof both> = { b: 1 }

const oneNeeded = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'string' } },
  anyOf: [{ required: ['a'] }, { required: ['b'] }],
} as const
same<Equal<FromJsonSchema<typeof oneNeeded>, { a?: string; b?: string }>>()

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { n: { type: 'number' }, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['n'],
    },
  },
} as const
const forest: FromJsonSchema<typeof tree> = { n: 1, kids: [{ n: 2, kids: [{ n: 3 }] }] }
// @ts-expect-error n is a number, three levels down
const stump: FromJsonSchema<typeof tree> = { n: 1, kids: [{ n: 2, kids: [{ n: 'x' }] }] }

// A misspelt key does not compile
// @ts-expect-error hihg is not a property
const typo: FromJsonSchema<{ type: 'object'; properties: { high: { type: 'number' } } }> = { hihg: 1 }
const open: FromJsonSchema<{
  type: 'object'
  properties: { a: { type: 'number' } }
  additionalProperties: true
}> = { a: 1, more: 'x' }

// The checker knows what it delivers, also from a literal that is not marked const
const checked: Checked<{ city: string; days: number }> | Promise<Checked<{ city: string; days: number }>> =
  toChecker(zod, 'input').check({})
const literal = toChecker({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, 'input')
const late: Checked<{ a: string }> | Promise<Checked<{ a: string }>> = literal.check({})

export const used: readonly unknown[] = [
  any,
  bad,
  worse,
  fits,
  misses,
  forest,
  stump,
  typo,
  open,
  checked,
  late,
]
