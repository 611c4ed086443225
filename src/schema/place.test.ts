import { expect, test } from 'vitest'
import { toPlace, type Place, type Undeclared } from './place.ts'

const closed = { type: 'object', properties: { a: {} }, additionalProperties: false }
const open = { type: 'object', properties: { a: {} } }

// oxfmt-ignore
const CASES: readonly (readonly [string, schema: unknown, Undeclared])[] = [
  ['members are described', open, 'ignored'],
  ['other members are rejected', closed, 'rejected'],
  ['other members have a schema', { ...open, additionalProperties: { type: 'string' } }, 'checked'],
  ['other members may be anything', { ...open, additionalProperties: {} }, 'checked'],
  ['members are described by a pattern', { ...open, patternProperties: { b: {} } }, 'checked'],
  ['names have a schema', { ...open, propertyNames: { maxLength: 3 } }, 'checked'],
  ['the rest has a schema', { ...open, unevaluatedProperties: { type: 'string' } }, 'checked'],
  ['the schema is empty', {}, 'checked'],
  ['the schema is true', true, 'checked'],
  ['the schema says only that it is an object', { type: 'object' }, 'checked'],
  ['the schema has alternatives', { anyOf: [open, { type: 'string' }] }, 'ignored'],
  ['one alternative rejects them', { anyOf: [open, closed] }, 'rejected'],
  ['one alternative is anything', { anyOf: [open, {}] }, 'checked'],
  ['the schema refers to another', { $ref: '#/$defs/one', $defs: { one: open } }, 'ignored'],
  ['the schema refers to itself', { ...open, allOf: [{ $ref: '#' }] }, 'ignored'],
  ['the schema is for another type', { type: ['string', 'array'], items: {} }, 'ignored'],
]
test.each(CASES)('how members that are not described are treated if %s', (_, schema, undeclared) => {
  expect(toPlace(schema).undeclared).toBe(undeclared)
})

test('the names at a place are those of all schemas that apply there', () => {
  const root = toPlace({
    properties: {
      a: { anyOf: [{ properties: { b: {} } }, { $ref: '#/$defs/c' }] },
      list: {
        type: 'array',
        prefixItems: [{ properties: { first: {} } }],
        items: { properties: { each: {} } },
      },
      '': { properties: { empty: {} } },
    },
    $defs: { c: { properties: { d: {} } } },
  })
  const names = (...path: readonly (string | number)[]): string[] =>
    [...path.reduce((place, step) => place.below(step), root).names].toSorted()
  expect(names()).toEqual(['', 'a', 'list'])
  expect(names('a')).toEqual(['b', 'd'])
  expect(names('list', 0)).toEqual(['each', 'first'])
  expect(names('list', 1)).toEqual(['each'])
  expect(names('')).toEqual(['empty'])
  expect(names('none')).toEqual([])
})

test('of a schema with a great many places, the later ones are not described', () => {
  // Which schemas apply somewhere depends on every step of the way there.
  const kth = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `k${at}`,
      { properties: { a: { $ref: `#/$defs/k${at + 1}` }, b: { $ref: `#/$defs/k${at + 1}` } } },
    ]),
  )
  const start = {
    properties: {
      a: { anyOf: [{ $ref: '#/$defs/start' }, { $ref: '#/$defs/k0' }] },
      b: { $ref: '#/$defs/start' },
    },
  }
  const root = { $ref: '#/$defs/start', $defs: { start, ...kth, k40: { properties: { end: {} } } } }
  let random = 1
  const way = Array.from({ length: 5000 }, () =>
    (random = (random * 48_271) % 2_147_483_647) % 2 ? 'a' : 'b',
  )
  const seen = new Set<Place>()
  let place = toPlace(root, 1000)
  for (const step of way) seen.add((place = place.below(step)))
  expect(seen.size).toBeLessThan(1000)
  expect(place).toMatchObject({ undeclared: 'checked', names: new Set() })
})

test('a place knows the length of the longest of any number of choices', () => {
  const choices = Array.from({ length: 200_000 }, (_, at) => `choice ${at}`)
  const place = toPlace({ properties: { one: { enum: choices }, other: { const: 'xyz' } } })
  expect([place.below('one').longest, place.below('other').longest, place.longest]).toEqual([13, 3, 0])
})
