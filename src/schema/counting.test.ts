import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as newest from 'zod'
import * as mini from 'zod/mini'
import * as oldest from 'zod42'
import { toChecker } from './checker.ts'
import { Counter } from './counting.ts'
import { hidesParts } from './hiding.ts'
import { toCounting } from './remembering.ts'
import type { AnySchema, StandardSchema } from './schema.ts'

type Zod = typeof newest.z

/** All versions of zod have the same types here. */
const ZODS = [
  ['zod', newest.z],
  ['zod 4.2', oldest.z as unknown as Zod],
] as const

const same = (value: unknown): unknown => value
const shape = <Part>(count: number, part: () => Part, prefix = 'f'): Record<string, Part> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, part()]))
const times = <Part>(count: number, part: (at: number) => Part): Part[] =>
  Array.from({ length: count }, (_, at) => part(at))
const rows = (count: number, part: unknown): { rows: unknown[] } => ({ rows: times(count, () => part) })
const valibot = (schema: v.GenericSchema): AnySchema => toStandardJsonSchema(schema) as AnySchema

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }
const TOO_MUCH = { ok: false, issue: 'becomes too large with its defaults: send less at once' }

/** Counts how often members are looked at. */
class Work {
  done = 0
  readonly look = (): boolean => {
    this.done++
    return true
  }
}

/** A schema whose items hide behind something, and how often their members are looked at. */
type Make = (work: Work) => AnySchema

/** The ways in which zod hides a schema. */
const zodWays = (z: Zod): readonly (readonly [string, (schema: newest.ZodType) => newest.ZodType])[] => [
  ['a transform', (schema) => z.unknown().transform(same).pipe(schema)],
  ['anything', (schema) => z.any().pipe(schema)],
  ['a loose object', (schema) => z.looseObject({}).pipe(schema as never)],
  ['a codec', (schema) => z.codec(z.any(), schema, { decode: same as never, encode: same as never })],
  [
    'a property',
    (schema) => z.any().check(z.property('length', z.any()), z.property('self' as never, schema)),
  ],
]

/** Fifty alternatives with twenty members, before one that fits. */
const zodWide = (z: Zod, work: Work): newest.ZodType =>
  z.union([
    ...times(50, (at) =>
      z.object({
        ...shape(10, () => z.unknown().refine(work.look)),
        ...shape(10, () => z.number(), `m${at}`),
      }),
    ),
    z.object({ note: z.string().optional() }),
  ])
const valibotWide = (work: Work): v.GenericSchema =>
  v.union([
    ...times(50, (at) =>
      v.object({
        ...shape(10, () => v.optional(v.pipe(v.unknown(), v.check(work.look)), 1)),
        ...shape(10, () => v.number(), `m${at}`),
      }),
    ),
    v.object({ note: v.optional(v.string()) }),
  ])
const hidden = (schema: v.GenericSchema): v.GenericSchema => v.pipe(v.unknown(), v.transform(same), schema)

// oxfmt-ignore
const wide: readonly (readonly [string, Make, part: unknown])[] = [
  ...ZODS.flatMap(([version, z]) =>
    zodWays(z).map(([way, hide]) => {
      const self: { self?: unknown } = {}
      if (way === 'a property') self.self = {}
      return [`${version} behind ${way}`, (work: Work) => z.object({ rows: z.array(hide(zodWide(z, work))) }), self] as const
    }),
  ),
  ['zod in a text', (work) => { const z = newest.z; return z.object({ rows: z.array(z.string().transform((text) => JSON.parse(text) as unknown).pipe(z.array(zodWide(z, work)))) }) }, '[{},{},{}]'],
  ['zod in a catch', (work) => { const z = newest.z; return z.object({ rows: z.array(z.any().pipe(z.object({ ...shape(20, () => z.any().refine(work.look)), ...shape(20, () => z.number(), 'm') }).catch({} as never))) }) }, {}],
  ['valibot', (work) => valibot(v.object({ rows: v.array(hidden(valibotWide(work))) })), {}],
  ['valibot without a function', (work) => valibot(v.object({ rows: v.array(v.pipe(v.any(), valibotWide(work))) })), {}],
  ['valibot behind lazy', (work) => { const wideOne = valibotWide(work); return valibot(v.object({ rows: v.array(v.lazy(() => hidden(wideOne))) })) }, {}],
]

