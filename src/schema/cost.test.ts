import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import { stepRulesOf } from './merges.ts'
import type { AnySchema, StandardSchema } from './schema.ts'
import { toEstimator } from './steps.ts'

const names = (count: number, prefix = 'f'): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)
const shape = <Part>(count: number, part: (at: number) => Part, prefix?: string): Record<string, Part> =>
  Object.fromEntries(names(count, prefix).map((name, at) => [name, part(at)]))
const many = (part: unknown, count: number): { list: unknown[] } => ({
  list: Array.from({ length: count }, () => part),
})
const list = (item: z.ZodType): AnySchema => z.object({ list: z.array(item) })
const valibotList = (item: v.GenericSchema): AnySchema =>
  toStandardJsonSchema(v.object({ list: v.array(item) })) as AnySchema
const alternatives = (count: number, members: number): z.ZodType =>
  z.union([
    ...names(count, 'a').map((name) => z.object(shape(members, () => z.string(), `${name}_`))),
    z.object({ note: z.string().optional() }),
  ])

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }
const TOO_MUCH = { ok: false, issue: 'becomes too large with its defaults: send less at once' }

/** A schema, and how often its library was asked. */
function spied(schema: AnySchema): { readonly schema: AnySchema; readonly calls: number } {
  const { '~standard': standard } = schema as { '~standard': { validate(value: unknown): unknown } }
  let calls = 0
  const validate = (value: unknown): unknown => (calls++, standard.validate(value))
  return {
    schema: Object.create(schema as object, {
      '~standard': { value: { ...standard, validate } },
    }) as AnySchema,
    get calls() {
      return calls
    },
  }
}

describe('a library is not asked about a value whose parts times the width of the schema are too many', () => {
  // oxfmt-ignore
  const wide: readonly (readonly [string, AnySchema, part: unknown, count: number])[] = [
    ['alternatives with required members', list(alternatives(10, 10)), {}, 99_000],
    ['lists where members are expected', list(alternatives(10, 10)), [], 99_000],
    ['few alternatives', list(alternatives(3, 10)), {}, 990_000],
    ['literals', list(z.union(names(50).map((_, at) => z.literal(at)))), 49, 990_000],
    ['optional members', list(z.object(shape(100, () => z.string().optional()))), {}, 99_000],
    ['names of a record', list(z.record(z.enum(names(100) as [string]), z.string().optional())), {}, 99_000],
    ['a choice in valibot', valibotList(v.union([...names(6, 'a').map((name) => v.object(shape(10, () => v.string(), `${name}_`))), v.object({})])), {}, 99_000],
    ['constants in valibot', valibotList(v.picklist(names(1000))), 'f999', 200_000],
    ['options of which exactly one fits', list(z.xor(names(40).map((name) => z.object({ kind: z.literal(name), ...shape(10, () => z.string()) })))), { kind: 'f39' }, 99_000],
  ]
  test.each(wide)('%s', async (_, schema, part, count) => {
    const checked = spied(schema)
    expect(await toChecker(checked.schema, 'input').check(many(part, count))).toMatchObject(TOO_LONG)
    expect(await toChecker(checked.schema, 'output').check(many(part, count))).toMatchObject(TOO_LONG)
    expect(checked.calls).toBe(0)
    expect(await toChecker(schema, 'input').check({ list: [] })).toMatchObject({ ok: true })
  })

  test('objects that all have different names count more', async () => {
    const schema = list(z.object(shape(30, () => z.string().optional())))
    const different = { list: Array.from({ length: 99_000 }, (_, at) => ({ [`k${at}`]: 1 })) }
    expect(await toChecker(schema, 'input').check(different)).toMatchObject(TOO_LONG)
    expect(await toChecker(schema, 'input').check(many({ k: 1 }, 99_000))).toMatchObject({ ok: true })
  })

  // oxfmt-ignore
  const honest: readonly (readonly [string, AnySchema, value: object])[] = [
    ['a million numbers', list(z.number()), many(1.5, 999_000)],
    ['a table with empty cells', list(z.array(z.number().nullable())), many(Array.from({ length: 9 }, (_, at) => (at === 4 ? null : at)), 90_000)],
    ['rows', list(z.object(shape(5, () => z.string()))), many(shape(5, () => 'x'), 49_000)],
    ['wide rows', list(z.object(shape(100, () => z.string().optional()))), many(shape(50, () => 'x'), 4900)],
    ['a discriminated union', list(z.discriminatedUnion('kind', names(20) .map((name) => z.object({ kind: z.literal(name), ...shape(10, () => z.string().optional()) })) as never)), many({ kind: 'f19', f1: 'x' }, 90_000)],
    ['a variant', valibotList(v.variant('kind', names(20).map((name) => v.object({ kind: v.literal(name), ...shape(10, () => v.optional(v.string())) })))), many({ kind: 'f19', f1: 'x' }, 90_000)],
  ]
  test.each(honest)('%s, as honest clients send, pass', async (_, schema, value) => {
    expect(await toChecker(schema, 'input').check(value)).toMatchObject({ ok: true })
  })
})

