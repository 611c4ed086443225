import { expect, test } from 'vitest'
import { provePattern } from '../schema/pattern.ts'
import { processorMs } from '../../test/harness/processor.ts'
import { toAffordable } from './affordable.ts'

const isAffordable = (schema: Readonly<Record<string, unknown>>, value: unknown): boolean =>
  toAffordable(schema)(value)

/** The budget covers this check once, but not twice: the steps of the pattern grow with the square of the length. */
const EXPENSIVE = { pattern: '^\\d+\\d+$' }
const VALUE = '1'.repeat(4000)
const OTHER = '2'.repeat(4000)

test('the budget covers one such check, but not two', () => {
  expect(isAffordable(EXPENSIVE, VALUE)).toBe(true)
  expect(isAffordable({ allOf: [EXPENSIVE, EXPENSIVE] }, VALUE)).toBe(false)
})

const pair = { a: VALUE, b: OTHER }
const CASES: readonly (readonly [keyword: string, schema: Record<string, unknown>, once: unknown, twice: unknown])[] = [
  ['properties', { properties: { a: EXPENSIVE, b: EXPENSIVE } }, { a: VALUE, c: OTHER }, pair],
  ['patternProperties', { patternProperties: { '^[ab]$': EXPENSIVE } }, { a: VALUE }, pair],
  ['additionalProperties', { additionalProperties: EXPENSIVE }, { a: VALUE }, pair],
  ['unevaluatedProperties', { unevaluatedProperties: EXPENSIVE }, { a: VALUE }, pair],
  ['propertyNames', { propertyNames: EXPENSIVE }, { [VALUE]: 1 }, { [VALUE]: 1, [OTHER]: 1 }],
  ['items', { items: EXPENSIVE }, [VALUE], [VALUE, OTHER]],
  ['prefixItems', { prefixItems: [EXPENSIVE, EXPENSIVE] }, [VALUE], [VALUE, OTHER]],
  ['contains', { contains: EXPENSIVE }, [VALUE], [VALUE, OTHER]],
  ['unevaluatedItems', { unevaluatedItems: EXPENSIVE }, [VALUE], [VALUE, OTHER]],
  ['$ref', { $defs: { expensive: EXPENSIVE }, items: { $ref: '#/$defs/expensive' } }, [VALUE], [VALUE, OTHER]],
] // oxfmt-ignore

test.each(CASES)(
  'a schema under %s is counted for each part of the value',
  (_keyword, schema, once, twice) => {
    expect(isAffordable(schema, once)).toBe(true)
    expect(isAffordable(schema, twice)).toBe(false)
  },
)

test.each(['allOf', 'anyOf', 'oneOf'])('every branch of %s is counted', (keyword) => {
  expect(isAffordable({ [keyword]: [EXPENSIVE, true] }, VALUE)).toBe(true)
  expect(isAffordable({ [keyword]: [EXPENSIVE, EXPENSIVE] }, VALUE)).toBe(false)
})

test('the branches of a condition are counted together', () => {
  expect(isAffordable({ if: EXPENSIVE }, VALUE)).toBe(true)
  for (const branch of ['then', 'else'])
    expect(isAffordable({ if: EXPENSIVE, [branch]: EXPENSIVE }, VALUE)).toBe(false)
})

test('a pattern costs what it may take, which the length decides', () => {
  expect(isAffordable(EXPENSIVE, '1'.repeat(4093))).toBe(true)
  expect(isAffordable(EXPENSIVE, '1'.repeat(4094))).toBe(false)
  expect(isAffordable({ pattern: '^a+$' }, 'a'.repeat(4_000_000))).toBe(true)
  expect(isAffordable({ pattern: '^a+$' }, 'a'.repeat(6_000_000))).toBe(false)
  expect(isAffordable({ pattern: '^.*b{50}$' }, 'b'.repeat(200_000))).toBe(true)
  expect(isAffordable({ pattern: '^.*b{50}$' }, 'b'.repeat(300_000))).toBe(false)
})

test('a pattern for names costs what it may take for each of them', () => {
  const name = 'b'.repeat(150_000)
  const schema = { patternProperties: { '^.*b{50}$': true } }
  expect(isAffordable(schema, { [name]: 1 })).toBe(true)
  expect(isAffordable(schema, { [name]: 1, [`${name}b`]: 1 })).toBe(false)
})

const MOST_READS = 200_000

/** Throws when a schema and a value together are looked at too often. */
function counted<Value extends object>(target: Value, count: { reads: number }): Value {
  const inner = new Map<unknown, unknown>()
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (!inner.has(value)) inner.set(value, counted(value, count))
    return inner.get(value)
  }
  const read = (): void => {
    if (++count.reads > MOST_READS) throw new Error('too many reads')
  }
  return new Proxy(target, {
    get: (from, name) => (read(), wrap(Reflect.get(from, name))),
    getOwnPropertyDescriptor: (from, name) => (read(), Reflect.getOwnPropertyDescriptor(from, name)),
  })
}

