import { expect, test } from 'vitest'
import { isAffordable } from './affordable.ts'

/** The budget covers this check once, but not twice: the pattern takes quadratic time. */
const EXPENSIVE = { pattern: '^\\d+\\d+$' }
const VALUE = '1'.repeat(2000)
const OTHER = '2'.repeat(2000)

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

test('a quadratic pattern costs the square of the length, up to the longest string it is matched against', () => {
  expect(isAffordable(EXPENSIVE, '1'.repeat(2200))).toBe(true)
  expect(isAffordable(EXPENSIVE, '1'.repeat(2300))).toBe(false)
  expect(isAffordable(EXPENSIVE, '1'.repeat(4097))).toBe(true)
  expect(isAffordable({ pattern: '^a+$' }, 'a'.repeat(4_000_000))).toBe(true)
})