describe('what the JSON Schema hides is not checked for longer than what it shows', () => {
  test.each(wide)('%s', async (_, make, part) => {
    const work = new Work()
    const { check } = toChecker(make(work), 'input')
    expect(await check(rows(3000, part))).toMatchObject(TOO_LONG)
    expect(work.done).toBeLessThan(300_000)
    // Nothing of a check that was given up remains.
    expect(await check(rows(10, part))).toMatchObject({ ok: true })
  })

  test('nor is a large value', async () => {
    for (const [, make, part] of wide.slice(-2)) {
      const work = new Work()
      expect(await toChecker(make(work), 'input').check(rows(99_000, part))).toMatchObject(TOO_LONG)
      expect(work.done).toBeLessThan(2_000_000)
    }
  })

  test.each(ZODS)('an object of many names in an intersection of %s', async (_, z) => {
    const names = JSON.stringify(Object.fromEntries(times(100_000, (at) => [`n${at}`, 1])))
    const record = z.record(z.string(), z.number())
    const hides = z.object({
      text: z
        .string()
        .transform((text) => JSON.parse(text) as unknown)
        .pipe(record.and(record)),
    })
    expect(await toChecker(hides, 'input').check({ text: names })).toMatchObject(TOO_LONG)
    expect(await toChecker(hides, 'input').check({ text: '{"a":1}' })).toMatchObject({
      ok: true,
      value: { text: { a: 1 } },
    })
  })

  test('results are limited, too', async () => {
    const { z } = newest
    const work = new Work()
    const hides = z.object({ rows: z.array(zodWide(z, work).pipe(z.any())) })
    expect(await toChecker(hides, 'output').check(rows(3000, {}))).toMatchObject(TOO_LONG)
  })

  test('a schema of valibot that cannot be copied is counted from outside', async () => {
    const schema = valibot(
      v.object({ rows: v.array(hidden(v.fallback(valibotWide(new Work()), { note: '' } as never))) }),
    )
    expect(await toChecker(schema, 'input').check(rows(3000, {}))).toMatchObject(TOO_LONG)
    expect(await toChecker(schema, 'input').check(rows(10, {}))).toMatchObject({ ok: true })
  })
})

describe('the check of a value that is certainly wrong ends with the first problems', () => {
  // oxfmt-ignore
  const schemas: readonly (readonly [string, Make])[] = [
    ...ZODS.map(([version, z]) => [version, ({ look }: Work) => z.object({ rows: z.array(z.any().pipe(z.object({ a: z.any().refine(look), ...shape(20, () => z.number()) }))) })] as const),
    ['valibot', ({ look }) => valibot(v.object({ rows: v.array(hidden(v.object({ a: v.pipe(v.unknown(), v.check(look)), ...shape(20, () => v.number()) }))) }))],
  ]
  test.each(schemas)('%s', async (_, make) => {
    const work = new Work()
    const { check } = toChecker(make(work), 'input')
    for (const count of [2000, 90_000]) {
      work.done = 0
      const checked = await check(rows(count, { a: 1 }))
      expect(checked).toMatchObject({ ok: false, first: { path: ['rows', 0, 'f0'] } })
      expect(checked).not.toHaveProperty('undecided')
      expect(work.done).toBeLessThan(20_000)
    }
  })
})

describe('defaults that are hidden count', () => {
  const list = (): unknown[] => []
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema])[] = [
    ...ZODS.flatMap(([version, z]) => [
      [`${version}: lists`, z.object({ rows: z.array(z.any().pipe(z.object(shape(40, () => z.array(z.string()).default([]))))) })] as const,
      [`${version}: prefaults`, z.object({ rows: z.array(z.any().pipe(z.object(shape(40, () => z.array(z.string()).prefault(() => []))))) })] as const,
      [`${version}: what is caught`, z.object({ rows: z.array(z.any().pipe(z.array(z.string()).catch(() => times(2000, String)))) })] as const,
    ]),
    ['valibot', valibot(v.object({ rows: v.array(hidden(v.object(shape(40, () => v.optional(v.array(v.string()), []))))) }))],
    ['valibot: functions', valibot(v.object({ rows: v.array(hidden(v.object(shape(40, () => v.optional(v.array(v.string()), list as () => string[]))))) }))],
    ['valibot: fallbacks', valibot(v.object({ rows: v.array(hidden(v.object(shape(40, () => v.fallback(v.array(v.string()), list as () => string[]))))) }))],
  ]
  test.each(schemas)('%s', async (_, schema) => {
    const { check } = toChecker(schema, 'input')
    expect(await check(rows(99_000, {}))).toMatchObject(TOO_MUCH)
    expect(await check(rows(100, {}))).toMatchObject({ ok: true })
  })
})

