import { describe, expect, test } from 'vitest'
import { toChecker } from './checker.ts'
import { compile } from './compile.ts'
import { inspect } from './inspect.ts'
import type { AnySchema } from './schema.ts'

type Row = readonly [schema: object, fits: readonly unknown[], others: readonly unknown[]]

/** Every keyword alone, with values at both sides of its boundary; values of other kinds pass. */
const ROWS: readonly Row[] = [
  [{ required: ['a'] }, [{ a: 1 }, { a: null }, [], 'a'], [{}, { b: 1 }]],
  [{ properties: { a: { type: 'number' } } }, [{}, { a: 1 }, { b: 'a' }, ['a']], [{ a: 'a' }, { a: null }]],
  [{ properties: { a: false } }, [{}, { b: 1 }], [{ a: 1 }]],
  [{ minProperties: 2 }, [{ a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, [], 'a'], [{}, { a: 1 }]],
  [{ maxProperties: 2 }, [{}, { a: 1, b: 2 }, [1, 2, 3]], [{ a: 1, b: 2, c: 3 }]],
  [{ maxProperties: 0 }, [{}], [{ a: 1 }]],
  [{ additionalProperties: false }, [{}, [1]], [{ a: 1 }]],
  [{ additionalProperties: { type: 'number' } }, [{}, { a: 1 }], [{ a: 'a' }, { a: 1, b: 'b' }]],
  [{ properties: { a: true }, additionalProperties: false }, [{}, { a: 'a' }], [{ b: 1 }, { a: 1, b: 1 }]],
  [{ patternProperties: { '^a': { type: 'number' } } }, [{}, { ab: 1 }, { b: 'b' }], [{ ab: 'a' }]],
  [
    { patternProperties: { '^a': true }, additionalProperties: false },
    [{ ab: 'a' }],
    [{ b: 1 }, { ab: 1, b: 1 }],
  ],
  [{ propertyNames: { maxLength: 1 } }, [{}, { a: 1 }, ['ab']], [{ ab: 1 }]],
  [{ dependentRequired: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { maxProperties: 1 } } }, [{}, { a: 1 }, { b: 1, c: 1 }], [{ a: 1, b: 1 }]],
]

test.each(ROWS.map((row) => [JSON.stringify(row[0]), row] as const))(
  '%s accepts and rejects what it should',
  (_text, [schema, fits, others]) => {
    const check = compile(inspect(schema))
    for (const value of fits) expect([value, check(value)]).toEqual([value, true])
    for (const value of others) expect([value, check(value)]).toEqual([value, false])
  },
)

describe('a list of objects against a raw schema with many names', () => {
  const list = (items: object): AnySchema =>
    ({ type: 'object', properties: { list: { items } } }) as AnySchema
  const named = <Part>(count: number, part: (name: string) => Part): Record<string, Part> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, part(`p${at}`)]))
  const many = (part: object, count: number): object => ({ list: Array.from({ length: count }, () => part) })

  test('looks up the names that an object has, not all that the schema has', async () => {
    let reads = 0
    const part = new Proxy(
      { p7: 'x', other: 1 },
      { get: (from, name) => (reads++, Reflect.get(from, name) as unknown) },
    )
    const checker = toChecker(
      list({ type: 'object', properties: named(300, () => ({ type: 'string' })) }),
      'input',
    )
    expect(await checker.check(many(part, 100))).toMatchObject({ ok: true })
    expect(reads).toBeLessThan(500)
    const wrong = Object.fromEntries([['p299', 1]])
    expect(await checker.check(many(wrong, 1))).toMatchObject({
      ok: false,
      first: { path: ['list', 0, 'p299'] },
    })
  })

  test('required members count, and so do members whose value is undefined', async () => {
    const properties = named(40, () => ({ type: 'string' }))
    const checker = toChecker(list({ properties, required: ['p3', 'z'] }), 'output')
    const check = async (part: object): Promise<boolean> => (await checker.check(many(part, 1))).ok
    expect(await check({ p3: 'x', z: 1 })).toBe(true)
    expect(await check({ p3: 'x', z: 1, p5: undefined })).toBe(true)
    expect(await check({ p3: 'x' })).toBe(false)
    expect(await check({ p3: 1, z: 1 })).toBe(false)
    expect(await check({ p3: 'x', z: 1, ...named(50, () => 'x'), p39: 1 })).toBe(false)
    expect(await check({ p3: 'x', z: 1, ...named(50, () => 'x') })).toBe(true)
  })

  test.each<readonly [string, object]>([
    ['oneOf', { oneOf: [...Object.values(named(60, (name) => ({ required: [name] }))), true] }],
    ['minProperties', { allOf: Object.values(named(60, () => ({ minProperties: 0, maxProperties: 5 }))) }],
    ['dependentRequired', { dependentRequired: named(200, (name) => [name]) }],
    [
      'required',
      {
        anyOf: [
          { required: Object.keys(named(1000, () => 0)) },
          ...Object.values(named(60, (name) => ({ required: [name] }))),
          true,
        ],
      },
    ],
  ])('%s is given up before it takes long', async (_, items) => {
    expect(await toChecker(list(items), 'input').check(many({}, 120_000))).toMatchObject({ undecided: true })
  })
})
