import { expect, test } from 'vitest'
import { isAffordable } from './affordable.ts'

/** The budget pays for this check once, but not twice: the pattern takes quadratic time. */
const DEAR = { pattern: '^\\d+\\d+$' }
const VALUE = '1'.repeat(2000)
const OTHER = '2'.repeat(2000)

test('a check can be paid for once, and not twice', () => {
  expect(isAffordable(DEAR, VALUE)).toBe(true)
  expect(isAffordable({ allOf: [DEAR, DEAR] }, VALUE)).toBe(false)
})

const pair = { a: VALUE, b: OTHER }
const CASES: readonly (readonly [keyword: string, schema: Record<string, unknown>, once: unknown, twice: unknown])[] = [
  ['properties', { properties: { a: DEAR, b: DEAR } }, { a: VALUE, c: OTHER }, pair],
  ['patternProperties', { patternProperties: { '^[ab]$': DEAR } }, { a: VALUE }, pair],
  ['additionalProperties', { additionalProperties: DEAR }, { a: VALUE }, pair],
  ['unevaluatedProperties', { unevaluatedProperties: DEAR }, { a: VALUE }, pair],
  ['propertyNames', { propertyNames: DEAR }, { [VALUE]: 1 }, { [VALUE]: 1, [OTHER]: 1 }],
  ['items', { items: DEAR }, [VALUE], [VALUE, OTHER]],
  ['prefixItems', { prefixItems: [DEAR, DEAR] }, [VALUE], [VALUE, OTHER]],
  ['contains', { contains: DEAR }, [VALUE], [VALUE, OTHER]],
  ['unevaluatedItems', { unevaluatedItems: DEAR }, [VALUE], [VALUE, OTHER]],
  ['$ref', { $defs: { dear: DEAR }, items: { $ref: '#/$defs/dear' } }, [VALUE], [VALUE, OTHER]],
] // oxfmt-ignore

test.each(CASES)(
  'what is under %s is counted for each part of the value',
  (_keyword, schema, once, twice) => {
    expect(isAffordable(schema, once)).toBe(true)
    expect(isAffordable(schema, twice)).toBe(false)
  },
)

test.each(['allOf', 'anyOf', 'oneOf'])('every branch of %s is counted', (keyword) => {
  expect(isAffordable({ [keyword]: [DEAR, true] }, VALUE)).toBe(true)
  expect(isAffordable({ [keyword]: [DEAR, DEAR] }, VALUE)).toBe(false)
})

test('the branches of a condition are counted together', () => {
  expect(isAffordable({ if: DEAR }, VALUE)).toBe(true)
  for (const branch of ['then', 'else']) expect(isAffordable({ if: DEAR, [branch]: DEAR }, VALUE)).toBe(false)
})

test('a quadratic pattern costs the square of the length, up to the longest string that it is matched against', () => {
  expect(isAffordable(DEAR, '1'.repeat(2200))).toBe(true)
  expect(isAffordable(DEAR, '1'.repeat(2300))).toBe(false)
  expect(isAffordable(DEAR, '1'.repeat(4097))).toBe(true)
  expect(isAffordable({ pattern: '^a+$' }, 'a'.repeat(4_000_000))).toBe(true)
})