describe('what honest clients send passes', () => {
  const row = { kind: 'k4', a: 'x', b: 1, c: true }
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema])[] = [
    ...ZODS.map(([version, z]) => [version, z.object({ rows: z.array(z.unknown().transform(same).pipe(z.union(times(5, (at) => z.object({ kind: z.literal(`k${at}`), a: z.string(), b: z.number(), c: z.boolean() }))))) })] as const),
    ['valibot', valibot(v.object({ rows: v.array(hidden(v.union(times(5, (at) => v.object({ kind: v.literal(`k${at}`), a: v.string(), b: v.number(), c: v.boolean() }))))) }))],
  ]
  test.each(schemas)('10,000 objects told apart by a constant in %s', async (_, schema) => {
    expect(await toChecker(schema, 'input').check(rows(10_000, row))).toMatchObject({
      ok: true,
      value: rows(10_000, row),
    })
  })

  test('a list of constants, of which there are many', async () => {
    const schema = valibot(v.object({ rows: v.array(hidden(v.picklist(times(1000, (at) => `e${at}`)))) }))
    expect(await toChecker(schema, 'input').check(rows(10_000, 'e999'))).toMatchObject({ ok: true })
  })

  test('100,000 rows in a text', async () => {
    const { z } = newest
    const schema = z.object({
      text: z
        .string()
        .transform((text) => JSON.parse(text) as unknown)
        .pipe(z.array(z.object({ a: z.number(), b: z.string() }))),
    })
    const text = JSON.stringify(times(100_000, (a) => ({ a, b: 'x' })))
    expect(await toChecker(schema, 'input').check({ text })).toMatchObject({ ok: true })
  })
})

test('checks that wait for each other count on their own', async () => {
  for (const [, z] of ZODS) {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const work = new Work()
    const item = zodWide(z, work)
    const schema = z.object({
      rows: z.array(
        z
          .unknown()
          .transform(async (each) => (await gate, each))
          .pipe(item),
      ),
    })
    const { check } = toChecker(schema, 'input')
    const small = times(20, () => check(rows(4, {})))
    const large = check(rows(3000, {}))
    go()
    expect(await large).toMatchObject(TOO_LONG)
    for (const each of small) expect(await each).toMatchObject({ ok: true })
    expect(work.done).toBeLessThan(1_000_000)
  }
})

test('only schemas that hide more than a plain value are copied', () => {
  const { z } = newest
  // oxfmt-ignore
  const shown: readonly AnySchema[] = [
    z.object({ a: z.array(z.union([z.string(), z.object({})])).default([]) }),
    z.object({ a: z.preprocess(same, z.array(z.object({}))) }),
    z.object({ a: z.string().transform(Number).pipe(z.number().min(3)) }),
    z.object({ a: z.object({ b: z.string() }).transform(same) }),
    valibot(v.object({ a: v.pipe(v.array(v.object({})), v.minLength(1), v.transform(same as never)) })),
    valibot(v.object({ a: v.pipe(v.string(), v.transform(Number), v.number()) })),
  ]
  for (const schema of shown) expect(hidesParts(schema as StandardSchema, 'input')).toBe(false)
  expect(hidesParts(z.object({ a: z.preprocess(same, z.array(z.any())) }), 'output')).toBe(false)
  expect(hidesParts(z.object({ a: z.array(z.any()).pipe(z.any()) }), 'input')).toBe(false)
  expect(hidesParts(z.object({ a: z.array(z.any()).pipe(z.any()) }), 'output')).toBe(true)
})

