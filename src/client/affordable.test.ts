import { expect, test } from 'vitest'
import { isAffordable } from './affordable.ts'

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
