import { describe, expect, test } from 'vitest'
import { processorMs } from '../../test/harness/processor.ts'
import { compile } from './compile.ts'
import { inspect } from './inspect.ts'
import { startCounting, workDone } from './work.ts'

type Row = readonly [schema: object, fits: readonly unknown[], others: readonly unknown[]]

/** Every keyword alone, with values at both sides of its boundary; values of other kinds pass. */
const ROWS: readonly Row[] = [
  [{ minItems: 2 }, [[1, 2], [1, 2, 3], 'a', {}], [[], [1]]],
  [{ maxItems: 2 }, [[], [1, 2], 'abc', { a: 1, b: 2, c: 3 }], [[1, 2, 3]]],
  [{ maxItems: 0 }, [[]], [[1]]],
  [{ minItems: 1, maxItems: 1 }, [[1]], [[], [1, 2]]],
  [
    { uniqueItems: true },
    [[], [1], [1, 2], 'aa'],
    [
      [1, 1],
      [[1], [1]],
      [{ a: 1 }, { a: 1 }],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ items: { type: 'number' } }, [[], [1, 2], 'a'], [['a'], [1, 'a']]],
  [{ items: false }, [[]], [[1]]],
  [
    { prefixItems: [{ type: 'number' }, { type: 'string' }] },
    [[], [1], [1, 'a'], [1, 'a', null]],
    [['a'], [1, 1]],
  ],
  [
    { prefixItems: [{ type: 'number' }], items: { type: 'string' } },
    [[], [1], [1, 'a', 'b']],
    [['a'], [1, 1], [1, 'a', 1]],
  ],
  [
    { uniqueItems: true },
    [
      [[Infinity], [null]],
      [[1], ['1']],
      [{ a: -Infinity }, { a: Infinity }],
      [['null'], [null]],
    ],
    [
      [[Infinity], [Infinity]],
      [[0], [-0]],
    ],
  ],
  [{ contains: { type: 'number' } }, [[1], ['a', 1], 'a'], [[], ['a']]],
  [
    { contains: { type: 'number' }, minContains: 2 },
    [
      [1, 2],
      [1, 'a', 2],
    ],
    [[1], ['a', 1]],
  ],
  [{ contains: { type: 'number' }, maxContains: 1 }, [[1], ['a', 1, 'b']], [[], [1, 2]]],
  [{ contains: { type: 'number' }, minContains: 0, maxContains: 1 }, [[], ['a'], [1]], [[1, 2]]],
]

test.each(ROWS.map((row) => [JSON.stringify(row[0]), row] as const))(
  '%s accepts and rejects what it should',
  (_text, [schema, fits, others]) => {
    const check = compile(inspect(schema))
    for (const value of fits) expect([value, check(value)]).toEqual([value, true])
    for (const value of others) expect([value, check(value)]).toEqual([value, false])
  },
)

/** Different numbers that V8 gives the same hash: the inverse of its function, for hashes whose low 30 bits are 0. */
function collidingNumbers(count: number): readonly number[] {
  const inverse = (odd: bigint): bigint => {
    let found = 1n
    for (let step = 0; step < 6; step++) found = BigInt.asUintN(64, found * (2n - odd * found))
    return found
  }
  const unshifted = (value: bigint, by: bigint): bigint => {
    let found = value
    for (let done = by; done < 64n; done += by) found = value ^ (found >> by)
    return found
  }
  const times = (value: bigint, factor: bigint): bigint => BigInt.asUintN(64, value * factor)
  const view = new DataView(new ArrayBuffer(8))
  const numbers: number[] = []
  for (let at = 1n; numbers.length < count; at++) {
    const mixed = times(unshifted(at << 30n, 22n), inverse(65n))
    const spread = unshifted(times(unshifted(mixed, 11n), inverse(21n)), 31n)
    view.setBigUint64(0, times(spread + 1n, inverse((1n << 18n) - 1n)))
    const number = view.getFloat64(0)
    if (Number.isFinite(number) && !Number.isInteger(number)) numbers.push(number)
  }
  return numbers
}

test.each([
  ['uniqueItems', (): object => ({ uniqueItems: true })],
  ['enum', (numbers: readonly number[]): object => ({ items: { enum: numbers } })],
])('numbers with the same hash are checked in little time by %s', async (_, schemaOf) => {
  const numbers = collidingNumbers(40_000)
  await processorMs(() => {
    const check = compile(inspect(schemaOf(numbers)))
    startCounting()
    expect(check(numbers)).toBe(true)
    startCounting()
    expect(check([numbers[0], numbers[0]])).toBe(!('uniqueItems' in schemaOf(numbers)))
  }).then((ms) => expect(ms).toBeLessThan(1500))
})

