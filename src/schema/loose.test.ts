import { describe, expect, test } from 'vitest'
import { isLarge, toLoose } from './loose.ts'
import { rawChecker } from './raw-checker.ts'

describe('a loose schema', () => {
  const accepts = (schema: object, value: unknown): boolean =>
    (rawChecker(toLoose(schema as never)).check(value) as { readonly ok: boolean }).ok

  test.each([
    ['patterns', { type: 'string', pattern: '^a$' }, 'b'],
    ['names with a pattern', { patternProperties: { '^a': {} }, additionalProperties: false }, { b: 1 }],
    ['what must not match', { not: { pattern: '^a$' } }, 'a'],
    ['branches that patterns tell apart', { oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'ab'],
    ['conditions', { if: { pattern: '^a' }, else: { type: 'number' } }, 'b'],
    ['how many match', { contains: { pattern: '^a' }, maxContains: 1 }, ['b', 'b']],
    ['names', { propertyNames: { pattern: '^a' } }, { b: 1 }],
  ])('ignores %s', (_, schema, value) => {
    expect(accepts(schema, value)).toBe(true)
  })

  test.each([
    ['types', { type: 'string' }, 1],
    ['members', { properties: { a: { type: 'string' } } }, { a: 1 }],
    ['required members', { required: ['a'] }, {}],
    ['other members', { properties: { a: {} }, additionalProperties: false }, { b: 1 }],
    ['items', { items: { type: 'string' } }, [1]],
    ['first items', { prefixItems: [{ type: 'string' }] }, [1]],
    ['lengths', { maxItems: 1 }, [1, 2]],
    ['values', { enum: [1, 2] }, 3],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 1],
    ['single alternatives', { oneOf: [{ type: 'string' }, { type: 'null' }] }, 1],
    ['references', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 1],
  ])('keeps %s', (_, schema, value) => {
    expect(accepts(schema, value)).toBe(false)
  })
})

test('a value is large from 10,001 parts on, wherever they are', () => {
  const list = (length: number): readonly number[] => Array.from({ length }, () => 0)
  expect([isLarge(list(10_000)), isLarge(list(10_001))]).toEqual([false, true])
  expect([isLarge([list(4999), list(4999)]), isLarge([list(4999), list(5000)])]).toEqual([false, true])
  expect([isLarge({ a: { b: list(9998) } }), isLarge({ a: { b: list(9999) } })]).toEqual([false, true])
  expect([isLarge('x'.repeat(20_000)), isLarge(null), isLarge(5)]).toEqual([false, false, false])
})
