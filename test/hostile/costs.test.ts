import { expect, test } from 'vitest'
import { toChecker } from '../../src/schema/checker.ts'
import { processorMs } from '../harness/processor.ts'
import { called, expectHarmless } from './called.ts'

/** Milliseconds of processor time; without a limit, each of these takes several times as long. */
const MOST_MS = 2500

interface Attack {
  readonly what: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly value: unknown
  readonly mostMs?: number
}

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

function keys(count: number, value: unknown = 0): Readonly<Record<string, unknown>> {
  return Object.fromEntries(times(count, (at) => [`k${at}`, value]))
}

function nested(depth: number, inner: object, around: (inner: object) => object): object {
  let schema = inner
  for (let level = 0; level < depth; level++) schema = around(schema)
  return schema
}

const references = (count: number, to = '#/$defs/b'): object[] => times(count, () => ({ $ref: to }))
const LONG = 'x'.repeat(6_000_000)
/** About as much as fits into a message. */
const LONGEST = 'x'.repeat(15_000_000)

/** Definitions of which the first applies a schema several times: there may be fewer subschemas than applications of them. */
function often(keyword: string, schema: object): object {
  return { b: { [keyword]: references(4, '#/$defs/c') }, c: schema }
}

/** One operation each that takes longer than a step of the check, repeated as often as a schema may ask for it. */
const ATTACKS: readonly Attack[] = [
  {
    what: 'notes of evaluated members are handed up through many branches',
    schema: {
      unevaluatedProperties: true,
      anyOf: times(18, () => nested(58, { additionalProperties: true }, (inner) => ({ anyOf: [inner] }))),
    },
    value: keys(30_000),
  },
  {
    what: 'a long constant is shown for every branch that does not match',
    schema: { anyOf: references(990), $defs: { b: { const: LONG } } },
    value: {},
  },
  {
    what: 'a long constant is part of every level of a recursive schema',
    schema: {
      properties: {
        a: nested(55, { enum: [{}, LONG, LONG], properties: { r: { $ref: '#' } } }, (inner) => ({
          properties: { a: inner },
        })),
        b: { $ref: '#' },
      },
      anyOf: [{ properties: { z: { $ref: '#' } } }, { properties: { y: { $ref: '#' } } }],
    },
    value: {},
    mostMs: 1000,
  },
  {
    what: 'a long string is compared with the same constant again and again',
    schema: { properties: { a: { allOf: references(900) } }, $defs: often('allOf', { const: LONGEST }) },
    value: { a: LONGEST },
    mostMs: 1500,
  },
  {
    what: 'many keywords that check nothing meet an object of many members',
    schema: { anyOf: times(900, () => ({ ...keys(50), required: ['none'] })) },
    value: keys(60_000),
  },
  {
    what: 'many keywords that check nothing meet many items',
    schema: { properties: { a: { items: keys(90_000) } } },
    value: { a: times(100_000, () => 0) },
  },
  {
    what: 'the members of an object are counted again and again',
    schema: { anyOf: references(900), $defs: often('anyOf', { minProperties: 1_000_000 }) },
    value: keys(60_000),
  },
  {
    what: 'a long list of dependent names is read again and again',
    schema: {
      allOf: references(900),
      $defs: often('allOf', { dependentRequired: { a: times(200_000, () => 'a') } }),
    },
    value: { a: 1 },
  },
  {
    what: 'a large schema is searched for every anchor',
    schema: { ...keys(90_000), anyOf: references(900, '#far'), $defs: { b: { $anchor: 'far', type: 'string' } } },
    value: {},
  },
  {
    what: 'a long reference is followed again and again',
    schema: {
      anyOf: references(990),
      $defs: { b: { $ref: `#/$defs/${LONG}` }, [LONG]: { type: 'string' } },
    },
    value: {},
  },
  {
    what: 'a pattern begins with classes of many ranges',
    schema: { properties: { a: { pattern: `${'(?:\\p{L}|\\p{N})'.repeat(8)}$` } } },
    value: { a: 'ā'.repeat(8) },
  },
  {
    what: 'a type is named many times',
    schema: { anyOf: references(990), $defs: { b: { type: times(900_000, () => 'string') } } },
    value: {},
  },
] // oxfmt-ignore

test.each(ATTACKS)(
  'C.schema-blowup the client is not blocked when $what',
  async ({ schema, value, mostMs = MOST_MS }) => {
    await expectHarmless('memory', { type: 'object', ...schema }, value, mostMs)
  },
)

test('C.schema-blowup members that branches have evaluated are still told apart', async () => {
  const branch = (name: string, type: string): object => ({
    properties: { [name]: { type } },
    required: [name],
  })
  const schema = {
    type: 'object',
    anyOf: [branch('a', 'number'), { anyOf: [branch('b', 'number'), branch('c', 'string')] }],
    unevaluatedProperties: false,
  }
  expect((await called('memory', schema, { a: 1 })).kind).toBe('fits')
  expect((await called('memory', schema, { a: 1, b: 1 })).kind).toBe('fits')
  expect((await called('memory', schema, { b: 1, c: 'x' })).kind).toBe('fits')
  expect((await called('memory', schema, { a: 1, c: 1 })).kind).toBe('bad_answer')
  expect((await called('memory', schema, { a: 'x', b: 1 })).kind).toBe('bad_answer')
})

test('checking and explaining a value share their work, and the error says what to do', async () => {
  const slow = { type: 'string', pattern: '[a-z]+$' }
  const schema = {
    type: 'object',
    properties: { q: { type: 'array', items: { anyOf: [{ type: 'number' }, slow] } } },
  }
  const checker = toChecker(schema, 'input')
  const long = `${'a'.repeat(4092)}!`
  const one = await processorMs(() => checker.check({ q: [`${'a'.repeat(4092)}a`] }))
  expect(one).toBeLessThan(MOST_MS)
  // Three such strings use up most of the work, so that there is none left to look at them again.
  expect(await checker.check({ q: [`${'a'.repeat(4092)}a`, `${'b'.repeat(4092)}b`, long] })).toMatchObject({
    ok: false,
    issue: 'does not match the schema',
  })
  expect(await checker.check({ q: [long] })).toMatchObject({
    ok: false,
    issue: 'q[0]: matches none of the 2 allowed shapes; q[0]: expected number, got string',
  })
})

test('a value that takes too long to check is refused by a server with a reason', async () => {
  const schema = {
    type: 'object',
    allOf: times(900, () => ({ $ref: '#/$defs/b' })),
    $defs: { b: { minProperties: 1, maxProperties: 1_000_000 } },
  }
  const ms = await processorMs(async () => {
    expect(await toChecker(schema, 'input').check(keys(60_000))).toEqual({
      ok: false,
      undecided: true,
      issue: 'takes too long to check: send less at once',
      first: { path: [], problem: 'takes too long to check: send less at once' },
    })
  })
  expect(ms).toBeLessThan(MOST_MS)
})