test('numbers are unique by their value', () => {
  const check = compile(inspect({ uniqueItems: true }))
  startCounting()
  expect([check([1, 2, 1]), check([0, -0]), check([1, '1', true]), check([3, 1, 2])]).toEqual([
    false,
    false,
    true,
    true,
  ])
  const oneOf = compile(inspect({ enum: [0, '1', 2.5] }))
  expect([0, -0, 1, '1', 2.5, '\u00000'].map((value) => oneOf(value))).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ])
})

describe('uniqueItems with long texts of the same length', () => {
  const isUnique = compile(inspect({ uniqueItems: true }))
  const check = (list: readonly unknown[]): boolean => {
    startCounting()
    return isUnique(list)
  }
  const textsOf = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, at) => `${at}`.padStart(length, 'a'))
  const texts = textsOf(2500, 17_000)

  test('are compared in little time', async () => {
    expect(await processorMs(() => expect(check(texts)).toBe(true))).toBeLessThan(2500)
  })

  test('are compared in little time in lists', async () => {
    const inLists = texts.map((text) => [text])
    expect(await processorMs(() => expect(check(inLists)).toBe(true))).toBeLessThan(2500)
    const fewer = textsOf(400, 100_000).map((text) => [text])
    expect(await processorMs(() => expect(check(fewer)).toBe(true))).toBeLessThan(2500)
  })

  test('are the same only if each character is', () => {
    const [one, other] = textsOf(2, 20_000) as [string, string]
    expect(check([one, other])).toBe(true)
    expect(check([one, other, one.slice(0)])).toBe(false)
    expect(check([[one], other, [one]])).toBe(false)
    expect(check([[one], JSON.stringify([one])])).toBe(true)
    expect(check([one, 'a', 'a'])).toBe(false)
  })

  test('cost nothing where there is only one', () => {
    expect(check([['a'.repeat(2 ** 27)]])).toBe(true)
  })
})

describe('uniqueItems with nested items', () => {
  const isUnique = compile(inspect({ uniqueItems: true }))
  const nested = (text: string, levels: number): unknown => {
    let value: unknown = text
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value, 1] : { b: 1, a: value }
    return value
  }
  const check = (value: unknown): boolean => {
    startCounting()
    return isUnique([value, 1])
  }

  test('costs as much for many levels as for few, since no level copies what is below', async () => {
    const text = `${'a'.repeat(4_000_000)}€`
    const least = async (levels: number): Promise<number> => {
      const value = nested(text, levels)
      const rounds: number[] = []
      for (let round = 0; round < 3; round++)
        rounds.push(await processorMs(() => expect(check(value)).toBe(true)))
      return Math.min(...rounds)
    }
    const [few, many] = [await least(2), await least(120)]
    expect(many / few).toBeLessThan(4)
  })

  test('of a schema that contains itself costs no more for many levels either', () => {
    const everywhere = {
      $defs: { list: { uniqueItems: true, items: { $ref: '#/$defs/list' } } },
      $ref: '#/$defs/list',
    }
    const isUniqueEverywhere = compile(inspect(everywhere))
    const workFor = (levels: number): number => {
      let value: unknown = 'a'.repeat(50_000)
      for (let level = 0; level < levels; level++) value = [value, 1]
      startCounting()
      expect(isUniqueEverywhere(value)).toBe(true)
      return workDone()
    }
    expect(workFor(120) / workFor(2)).toBeLessThan(2)
  })

  test('tells any two values apart, and the order of members does not matter', () => {
    const differ = [
      [],
      [[]],
      {},
      [{}],
      { a: [] },
      { a: {} },
      ['a', 'b'],
      ['a,b'],
      [1, 2],
      [12],
      { a: 1, b: 2 },
      { a: '1,"b":2' },
      [null],
      ['null'],
    ]
    startCounting()
    expect(isUnique(differ)).toBe(true)
    for (const value of differ) {
      startCounting()
      expect(isUnique([...differ, structuredClone(value)])).toBe(false)
    }
    expect(
      isUnique([
        { a: 1, b: [{ c: 1, d: 2 }] },
        { b: [{ d: 2, c: 1 }], a: 1 },
      ]),
    ).toBe(false)
  })
})