test('a schema that contains itself behind a pipe remembers and counts', async () => {
  for (const [, z] of ZODS) {
    const looks = new Work()
    const node: newest.ZodType = z.lazy(() =>
      z.union([z.object({ c: node, a: z.string() }), z.object({ c: node, b: z.string() }), z.number()]),
    )
    const wideOne = zodWide(z, looks)
    const schema = z.object({ v: node, rows: z.array(z.any().pipe(wideOne)) })
    const { check } = toChecker(schema, 'input')
    let v: unknown = 1
    for (let depth = 0; depth < 40; depth++) v = { c: v, b: 'x' }
    expect(await check({ v, rows: [{}] })).toMatchObject({ ok: true, value: { v, rows: [{}] } })
    expect(await check({ v, rows: times(3000, () => ({})) })).toMatchObject(TOO_LONG)
  }
})

/** A result without what is wrong with each alternative, and the calls of functions of the author. */
async function outcomeOf(
  check: (value: unknown) => unknown,
  value: unknown,
  calls: unknown[],
): Promise<unknown> {
  calls.length = 0
  try {
    const { value: made, issues } = (await check(value)) as {
      readonly value?: unknown
      readonly issues?: unknown
    }
    return { made, calls: [...calls], issues: issues && (JSON.parse(JSON.stringify(issues)) as unknown) }
  } catch (thrown) {
    return { thrown: String(thrown), calls: [...calls] }
  }
}

