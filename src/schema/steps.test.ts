import { types } from 'node:util'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { scope } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import type { AnySchema, StandardSchema } from './schema.ts'
import { toEstimator } from './steps.ts'

type Value = Readonly<Record<string, unknown>>

/** How often valibot began to compare a part with the alternatives. */
let looks = 0

const alternatives = v.union([
  v.object({ op: v.literal('and'), args: v.array(v.lazy(() => filter)) }),
  v.object({ op: v.literal('or'), args: v.array(v.lazy(() => filter)) }),
  v.object({ field: v.string() }),
])
const filter: v.GenericSchema = v.lazy(() => (looks++, alternatives))
const keyed: v.GenericSchema = v.lazy(() =>
  v.union([
    v.object({ and: v.array(keyed) }),
    v.object({ or: v.array(keyed) }),
    v.object({ field: v.string() }),
  ]),
)
const variant: v.GenericSchema = v.lazy(() =>
  v.variant('op', [
    v.object({ op: v.literal('and'), args: v.array(variant) }),
    v.object({ op: v.literal('or'), args: v.array(variant) }),
    v.object({ op: v.literal('leaf'), field: v.string() }),
  ]),
)
const later = v.unionAsync([
  v.objectAsync({ op: v.literal('and'), args: v.arrayAsync(v.lazyAsync(() => slow)) }),
  v.objectAsync({ op: v.literal('or'), args: v.arrayAsync(v.lazyAsync(() => slow)) }),
  v.object({ field: v.string() }),
])
const slow: v.GenericSchemaAsync = v.lazyAsync(() => (looks++, later))
const zodFilter: z.ZodType = z.lazy(() =>
  z.union([
    z.object({ op: z.literal('and'), args: z.array(zodFilter) }),
    z.object({ op: z.literal('or'), args: z.array(zodFilter) }),
    z.object({ field: z.string() }),
  ]),
)
const arkFilter = scope({
  and: { op: "'and'", args: 'filter[]' },
  or: { op: "'or'", args: 'filter[]' },
  leaf: { field: 'string' },
  filter: 'and|or|leaf',
  root: { where: 'filter' },
}).export().root

const LEAF = { op: 'leaf', field: 'a' }

function nest(depth: number, around: (value: Value) => Value, leaf: Value = LEAF): Value {
  let value = leaf
  for (let level = 0; level < depth; level++) value = around(value)
  return { where: value }
}

const inOr = (value: Value): Value => ({ op: 'or', args: [value] })
const inKey = (value: Value): Value => ({ or: [value] })
const wrapped = (where: v.GenericSchema): AnySchema => toStandardJsonSchema(v.object({ where })) as AnySchema
/** The JSON Schema cannot be made from an asynchronous schema, but is the same. */
const wrappedSlow = {
  '~standard': {
    ...v.objectAsync({ where: slow })['~standard'],
    jsonSchema: (wrapped(filter) as never)['~standard']['jsonSchema'],
  },
} as AnySchema

/** What a schema that somebody has wrapped is made of, nobody sees. */
function hidden(schema: AnySchema): AnySchema {
  const { '~standard': standard } = schema as StandardSchema
  return { '~standard': { ...standard, validate: (value: unknown) => standard.validate(value) } } as AnySchema
}

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }

