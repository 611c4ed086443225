import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { scope, type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import { partsIn } from './pieces.ts'
import type { AnySchema } from './schema.ts'

describe('a large value with a problem in every part', () => {
  const many = (part: unknown, count = 100_000): unknown[] => Array.from({ length: count }, () => part)
  const named = (part: unknown): object => Object.fromEntries(many(part).map((each, at) => [`k${at}`, each]))
  const list = (item: z.ZodType): AnySchema => z.object({ list: z.array(item) })
  interface Tree {
    readonly name: string
    readonly below?: Tree[] | undefined
  }
  const Tree: z.ZodType<Tree> = z.object({ name: z.email(), below: z.lazy(() => z.array(Tree)).optional() })
  const kind = z.object({ kind: z.literal('a') }).catchall(z.email().or(z.literal('a')))

  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema, value: object, at: RegExp])[] = [
    ['formats', list(z.email()), { list: many('x') }, /^list\[0\]: Invalid email/],
    ['patterns', list(z.string().regex(/^a$/)), { list: many('x') }, /^list\[0\]: /],
    ['multiples', list(z.number().multipleOf(2)), { list: many(1) }, /^list\[0\]: /],
    ['refinements', list(z.number().refine((n) => n > 1)), { list: many(1) }, /^list\[0\]: /],
    ['conversions', list(z.coerce.number()), { list: many('x') }, /^list\[0\]: /],
    ['missing members', list(z.object({ a: z.string() })), { list: many({}) }, /^list\[0\].a: /],
    ['alternatives', list(z.union([z.email(), z.uuid()])), { list: many('x') }, /^list\[0\]: /],
    ['alternatives above', z.union([z.object({ list: z.array(z.email()) }), z.object({ list: z.array(z.uuid()), n: z.int() })]), { list: many(1) }, /^(?:list\[0\]: )?Invalid/],
    ['records', z.record(z.string(), z.email()), named('x'), /^k0: /],
    ['names', z.record(z.email(), z.string()), named('x'), /^k0: /],
    ['other members beside a kind', z.discriminatedUnion('kind', [kind, z.object({ kind: z.literal('b') })]), { ...named('x'), kind: 'a' }, /^k0: /],
    ['lists of lists', list(z.array(z.email())), { list: many(many('x', 100), 1000) }, /^list\[0\]\[0\]: /],
    ['large lists in a list', list(z.array(z.email())), { list: [...many('a@b.cd', 2), ...many(many('x', 9000), 11)].map((part) => [part].flat()) }, /^list\[2\]\[0\]: /],
    ['alternatives that are lists', list(z.union([z.array(z.email()), z.array(z.uuid())])), { list: many(many(1, 900), 110) }, /^list\[0\]: /],
    ['alternatives that are large lists', list(z.union([z.array(z.email()), z.array(z.uuid())])), { list: many(many(1, 9000), 11) }, /^list\[0\]: /],
    ['trees', z.object({ tree: Tree }), { tree: { name: 'a@b.cd', below: many({ name: 'x', below: many({ name: 'x' }, 2000) }, 30) } }, /^tree.below\[0\]/],
    ['rests', z.object({ list: z.tuple([z.string()], z.number()) }), { list: many('x') }, /^list\[1\]: /],
    ['both sides', z.object({ list: z.intersection(z.array(z.email()), z.array(z.uuid())) }), { list: many('x') }, /^list\[0\]: /],
    ['a minimum of members', z.object({ list: z.array(z.email()).min(5000) }), { list: many('x') }, /^list\[0\]: /],
    ['a second stage', z.object({ a: z.array(z.string()), b: z.array(z.string()).min(1) }).transform(({ a }) => ({ a })).pipe(z.object({ a: z.array(z.email()) })), { a: many('x'), b: many('x') }, /^a\[0\]: /],
    ['valibot', toStandardJsonSchema(v.object({ list: v.array(v.pipe(v.string(), v.email())) })), { list: many('x') }, /^list\[0\]: /],
    ['valibot, alternatives', toStandardJsonSchema(v.object({ list: v.union([v.array(v.pipe(v.string(), v.email())), v.array(v.number())]) })), { list: many(true) }, /^list: /],
    ['arktype', type({ list: 'string.email[]' }), { list: many('x') }, /^list\[0\]: /],
    ['arktype, alternatives', type({ list: 'string.email[] | number[]' }), { list: many('x') }, /list/],
    ['arktype, unknown members', type({ '+': 'reject', 'a?': 'string' }), named('x'), /^k0: /],
  ]

  test.each(cases)('is rejected before the library has found them all: %s', async (_, schema, value, at) => {
    const checked = spied(schema)
    expect(await toChecker(checked.schema, 'input').check(value)).toMatchObject({
      ok: false,
      issue: expect.stringMatching(at) as string,
    })
    expect(checked.issues).toBeLessThan(10_000)
  })

  const choice = (count: number, members: number): z.ZodType =>
    z.union(
      Array.from({ length: count }, (_, at) =>
        z.object(
          Object.fromEntries(
            many(z.string(), members).map((each, no) => [`m${at}_${no}`, each as z.ZodType]),
          ),
        ),
      ),
    )
  // oxfmt-ignore
  const complex: readonly (readonly [string, AnySchema, value: object])[] = [
    ['alternatives', list(choice(10, 1)), { list: many({}, 9900) }],
    ['alternatives with many members', list(choice(10, 20)), { list: many({}, 9900) }],
    ['many members', list(choice(1, 30)), { list: many({}, 9900) }],
    ['alternatives around a list', z.union(many(0, 12).map((_, at) => z.object({ list: z.array(z.email()), n: z.literal(at) }))), { list: many('x', 9000), n: 1 }],
    ['alternatives in a tree', z.object({ tree: z.lazy(() => z.array(choice(20, 3))) }), { tree: many({}, 9900) }],
  ]
  test.each(complex)(
    'is rejected early if the schema finds many in each part, even of a smaller value: %s',
    async (_, schema, value) => {
      const checked = spied(schema)
      expect(await toChecker(checked.schema, 'input').check(value)).toMatchObject({ ok: false })
      expect(checked.issues).toBeLessThan(45_000)
    },
  )

  const union = z.union([z.object({ a: z.string() }), z.object({ b: z.number() }), z.email(), z.number()])
  const kinds = z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })])
  const others = v.union([
    v.object({ a: v.string() }),
    v.object({ b: v.number() }),
    v.pipe(v.string(), v.email()),
  ])
  test.each<readonly [string, AnySchema]>([
    ['zod, alternatives', list(union)],
    ['zod, kinds', list(kinds)],
    ['valibot, alternatives', toStandardJsonSchema(v.object({ list: v.array(others) }))],
  ])('is rejected early if it is smaller, but does not fit the JSON Schema: %s', async (_, schema) => {
    const checked = spied(schema)
    const value = { list: many({}, 6500) }
    expect(await toChecker(checked.schema, 'input').check(value)).toMatchObject({ ok: false })
    expect(checked.issues).toBeLessThan(3000)
    // The control: the library alone finds a problem of each.
    const alone = await (schema as z.ZodType)['~standard'].validate(value)
    expect(alone.issues?.length).toBeGreaterThanOrEqual(6500)
  })

  test('is accepted if only the JSON Schema says no', async () => {
    const lenient = z.object({
      list: z.array(z.preprocess((part) => part ?? 'x', z.string())),
      n: z.array(z.number()).catch([]),
    })
    const value = { list: many(null, 3000), n: many('x', 3000) }
    expect(await toChecker(lenient, 'input').check(value)).toMatchObject({ ok: true, value: { n: [] } })
  })

  test('is rejected where the problems are, even far behind good parts', async () => {
    const value = { list: [...many('a@b.cd', 50_500), ...many('x', 50_000)] }
    expect(await toChecker(list(z.email()), 'input').check(value)).toMatchObject({
      ok: false,
      first: { path: ['list', 50_500] },
    })
  })

  test('is rejected by a library that waits', async () => {
    const checked = spied(list(z.string().refine(async (text) => text === 'good')))
    const answer = toChecker(checked.schema, 'input').check({ list: many('x') })
    expect(await answer).toMatchObject({ ok: false, first: { path: ['list', 0] } })
    expect(checked.issues).toBeLessThan(10_000)
  })

  test('gets the answer of the library if there are few problems', async () => {
    const value = { list: [...many('a@b.cd', 50_500), 'x', 5] }
    expect(await toChecker(list(z.email()), 'input').check(value)).toMatchObject({
      ok: false,
      issue: 'list[50500]: Invalid email address; list[50501]: expected string, received number',
    })
  })
})

