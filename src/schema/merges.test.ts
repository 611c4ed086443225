import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import { isSlowToMerge, mergesOf } from './merges.ts'
import type { AnySchema, StandardSchema } from './schema.ts'
import { toShown } from './shown.ts'

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }
const wide = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
const open = z.looseObject({})
const record = z.record(z.string(), z.unknown())
const both = open.and(open)
const inList = (x: unknown): object => ({ x: [x] })
const inMember = (x: unknown): object => ({ x })
const itself = (value: object): object => value
interface Tree {
  readonly below?: Tree | undefined
}
const Tree: z.ZodType<Tree> = z.looseObject({ below: z.lazy(() => Tree).optional() }).and(open)

describe('objects of many members that both sides of an intersection keep', () => {
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema, around: (value: object) => object])[] = [
    ['open objects', both, itself],
    ['records', record.and(record), itself],
    ['a record and an object', record.and(open), itself],
    ['closed objects', z.strictObject({}).and(z.strictObject({})), itself],
    ['any other members', z.object({}).catchall(z.number()).and(z.object({}).catchall(z.number())), itself],
    ['a union', z.discriminatedUnion('k0', [z.looseObject({ k0: z.literal(0) }), z.looseObject({ k0: z.literal(1) })]).and(open), itself],
    ['in a member', z.object({ x: both }), inMember],
    ['in a member of both', z.object({ x: open }).and(z.object({ x: open })), inMember],
    ['in a list', z.object({ x: z.array(both) }), inList],
    ['in lists of both', z.object({ x: z.array(open).and(z.array(open)) }), inList],
    ['in a tuple', z.object({ x: z.tuple([both]) }), inList],
    ['in a record', z.record(z.string(), both), inMember],
    ['among alternatives', z.object({ x: z.union([z.string(), both]) }), inMember],
    ['optional', z.object({ x: both.optional() }), inMember],
    ['lazy', z.object({ x: z.lazy(() => both) }), inMember],
    ['in a tree', Tree, (x) => ({ below: { below: x } })],
    ['in a second stage', z.object({ x: open.transform((x) => x).pipe(both) }), inMember],
    ['prepared', z.object({ x: z.preprocess((x) => x, both) }), inMember],
  ]
  test.each(cases)('are not merged by zod: %s', async (_, schema, around) => {
    const checker = toChecker(schema, 'input')
    expect(await checker.check(around(wide(20_000)))).toMatchObject(TOO_LONG)
    expect(await checker.check(around(wide(2000)))).not.toMatchObject({ undecided: true })
  })

  const loose = v.looseObject({})
  const all = v.intersect([loose, loose, loose, loose, loose])
  test.each<readonly [string, v.GenericSchema]>([
    ['at once', all],
    ['in a list', v.array(all)],
    ['lazy', v.lazy(() => all)],
    ['before another action', v.pipe(all, v.description('x'))],
    ['among alternatives', v.union([v.string(), v.optional(all)])],
  ])('are merged by valibot up to 130,000 in all intersections: %s', async (name, schema) => {
    const checker = toChecker(toStandardJsonSchema(v.object({ x: schema })) as AnySchema, 'input')
    const around = name === 'in a list' ? inList : inMember
    expect(await checker.check(around(wide(40_000)))).toMatchObject(TOO_LONG)
    expect(await checker.check(around(wide(10_000)))).toMatchObject({ ok: true })
  })

  // oxfmt-ignore
  test.each<readonly [string, AnySchema]>([
    ['zod without an intersection', open],
    ['valibot', toStandardJsonSchema(v.intersect([v.looseObject({}), v.looseObject({})]))],
    ['arktype', type({ 'a?': 'string' }).and({ 'b?': 'string' }) as AnySchema],
    ['JSON Schema', { type: 'object', allOf: [{ additionalProperties: true }, { additionalProperties: true }] }],
  ])('are accepted where that takes linear time: %s', async (_, schema) => {
    expect(await toChecker(schema, 'input').check(wide(20_000))).toMatchObject({ ok: true })
  })

  test('are accepted as many small ones', async () => {
    const value = { x: Array.from({ length: 500 }, () => wide(200)) }
    expect(await toChecker(z.object({ x: z.array(both) }), 'input').check(value)).toMatchObject({ ok: true })
  })
})

describe('objects of many members that several alternatives check', () => {
  const records = [z.string(), z.boolean(), z.number()].map((one) => z.record(z.string(), one))
  const rest = (one: v.GenericSchema): v.GenericSchema => v.objectWithRest({}, one)
  const numbered = (count: number): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [at, at]))
  const values = [numbered(240_000), wide(240_000)]
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema])[] = [
    ['zod', z.object({ x: z.union(records) })],
    ['zod, open objects', z.object({ x: z.union([z.looseObject({ a: z.string() }), z.looseObject({ b: z.string() }), open]) })],
    ['zod, in a union', z.object({ x: z.union([z.union(records.slice(0, 2)), z.union(records.slice(1))]) })],
    ['valibot', toStandardJsonSchema(v.object({ x: v.union([v.record(v.string(), v.string()), v.record(v.string(), v.boolean()), v.record(v.string(), v.number())]) }))],
    ['valibot, other members', toStandardJsonSchema(v.object({ x: v.union([rest(v.string()), rest(v.boolean()), rest(v.number())]) }))],
  ]
  test.each(cases)('are not copied for each of them: %s', async (_, schema) => {
    const checker = toChecker(schema, 'input')
    for (const x of values) expect(await checker.check({ x })).toMatchObject(TOO_LONG)
    expect(await checker.check({ x: numbered(2000) })).toMatchObject({ ok: true })
  })

  // oxfmt-ignore
  test.each<readonly [string, AnySchema, copies: number]>([
    ['one record', z.record(z.string(), z.string()), 0],
    ['one record among others', z.object({ x: z.union([z.string(), z.null(), z.record(z.string(), z.string())]) }), 0],
    ['objects that ignore other members', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), 0],
    ['kinds', z.discriminatedUnion('a', [z.looseObject({ a: z.literal(1) }), z.looseObject({ a: z.literal(2) })]), 0],
    ['records', z.union(records), 2],
    ['arktype', type({ '[string]': 'string' }).or({ '[string]': 'number' }) as AnySchema, 0],
  ])('are copied in vain by all but the last: %s', (_, schema, copies) => {
    expect(mergesOf(schema as StandardSchema, toShown(schema, 'input')).copies).toBe(copies)
  })
})

test.each([
  ['once', both, 1],
  ['once for each intersection', both.and(open).and(open), 3],
  ['for every alternative', z.union([both, both.and(open), open]), 3],
  ['in each stage', both.pipe(both), 2],
  ['in one of several members', z.object({ a: both, b: both.and(open), c: z.array(both) }), 2],
  ['never', z.object({ a: open, b: z.string() }), 0],
])('an object is merged %s', (_, schema, count) => {
  expect(mergesOf(schema, {})).toEqual({ count, comparesAll: true, copies: 0 })
})

test('the limit is one for all objects of a value and all their merges', () => {
  const isSlow = (value: unknown, count: number): boolean =>
    isSlowToMerge(value, { count, comparesAll: true, copies: 0 })
  expect(isSlow(wide(12_000), 1)).toBe(false)
  expect(isSlow([wide(12_000), wide(12_000)], 1)).toBe(true)
  expect(isSlow(wide(12_000), 2)).toBe(true)
  expect(isSlow([wide(20_000)], 0)).toBe(false)
})
