import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import * as mini from 'zod/mini'
import * as z3 from 'zod/v3'
import type { Mistake } from './mistake.ts'

const run = (): string => 'x'

/** A schema as zod had it up to 3.23: only its definition and methods, and nothing of Standard Schema. */
function old(name: string, more: object = {}): object {
  const parse = (value: unknown): unknown => value
  const spa = (value: unknown): Promise<unknown> => Promise.resolve({ success: true, data: value })
  return { ...more, _def: { typeName: name }, spa, parse, safeParse: spa, parseAsync: spa }
}

function defined(wrote: string, input: unknown, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: ({ server }) => server().tool('a', { input: input as never }, run), problem, fix }
}

/** Mistakes in schemas: their library, its version, and what JSON cannot express. */
export const schemas: readonly Mistake[] = [
  defined(
    'input: { a: z.string() }, a plain object of schemas',
    { a: z.string() },
    'tool "a": input: the schema is a plain object of schemas',
    'z.object({ … })',
  ),
  defined(
    'input: { a: z.string() } of zod 3.23',
    { a: old('ZodString') },
    'is a plain object of schemas of zod 3',
    /Write z\.object\(\{ … \}\).*npm install zod@latest/,
  ),
  defined(
    'input: z.object({}) of zod 3.23',
    old('ZodObject', { shape: {} }),
    'comes from zod 3',
    'needs zod 4.2 or later: npm install zod@latest',
  ),
  defined(
    "input: z.object({}) with z from 'zod/v3'",
    z3.object({ a: z3.string() }),
    'of zod cannot be converted to JSON Schema',
    "write import { z } from 'zod'",
  ),
  defined(
    "input: z.object({}) with z from 'zod/mini'",
    mini.object({ a: mini.string() }),
    'of zod cannot be converted to JSON Schema',
    "import { z } from 'zod'",
  ),
  defined(
    'input: v.object({}) of valibot, not wrapped',
    v.object({ a: v.string() }),
    'of valibot cannot be converted to JSON Schema',
    'toStandardJsonSchema(schema), from @valibot/to-json-schema',
  ),
  defined('input: z.string()', z.string(), 'does not describe an object', 'wrap it in an object'),
  defined(
    "input: type('string') of arktype",
    type('string'),
    'does not describe an object',
    'wrap it in an object',
  ),
  defined(
    'input: z.object({ at: z.date() })',
    z.object({ at: z.date() }),
    /Date cannot be represented/,
    'ISO date string instead of a Date',
  ),
  defined(
    'input: z.object({ n: z.bigint() })',
    z.object({ n: z.bigint() }),
    /BigInt cannot be represented/,
    'Accept only JSON values',
  ),
  {
    wrote: 'output: a schema with a transform',
    make: ({ server }) =>
      server().tool(
        'a',
        { output: z.object({ a: z.string().transform((text) => text.length) }) as never },
        run as never,
      ),
    problem: /Transforms cannot be represented/,
    fix: 'Remove transforms from the output schema',
  },
  defined("input: 'object'", 'object', 'the schema is "object", not an object', 'Pass a JSON Schema object'),
  defined('input: null', null, 'the schema is null, not an object', 'Pass a JSON Schema object'),
  defined('input: z.object, not called', z.object, 'the schema is a function', 'Call it'),
  defined('input: {}', {}, 'does not describe an object', 'Add type: "object" at its root'),
  defined(
    "input: { type: 'string' }",
    { type: 'string' },
    'does not describe an object',
    'wrap it in an object',
  ),
  defined(
    'input: { properties } without type',
    { properties: { a: { type: 'string' } } },
    'does not describe an object',
    'Add type: "object" at its root',
  ),
  defined(
    "{ type: 'text' } in a JSON Schema",
    { type: 'object', properties: { a: { type: 'text' } } },
    'at #/properties/a/type',
    /string/,
  ),
  defined(
    "properties: { a: 'string' } in a JSON Schema",
    { type: 'object', properties: { a: 'string' } },
    'the schema at #/properties/a is "string"',
    'A schema is an object',
  ),
  defined(
    "required: 'a' in a JSON Schema",
    { type: 'object', properties: { a: {} }, required: 'a' },
    'at #/required',
    /list|array/,
  ),
  defined(
    '{ required: true } on a property',
    { type: 'object', properties: { a: { type: 'string', required: true } } },
    'at #/properties/a/required',
    /list|array/,
  ),
  defined(
    'a $ref to a URL',
    { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } },
    'at #/properties/a',
    '$defs',
  ),
  defined(
    'a $ref to nothing',
    { type: 'object', properties: { a: { $ref: '#/$defs/b' } } },
    '#/$defs/b',
    /[Dd]efine|\$defs/,
  ),
  defined(
    "pattern: '(a+)+$', which can take forever",
    { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
    'at #/properties/a/pattern',
    'Write a pattern that can match in only one way',
  ),
  defined(
    "pattern: '[a', not a regular expression",
    { type: 'object', properties: { a: { type: 'string', pattern: '[a' } } },
    'at #/properties/a/pattern',
    /regular expression/,
  ),
  {
    wrote: 'args: z.object({ n: z.coerce.number() }), which accepts strings',
    make: async ({ server, client }) => {
      const app = server().prompt(
        'a',
        { args: z.object({ n: z.coerce.number() }) },
        ({ n }) => `twice ${n * 2}`,
      )
      return JSON.stringify((await (await client(app)).prompt('a', { n: '4' })).messages)
    },
    problem: 'twice 8',
    fix: 'twice 8',
  },
  {
    wrote: 'args: z.string(), not an object',
    make: ({ server }) => server().prompt('a', { args: z.string() }, run),
    problem: 'prompt "a": args: the schema does not describe an object',
    fix: 'wrap it in an object',
  },
]