describe('what a schema makes of a small value, it makes of a large one', () => {
  const row = { at: '5', extra: true }
  const rows = (count: number): object => ({
    rows: Array.from({ length: count }, (_, id) => ({ ...row, id })),
  })
  const WithDefault = z.object({
    rows: z.array(z.object({ id: z.number(), note: z.string().default('none') })),
  })
  const Unique = z
    .array(z.object({ id: z.number() }))
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length)
  const change = (all: unknown): unknown => {
    for (const one of all as { id: number }[]) one.id++
    return all
  }
  const families: readonly (readonly [string, AnySchema])[] = [
    ['unknown members are left out', z.object({ rows: z.array(z.object({ id: z.number() })) })],
    ['defaults are filled in', WithDefault],
    [
      'a transform',
      z.object({
        rows: z.array(
          z.object({
            id: z
              .number()
              .transform((id) => id + 1)
              .pipe(z.number()),
          }),
        ),
      }),
    ],
    ['a conversion', z.object({ rows: z.array(z.object({ id: z.coerce.string(), at: z.coerce.number() })) })],
    [
      'a value prepared',
      z.object({
        rows: z.preprocess((all) => (all as object[]).slice(1), z.array(z.object({ id: z.number() }))),
      }),
    ],
    [
      'a value changed in place',
      z.object({ rows: z.preprocess(change, z.array(z.object({ id: z.number() }))) }),
    ],
    ['a least number', z.object({ rows: z.array(z.object({ id: z.number() })).min(900) })],
    ['a rule for all rows', z.object({ rows: Unique })],
    [
      'a rule that throws without the first',
      z.object({
        rows: z.array(z.object({ id: z.number() })).refine((all) => all.find(({ id }) => id === 0)!.id === 0),
      }),
    ],
    [
      'first rows of another kind',
      z.object({ rows: z.tuple([z.object({ id: z.literal(0) })], z.object({ id: z.number() })) }),
    ],
    [
      'alternatives',
      z.object({ rows: z.union([z.array(z.string()), z.array(z.object({ id: z.number() })).min(900)]) }),
    ],
    [
      'valibot',
      toStandardJsonSchema(
        v.object({ rows: v.array(v.object({ id: v.number(), note: v.optional(v.string(), 'none') })) }),
      ),
    ],
    ['arktype', type({ rows: type({ id: 'number', note: 'string = "none"', '+': 'delete' }).array() })],
  ]

  test.each(families)('%s', async (_, schema) => {
    const checker = toChecker(schema, 'input')
    const library = (schema as { '~standard': { validate(value: unknown): Promise<{ value: unknown }> } })[
      '~standard'
    ]
    for (const count of [1000, 12_000]) {
      const { value } = await library.validate(rows(count))
      expect(value).toBeDefined()
      const checked = await checker.check(rows(count))
      expect(checked.ok && checked.value).toEqual(value)
    }
  })
})