describe('a schema that is counted does what the schema does', () => {
  const calls: unknown[] = []
  const note = <Value>(value: Value): Value => (calls.push(structuredClone(value)), value)
  const parts = [
    undefined,
    null,
    1,
    -1,
    'x',
    ' yes ',
    '12',
    [],
    {},
    ['x', 1, 2],
    [1],
    { a: 1 },
    { a: 'x', b: ' y ' },
    { kind: 'one', n: 1 },
    { kind: 'two', n: 1, more: true },
    { kind: 'three' },
    { a: { a: { a: 'x' } } },
    { items: [{ items: [] }, { items: [{ items: 1 }] }] },
  ]
  const values = [...parts, ...parts.map((at) => ({ at })), ...parts.map((each) => ({ at: [each, each] }))]

  // oxfmt-ignore
  const zodKinds = (z: Zod): Readonly<Record<string, () => newest.ZodType>> => ({
    union: () => z.union([z.string().trim().min(2, 'short').transform(note), z.number().refine(note, { error: 'no', path: ['q'] }), z.strictObject({ a: z.number() }), z.looseObject({ a: z.string().optional(), b: z.string().trim().catch('caught') })]),
    choice: () => z.discriminatedUnion('kind', [z.object({ kind: z.literal('one'), n: z.number().transform(note) }), z.object({ kind: z.literal('two'), n: z.coerce.string() }).strict()]),
    xor: () => z.xor([z.object({ a: z.any() }), z.object({ b: z.string() }).strict(), z.null()]),
    both: () => z.intersection(z.object({ a: z.string().transform(note) }), z.looseObject({ b: z.string() })).brand<'x'>(),
    record: () => z.record(z.string().max(1), z.union([z.string(), z.number()])).readonly(),
    tuple: () => z.tuple([z.string(), z.number().default(4)], z.number()).or(z.array(z.number()).max(1).nonempty()),
    defaults: () => z.object({ a: z.number().default(() => note(3)), b: z.array(z.string()).prefault(['p']).catch((ctx) => note([String(ctx.error.issues.length)])), c: z.any().optional(), d: z.string().nullish().default('d'), e: z.nonoptional(z.string().optional()).catch('e') }),
    effects: () => z.any().superRefine((value, ctx) => { if (Array.isArray(value)) ctx.addIssue({ code: 'custom', message: `list ${note(value).length}`, path: [0] }) }).check(z.property('length' as never, z.number().max(1).optional())),
    codecs: () => z.union([z.stringbool(), z.codec(z.string().regex(/^\d+$/), z.number().min(20), { decode: (text) => Number(note(text)), encode: String }), z.templateLiteral(['x', z.number().optional()]), z.email()]),
    later: () => z.any().transform((value: unknown) => new Map([['k', note(value)]])).pipe(z.map(z.string().max(1), z.union([z.array(z.string()), z.undefined()]))).transform((map) => [...map]),
    tree: () => { const node: newest.ZodType = z.lazy(() => z.object({ items: z.array(node).transform(note) })); return node },
    getter: () => { const node: newest.ZodType = z.object({ get a(): newest.ZodType { return z.union([z.string(), node]) }, b: z.string().transform(note).optional() }); return node },
    waiting: () => z.union([z.string().transform(async (text) => note(text)), z.object({ a: z.any().refine(async (value) => note(value) !== 1, 'one') })]),
    fails: () => z.any().transform((value: unknown) => { if (value === 1) throw new Error('own'); return note(value) }),
  })
  // oxfmt-ignore
  const valibotKinds: Readonly<Record<string, () => v.GenericSchema>> = {
    union: () => v.union([v.pipe(v.string(), v.trim(), v.minLength(2, 'short'), v.transform(note)), v.pipe(v.number(), v.check((value) => note(value) > 0, 'no')), v.strictObject({ a: v.number() }), v.looseObject({ a: v.optional(v.string()), b: v.fallback(v.pipe(v.string(), v.trim()), 'caught') })]),
    choice: () => v.variant('kind', [v.object({ kind: v.literal('one'), n: v.pipe(v.number(), v.transform(note)) }), v.strictObject({ kind: v.literal('two'), n: v.number() })]),
    both: () => v.intersect([v.object({ a: v.pipe(v.string(), v.transform(note)) }), v.looseObject({ b: v.string() })]),
    record: () => v.record(v.pipe(v.string(), v.maxLength(1)), v.union([v.string(), v.number()])),
    tuple: () => v.union([v.tupleWithRest([v.string(), v.optional(v.number(), 4)], v.number()), v.pipe(v.array(v.number()), v.maxLength(1), v.nonEmpty())]),
    defaults: () => v.object({ a: v.optional(v.number(), () => note(3)), b: v.fallback(v.array(v.string()), () => note(['f'])), d: v.nullish(v.string(), 'd'), e: v.exactOptional(v.string()), f: v.optional(v.array(v.string()), []) }),
    closed: () => v.fallback(v.object({ a: v.pipe(v.string(), v.transform(note)) }), () => note({ a: 'f' })),
    config: () => v.config(v.object({ a: v.string(), b: v.string() }), { abortEarly: true }),
    tree: () => { const node: v.GenericSchema = v.object({ items: v.pipe(v.array(v.lazy(() => node)), v.transform(note)) }); return node },
    fails: () => v.pipe(v.any(), v.transform((value: unknown) => { if (value === 1) throw new Error('own'); return note(value) })),
  }
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema])[] = [
    ...ZODS.flatMap(([version, z]) => Object.entries(zodKinds(z)).map(([name, make]) => [`${name} of ${version}`, z.object({ at: z.unknown().transform(note).pipe(z.union([make(), z.array(make())])) })] as const)),
    ...ZODS.flatMap(([version, z]) => Object.entries(zodKinds(z)).map(([name, make]) => [`${name} of ${version}, alone`, z.object({ at: z.any().pipe(make()) })] as const)),
    ...Object.entries(valibotKinds).map(([name, make]) => [`${name} of valibot`, valibot(v.object({ at: hidden(v.union([make(), v.array(make())])) }))] as const),
    ...Object.entries(valibotKinds).map(([name, make]) => [`${name} of valibot, alone`, valibot(v.object({ at: hidden(make()) }))] as const),
    ['zod/mini', mini.object({ at: mini.pipe(mini.unknown(), mini.union([mini.string().check(mini.trim()), mini.array(mini.optional(mini._default(mini.number(), 3)))])) }) as unknown as AnySchema],
  ]
  test.each(schemas)('%s', async (_, schema) => {
    const standard = schema as StandardSchema
    const counter = new Counter(standard)
    const counting = toCounting(standard, 'input', counter)!
    expect(counting).not.toBe(schema)
    const own = standard['~standard']
    const { validate } = counting['~standard']
    for (const value of values) {
      const expected = await outcomeOf((each) => own.validate(each), value, calls)
      const check = counter.limit((each) => validate(each), value)
      expect(await outcomeOf(check, value, calls)).toEqual(expected)
      expect(await outcomeOf((each) => validate(each), value, calls)).toEqual(expected)
    }
  })
})
