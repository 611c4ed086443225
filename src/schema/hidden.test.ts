import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'

const unsafe = /^(a+)+$/
const ark = (shape: unknown): AnySchema => type(shape as never) as unknown as AnySchema
const valibot = (entries: v.ObjectEntries): AnySchema => toStandardJsonSchema(v.object(entries)) as AnySchema

describe('an unsafe pattern that the JSON Schema does not show is refused', () => {
  // oxfmt-ignore
  const schemas: readonly (readonly [string, () => AnySchema])[] = [
    ['after a transform', () => z.object({ b: z.string().transform((text) => text).pipe(z.string().regex(unsafe)) })],
    ['after a pipe', () => z.object({ b: z.string().pipe(z.string().regex(unsafe)) })],
    ['in a codec', () => z.object({ b: z.codec(z.string(), z.string().regex(unsafe), { decode: (text) => text, encode: (text) => text }) })],
    ['under another pattern', () => z.object({ b: z.string().regex(unsafe).meta({ pattern: '^a+$' }) })],
    ['of a host', () => z.object({ b: z.url({ hostname: /^([a-z]+)+$/ }) })],
    ['of a protocol', () => z.object({ b: z.url({ protocol: /^([a-z]+)+$/ }) })],
    ['of arktype', () => ark({ b: type('string.lower').to(unsafe) })],
    ['of valibot', () => valibot({ b: v.pipe(v.string(), v.transform((text) => text), v.string(), v.regex(unsafe)) })],
  ]
  test.each(schemas)('%s', (_, make) => {
    expect(() => toChecker(make(), 'input')).toThrow(
      /unsafe pattern \/.*: .*match the text in a function of your own/s,
    )
  })

  test('but not those that libraries bring along', () => {
    const parts = ['numeric', 'integer', 'date', 'date.iso', 'date.epoch', 'json', 'url'].map(
      (name) => [name.replace('.', '_'), `string.${name}.parse`] as const,
    )
    expect(() => toChecker(ark(Object.fromEntries(parts)), 'input')).not.toThrow()
    expect(() =>
      toChecker(
        z.object({ b: z.url({ hostname: z.regexes.domain, protocol: /^https?$/ }), c: z.stringbool() }),
        'input',
      ),
    ).not.toThrow()
  })
})

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }
const TOO_MUCH = { ok: false, issue: 'becomes too large with its defaults: send less at once' }
const rows = (part: unknown, count: number) => ({ rows: Array.from({ length: count }, () => part) })
const shape = <Part>(count: number, part: () => Part): Record<string, Part> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, part()]))
const list = (item: z.ZodType): AnySchema => z.object({ rows: z.array(item) })

describe('problems that zod catches count', () => {
  const members = (): z.ZodType => z.object(shape(20, () => z.number().catch(0)))
  const bad = shape(20, () => 'x')
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema, part: unknown, count: number])[] = [
    ['missing members', list(members()), {}, 20_000],
    ['wrong members', list(members()), bad, 20_000],
    ['optional members', list(z.object(shape(20, () => z.number().catch(0).optional()))), bad, 20_000],
    ['an object that lacks members', list(z.object(shape(30, () => z.number())).catch({})), {}, 60_000],
    ['items', list(z.number().catch(0)), 'x', 500_000],
    ['a list', z.object({ rows: z.array(z.number()).catch([]) }), 'x', 500_000],
    ['a transform', list(z.object(shape(20, () => z.number().transform(String).catch('')))), bad, 20_000],
    ['below a record', list(z.object({ b: z.record(z.string(), z.number()) }).catch({ b: {} })), { b: bad }, 20_000],
  ]
  test.each(schemas)('%s', async (_, schema, part, count) => {
    const { check } = toChecker(schema, 'input')
    expect(await check(rows(part, count))).toMatchObject(TOO_LONG)
    expect(await check(rows(part, 100))).toMatchObject({ ok: true })
  })

  test('and other parts of the schema do not cost more', async () => {
    const { check } = toChecker(z.object({ b: z.number().catch(0), rows: z.array(z.number()) }), 'input')
    expect(await check(rows(1, 900_000))).toMatchObject({ ok: true })
    const few = toChecker(list(z.object(shape(10, () => z.number().catch(0)))), 'input')
    expect(
      await few.check(
        rows(
          shape(10, () => 1),
          10_000,
        ),
      ),
    ).toMatchObject({ ok: true })
  })
})

describe('values that a library adds count, although it does not show them', () => {
  const values = Array.from({ length: 500 }, () => 'x')
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema, part: unknown])[] = [
    ['what zod catches', list(z.object({ a: z.array(z.string()).catch(() => [...values]) })), { a: 1 }],
    ['what zod catches in a list', list(z.array(z.string()).catch(() => [...values])), 1],
    ['a default of zod before a transform', list(z.object({ a: z.string().transform((text) => text.split(',')).default(values) })), {}],
    ['an optional one', list(z.object({ a: z.string().transform((text) => text.split(',')).default(values).optional() })), {}],
    ['a fallback of valibot', valibot({ rows: v.array(v.object({ a: v.fallback(v.array(v.string()), () => [...values]) })) }), { a: 1 }],
    ['a fallback of a pipe', valibot({ rows: v.array(v.object({ a: v.fallback(v.pipe(v.array(v.string()), v.minLength(1)), () => [...values]) })) }), { a: 1 }],
    ['a fallback in a list', valibot({ rows: v.array(v.fallback(v.array(v.string()), () => [...values])) }), 1],
    ['a default of arktype', ark({ rows: type({ a: ['string[]', '=', () => [...values]] } as never).array() }), {}],
  ]
  test.each(schemas)('%s', async (_, schema, part) => {
    const { check } = toChecker(schema, 'input')
    expect(await check(rows(part, 10_000))).toMatchObject(TOO_MUCH)
    expect(await check(rows(part, 100))).toMatchObject({ ok: true })
  })

  test('a constant that replaces parts takes no memory', async () => {
    const { check } = toChecker(list(z.object({ a: z.array(z.string()).catch(values) })), 'input')
    expect(await check(rows({ a: ['y'] }, 30_000))).toMatchObject({ ok: true })
  })
})