describe('a large value of which the schema ignores most', () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]))
  const rows = Array.from({ length: 5 }, (_, id) => ({ id, junk: wide }))
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema, value: object, ok: boolean])[] = [
    ['zod', z.object({ a: z.string() }), { a: 'x', junk: wide }, true],
    ['zod, at the top', z.object({ a: z.string() }), { a: 'x', ...wide }, true],
    ['zod, below', z.object({ o: z.object({ a: z.string() }) }), { o: { a: 'x', junk: { wide } } }, true],
    ['zod, in rows', z.object({ rows: z.array(z.object({ id: z.number() })) }), { rows }, true],
    ['zod, closed', z.strictObject({ a: z.string() }), { a: 'x', junk: wide }, false],
    ['zod, alternatives', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), { a: 'x', junk: wide }, true],
    ['valibot', toStandardJsonSchema(v.object({ a: v.string() })), { a: 'x', junk: wide }, true],
    ['valibot, open', toStandardJsonSchema(v.looseObject({ a: v.string() })), { a: 'x', junk: wide }, true],
    ['arktype', type({ a: 'string' }), { a: 'x', junk: wide }, true],
    ['arktype, closed', type({ '+': 'reject', a: 'string' }), { a: 'x', junk: wide }, false],
  ]
  test.each(cases)('is checked once: %s', async (_, schema, value, ok) => {
    const checked = spied(schema)
    const { value: made } = (schema as Library)['~standard'].validate(value)
    expect(await toChecker(checked.schema, 'input').check(value)).toMatchObject(
      ok ? { ok, value: made } : { ok },
    )
    expect(checked.calls).toBe(1)
  })
})

test('a value of many parts is too large for arktype if it copies the whole of it, as scopes can turn off', async () => {
  const list = (count: number): object => ({ junk: Array.from({ length: count }, () => [] as never[]) })
  const deleting = { '+': 'delete', 'a?': 'string' } as const
  for (const schema of [type(deleting), type({ a: 'string = "x"' })]) {
    const checker = toChecker(schema as AnySchema, 'input')
    expect(await checker.check(list(40_000))).toMatchObject({ ok: true })
    expect(await checker.check(list(60_000))).toMatchObject({ ok: false, undecided: true })
  }
  for (const schema of [type({ 'a?': 'string' }), scope({}, { clone: false }).type(deleting)])
    expect(await toChecker(schema as AnySchema, 'input').check(list(60_000))).toMatchObject({ ok: true })
})