describe('schemas of libraries whose alternatives contain themselves', () => {
  test.each([
    ['a schema that is wrapped', hidden(wrapped(filter))],
    ['an asynchronous schema', wrappedSlow],
  ])('%s does not check a value whose steps double with every level', async (_, schema) => {
    const checker = toChecker(schema, 'input')
    looks = 0
    expect(await checker.check(nest(18, inOr))).toMatchObject(TOO_LONG)
    expect(looks).toBeLessThan(100_000)
    expect(await checker.check(nest(4, inOr))).toMatchObject({ ok: true })
    expect(await toChecker(schema, 'output').check(nest(18, inOr))).toMatchObject(TOO_LONG)
  })

  test('a value in pieces has no more steps than one in one piece', async () => {
    const checker = toChecker(hidden(wrapped(filter)), 'input')
    // Each part is cheap enough alone.
    const parts = Array.from({ length: 2000 }, () => nest(9, inOr)['where'])
    looks = 0
    expect(await checker.check({ where: { op: 'and', args: parts } })).toMatchObject(TOO_LONG)
    expect(looks).toBeLessThan(1_000_000)
  })

  test.each<readonly [string, AnySchema, Value]>([
    ['one key for each alternative', hidden(wrapped(keyed)), nest(60, inKey)],
    ['a discriminated union', hidden(wrapped(variant)), nest(60, inOr)],
    ['zod, which gives up alternatives early', z.object({ where: zodFilter }), nest(60, inOr)],
    ['arktype, which discriminates unions', arkFilter as AnySchema, nest(60, inOr)],
    [
      'a large flat value',
      hidden(wrapped(filter)),
      { where: { op: 'or', args: Array.from({ length: 20_000 }, () => LEAF) } },
    ],
  ])('%s stays cheap, so deep and large values pass', async (_, schema, value) => {
    expect(await toChecker(schema, 'input').check(value)).toMatchObject({ ok: true })
  })

  test('problems are found as ever, and functions of the schema get the value itself', async () => {
    const got: unknown[] = []
    const schema = z.object({ where: zodFilter.refine((value) => got.push(value) > 0) })
    const checker = toChecker(schema, 'input')
    const value = nest(30, inOr)
    const checked = await checker.check(value)
    expect(checked).toEqual({ ok: true, value: nest(30, inOr, { field: 'a' }) })
    structuredClone(got.at(-1))
    expect(await checker.check(nest(30, inOr, { field: 1 }))).toMatchObject({
      ok: false,
      first: { path: ['where'] },
    })
  })
})

test('a large value is tried and checked in different turns', async () => {
  let turn = 0
  let isDone = false
  const count = (): void => void (turn++, isDone || setImmediate(count))
  count()
  // Zod gives up alternatives early, so that it takes fewer steps than are estimated.
  const { '~standard': standard } = z.object({ where: zodFilter })
  const whole = { where: { op: 'or', args: Array.from({ length: 100 }, () => nest(30, inOr)['where']) } }
  /** The turns in which the library tried a copy that counts, or checked the whole value. */
  const turns: number[] = []
  const validate = (value: unknown): unknown => {
    if (types.isProxy(value) || value === whole) turns.push(turn)
    return standard.validate(value)
  }
  const spied = { '~standard': { ...standard, validate } } as unknown as AnySchema
  expect(await toChecker(spied, 'input').check(whole)).toMatchObject({ ok: true })
  isDone = true
  expect(turns.at(-1)).toBeGreaterThan(turns[0]!)
})

describe('the number of steps', () => {
  const node = { $ref: '#/$defs/node' }
  const schema = (parts: object): object => ({
    type: 'object',
    properties: { where: node },
    $defs: { node: parts },
  })

  test('grows only with the size of a value if no alternatives contain themselves', () => {
    const flat = { anyOf: [{ type: 'string' }, { properties: { a: {} } }] }
    for (const each of [flat, schema({ properties: { next: node } })])
      expect(toEstimator(each).multiplies).toBe(false)
    expect(toEstimator(schema({ anyOf: [{ items: node }, { items: node }] })).multiplies).toBe(true)
  })

  test.each<readonly [string, object, (value: unknown) => unknown]>([
    ['properties', { anyOf: [{ properties: { a: node } }, { properties: { a: node } }] }, (a) => ({ a })],
    ['items', { anyOf: [{ items: node }, { items: node }] }, (a) => [a]],
    ['prefixItems', { oneOf: [{ prefixItems: [{}, node] }, { prefixItems: [{}, node] }] }, (a) => [0, a]],
    [
      'additionalProperties',
      { allOf: [{ additionalProperties: node }, { additionalProperties: node }] },
      (b) => ({ b }),
    ],
  ])('doubles with every level through %s', (_, parts, around) => {
    const { estimate } = toEstimator(schema(parts))
    const steps = (levels: number): number => {
      let where: unknown = 'leaf'
      for (let level = 0; level < levels; level++) where = around(where)
      return estimate({ where }, 1_000_000).steps
    }
    expect(steps(21) / steps(20)).toBeCloseTo(2)
    expect(steps(120)).toBeGreaterThan(2 ** 120)
  })

  test('is found in few steps, also for values that contain themselves', () => {
    const { estimate } = toEstimator(schema({ anyOf: [{ properties: { a: node } }, { items: node }] }))
    expect(estimate({ where: Array.from({ length: 1000 }, () => ({})) }, 100).steps).toBe(Infinity)
    const self: Record<string, unknown> = {}
    self['a'] = self
    expect(estimate({ where: self }, 100).steps).toBe(Infinity)
  })
})