const names = Array.from({ length: 2000 }, (_, at) => `k${at}`)
const named = <Item>(item: Item): Record<string, Item> =>
  Object.fromEntries(names.map((name) => [name, item]))

test.each<readonly [keyword: string, schema: Record<string, unknown>, item: object]>([
  ['dependentRequired', { dependentRequired: named([]) }, {}],
  ['dependencies', { dependencies: named([]) }, {}],
  ['dependentSchemas', { dependentSchemas: named(true) }, {}],
  ['properties', { properties: named(true) }, {}],
  ['additionalProperties', { properties: named(true), additionalProperties: true }, { a: 1 }],
  ['required', { required: names }, {}],
  ['prefixItems', { prefixItems: names.map(() => true) }, []],
  ['a list of items', { items: names.map(() => true) }, []],
  ['allOf', { allOf: names.map(() => true) }, {}],
])('the parts of %s are read once, however often they are counted', (_keyword, schema, item) => {
  const count = { reads: 0 }
  const value = Array.from({ length: 6000 }, () => structuredClone(item))
  expect(isAffordable(counted({ items: schema }, count), counted(value, count))).toBe(false)
})

/** Keywords that cost nothing for an empty object, but are looked at. */
const FREE = {
  minProperties: 0,
  maxProperties: 9,
  patternProperties: {},
  propertyNames: true,
  additionalProperties: true,
  required: [],
  properties: {},
  dependentRequired: {},
  unevaluatedProperties: true,
  dependentSchemas: {},
  dependencies: {},
}
const OTHERS = { minItems: 0, maxItems: 9, minimum: 0, maximum: 1, minLength: 0, maxLength: 4, items: true }
const empty = (count: number): object[] => Array.from({ length: count }, () => ({}))

test('every keyword costs a step for each value of its type, and nothing for others', () => {
  expect(isAffordable({ items: FREE }, empty(400_000))).toBe(true)
  expect(isAffordable({ items: FREE }, empty(500_000))).toBe(false)
  expect(isAffordable({ items: OTHERS }, empty(900_000))).toBe(true)
  expect(isAffordable({ items: { ...FREE, ...OTHERS, items: {} } }, Array(900_000).fill(1))).toBe(true)
})

test('to count takes not much longer for many keywords and references than for none', async () => {
  const all = { ...FREE, ...OTHERS }
  const hostile = {
    items: { ...all, $ref: '#/$defs/x', $dynamicRef: '#/$defs/x' },
    $defs: { x: { ...all, items: { $ref: '#' }, contains: { $ref: '#' } } },
  }
  const value = empty(900_000)
  const cost = (schema: Readonly<Record<string, unknown>>): Promise<number> =>
    processorMs(() => isAffordable(schema, value))
  await cost({ items: {} })
  const usual = await cost({ items: {} })
  expect(await cost(hostile)).toBeLessThan(12 * usual)
})

test('the steps of a reference to a large value are counted once, and the same each time', () => {
  const $defs = { x: { additionalProperties: EXPENSIVE }, y: { $ref: '#/$defs/x' } }
  const one = { $ref: '#/$defs/y' }
  expect(isAffordable({ $defs, ...one }, { a: VALUE })).toBe(true)
  expect(isAffordable({ $defs, allOf: [one, one] }, { a: VALUE })).toBe(false)
})

test('the names of an object with very many members cost more, and to note them even more', () => {
  const many = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 1]))
  const least = { allOf: [{ minProperties: 1 }, { minProperties: 1 }] }
  expect(isAffordable(least, many(400_000))).toBe(true)
  expect(isAffordable({ allOf: [...least.allOf, { maxProperties: 1e6 }] }, many(450_000))).toBe(false)
  expect(isAffordable({ unevaluatedProperties: true }, many(150_000))).toBe(true)
  expect(isAffordable({ unevaluatedProperties: true }, many(250_000))).toBe(false)
  expect(
    isAffordable(
      { items: { unevaluatedProperties: true } },
      [1, 2, 3].map(() => many(1000)),
    ),
  ).toBe(true)
})

test('a pattern is not analysed again after the patterns of others', async () => {
  const patterns = Array.from({ length: 60 }, (_, at) => ({
    pattern: `^(?:[ab]{1,40}|[bc]{1,40}){2}d${at}$`,
  }))
  const check = toAffordable({ allOf: patterns })
  const cost = (): Promise<number> => processorMs(() => check('d'))
  const first = await cost()
  for (let at = 0; at < 1000; at++) provePattern(`^${at}$`)
  expect(await cost()).toBeLessThan(first / 4)
})