describe('a value whose levels have many members that the schema names', () => {
  const letters = ['a', 'b', 'c', 'd']
  const names = Array.from({ length: 20 }, (_, at) => letters.map((letter) => `${letter}${at}`))
  const all = Object.fromEntries(names.flat().map((name) => [name, 1]))
  let checked = 0
  const number = z.number().refine(() => ++checked > 0)
  const Tree: z.ZodType = z.lazy(() =>
    z.discriminatedUnion(
      'kind',
      names.map((own, at) =>
        z.object({
          kind: z.literal(`k${at}`),
          ...Object.fromEntries(own.map((name) => [name, number])),
          items: z.array(number),
          child: Tree.optional(),
        }),
      ) as unknown as [z.ZodObject],
    ),
  )

  test.each([
    ['medium and wrong', 2, ['x', ...Array.from({ length: 1500 }, () => 1)]],
    ['large and right', 20, Array.from({ length: 20_000 }, () => 1)],
  ])('is checked only some times over: %s', async (_, depth, items) => {
    let value: object = { kind: 'k0', ...all, items }
    for (let level = 0; level < depth; level++) value = { kind: 'k0', ...all, items: [1], child: value }
    checked = 0
    const result = await toChecker(z.object({ tree: Tree }), 'input').check({ tree: value })
    expect(result.ok).toBe(items[0] === 1)
    expect(checked).toBeGreaterThan(0)
    // Eight times in pieces and once whole.
    expect(checked).toBeLessThan(9 * partsIn(value))
  })
})

test('alternatives with long texts and fixed items are not taken for others in pieces', async () => {
  const long = `https://schema.example/${'x'.repeat(60)}`
  const one = z.object({
    schema: z.literal(long),
    at: z.tuple([z.string(), z.number()]),
    list: z.array(z.coerce.number()),
  })
  const choice = z.union([one, z.object({ list: z.array(z.string().max(2)) })])
  const value = { schema: long, at: ['a', 1], list: Array.from({ length: 3000 }, () => '1000') }
  expect(await toChecker(z.object({ choice }), 'input').check({ choice: value })).toMatchObject({ ok: true })
})

test.each(['at once', 'in promises'])(
  'the check of a large value %s lets others have their turns',
  async (when) => {
    let made = 0
    const work = (): boolean => {
      const end = performance.now() + 5
      while (performance.now() < end);
      return ++made > 0
    }
    const slow = z.array(z.number()).refine(when === 'at once' ? work : async () => work())
    const perTurn: number[] = []
    let before = 0
    let isDone = false
    const count = (): void => {
      perTurn.push(made - before)
      before = made
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const list = Array.from({ length: 30_000 }, (_, at) => at)
    const checked = await toChecker(z.object({ list: slow }), 'input').check({ list })
    expect(checked.ok && checked.value).toEqual({ list })
    isDone = true
    perTurn.push(made - before)
    // A turn lasts 20 ms, and each of about 30 pieces takes 5 of them.
    expect(made).toBeGreaterThan(25)
    expect(Math.max(...perTurn)).toBeLessThan(10)
  },
)

/** A schema of a library. */
interface Library {
  readonly '~standard': { validate(value: unknown): { readonly value: unknown } }
}

/** A schema that counts how often its library checks a value, and the issues that it makes. */
function spied(schema: AnySchema): {
  readonly schema: AnySchema
  readonly calls: number
  readonly issues: number
} {
  const { '~standard': standard } = schema as { '~standard': { validate(value: unknown): unknown } }
  let [calls, issues] = [0, 0]
  const count = (value: unknown): number =>
    Array.isArray(value)
      ? value.reduce((sum: number, each) => sum + count(each), 0)
      : Math.max(
          1,
          count((value as { errors?: unknown }).errors ?? (value as { issues?: unknown }).issues ?? []),
        )
  const note = (result: unknown): unknown => {
    issues = Math.max(issues, count((result as { issues?: unknown }).issues ?? []))
    return result
  }
  const validate = (value: unknown): unknown => {
    calls++
    const result = standard.validate(value)
    return result instanceof Promise ? result.then(note) : note(result)
  }
  const copy = { '~standard': { ...standard, validate } } as unknown as AnySchema
  return {
    schema: copy,
    get calls() {
      return calls
    },
    get issues() {
      return issues
    },
  }
}