describe('defaults do not make a value many times as large', () => {
  const stamp = z.object({ a: z.number().default(1), b: z.array(z.string()).default([]) })
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema])[] = [
    ['lists', list(z.object(shape(10, () => z.array(z.string()).default([]))))],
    ['objects with defaults inside', list(z.object(shape(5, () => stamp.prefault({}))))],
    ['lists of valibot', valibotList(v.object(shape(10, () => v.optional(v.array(v.string()), []))))],
    ['defaults that zod does not show', list(z.object(shape(10, () => z.array(z.string().transform(Number)).default([]))))],
    ['items of tuples', list(z.tuple([z.string(), ...names(10).map(() => z.array(z.string()).default([]))] as never))],
  ]
  test.each(cases)('%s', async (name, schema) => {
    const part = name === 'items of tuples' ? ['x'] : {}
    const checked = spied(schema)
    expect(await toChecker(checked.schema, 'input').check(many(part, 99_000))).toMatchObject(TOO_MUCH)
    expect(checked.calls).toBe(0)
    const small = await toChecker(schema, 'input').check(many(part, 500))
    // What a handler holds is counted, even for a message of a few hundred bytes.
    expect(small).toMatchObject({ ok: true, bytes: expect.any(Number) as number })
    expect(small.ok && small.bytes).toBeGreaterThan(500 * 5 * 64)
    expect(await toChecker(schema, 'input').check(many(part, 2))).not.toHaveProperty('bytes')
  })

  test('defaults of arktype, which it does not show', async () => {
    const part = type(
      Object.fromEntries(names(20).map((name) => [name, type('string[]').default(() => [])])) as never,
    )
    const schema = type({
      list: (part as unknown as { array(): never }).array(),
    } as never) as unknown as AnySchema
    expect(await toChecker(schema, 'input').check(many({}, 40_000))).toMatchObject(TOO_MUCH)
    expect(await toChecker(schema, 'input').check(many({}, 100))).toMatchObject({ ok: true })
  })
})

/** Schemas of bounded width, in zod and in valibot. */
const scalar = fc.constantFrom('string', 'number', 'literal', 'boolean')
type Tree =
  | string
  | { readonly kind: 'object'; readonly optional: boolean; readonly parts: readonly Tree[] }
  | { readonly kind: 'union' | 'list' | 'record'; readonly optional?: never; readonly parts: readonly Tree[] }
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.record({
      kind: fc.constant('object' as const),
      optional: fc.boolean(),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 12 }),
    }),
    fc.record({
      kind: fc.constantFrom('union' as const, 'list' as const, 'record' as const),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 6 }),
    }),
  ),
}))

function toZod(of: Tree): z.ZodType {
  if (typeof of === 'string')
    return { string: z.string(), number: z.number(), boolean: z.boolean() }[of] ?? z.literal('l')
  const parts = of.parts.map(toZod)
  if (of.kind === 'list') return z.array(parts[0]!)
  if (of.kind === 'record') return z.record(z.string(), parts[0]!)
  if (of.kind === 'union') return z.union(parts as [z.ZodType])
  return z.object(shape(parts.length, (at) => (of.optional ? parts[at]!.optional() : parts[at]!)))
}

function toValibot(of: Tree): v.GenericSchema {
  if (typeof of === 'string')
    return { string: v.string(), number: v.number(), boolean: v.boolean() }[of] ?? v.literal('l')
  const parts = of.parts.map(toValibot)
  if (of.kind === 'list') return v.array(parts[0]!)
  if (of.kind === 'record') return v.record(v.string(), parts[0]!)
  if (of.kind === 'union') return v.union(parts)
  return v.object(shape(parts.length, (at) => (of.optional ? v.optional(parts[at]!) : parts[at]!)))
}

/** Counts how often a library reads a part of a value. */
function readsOf(schema: AnySchema, value: unknown): number {
  let reads = 0
  const copy = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part
    const target = Array.isArray(part)
      ? part.map(copy)
      : Object.fromEntries(Object.entries(part).map(([name, each]) => [name, copy(each)]))
    return new Proxy(target as object, { get: (from, name) => (reads++, Reflect.get(from, name) as unknown) })
  }
  void (schema as StandardSchema)['~standard'].validate(copy(value))
  return reads
}

test('whatever the schema, the estimate grows with what a library reads of a hostile value', () => {
  const value = fc.constantFrom<unknown>(
    {},
    [],
    'l',
    1,
    { f0: {} },
    { f0: [], f1: {} },
    { f11: 'x' },
    { z: 1 },
    [{}, {}],
  )
  fc.assert(
    fc.property(tree, value, fc.boolean(), (of, part, isZod) => {
      const schema = isZod ? list(toZod(of)) : valibotList(toValibot(of))
      const { json } = toChecker(schema, 'input')
      const { estimate, perPart } = toEstimator(json, stepRulesOf(schema as StandardSchema))
      const all = many(part, 50)
      const { steps } = estimate(all, Infinity)
      // A library reads a member several times: what it is, whether it is there, its value, and again for the result.
      expect(readsOf(schema, all)).toBeLessThanOrEqual(100 + 8 * steps)
      expect(estimate(all, steps).steps).toBe(steps)
      expect(estimate(all, steps - 1).steps).toBe(Infinity)
      // The bound that spares small values the estimate.
      expect(steps).toBeLessThanOrEqual(151 * perPart.steps)
    }),
    { numRuns: 200 },
  )
})
