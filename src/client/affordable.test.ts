import { expect, test } from 'vitest'
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
