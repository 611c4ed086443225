import { scope, type } from 'arktype'
import { expect, test } from 'vitest'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'

/** The problem of a value, as a caller reads it. */
async function issueOf(schema: unknown, value: unknown): Promise<string> {
  const checked = await toChecker(schema as AnySchema, 'input').check(value)
  return checked.ok ? 'none' : checked.issue
}

/** An object that counts how often it, or something around it, is written as text. */
function counted(members: object = {}): { readonly part: object; readonly writes: () => number } {
  let writes = 0
  const toJSON = (): string => {
    writes++
    return 'a part'
  }
  return { part: Object.defineProperty({ ...members }, 'toJSON', { value: toJSON }), writes: () => writes }
}

/** Filters whose leaves count how often they are described. */
function filters(): { readonly schema: unknown; readonly descriptions: () => number } {
  let descriptions = 0
  const expected = (): string => {
    descriptions++
    return 'a field'
  }
  const names = {
    and: { and: 'expr[]' },
    or: { or: 'expr[]' },
    not: { not: 'expr' },
    cmp: { field: type('string').configure({ expected }), op: "'eq'|'lt'" },
    expr: 'and|or|not|cmp',
    root: { filter: 'expr' },
  } as const
  return { schema: scope(names).export().root, descriptions: () => descriptions }
}

function nest(levels: number, leaf: object, around: (inner: object) => object): object {
  let value = leaf
  for (let level = 0; level < levels; level++) value = around(value)
  return value
}

const SHAPES: readonly (readonly [string, (inner: object) => object])[] = [
  ['one alternative', (not) => ({ not })],
  ['alternatives that all fail', (not) => ({ not, and: [{}], or: [{}, {}], field: {} })],
  ['lists', (inner) => ({ and: [inner], or: [{}] })],
]

test.each(SHAPES)('what is wrong below many levels of %s is not written as text', async (_, around) => {
  const { schema } = filters()
  for (const levels of [1, 2, 40]) {
    const { part, writes } = counted({ field: 1 })
    expect(await issueOf(schema, { filter: nest(levels, part, around) })).toMatch(/^filter: filter\./)
    expect(writes()).toBe(0)
  }
})

test.each(SHAPES)('only the first levels of %s are described', async (_, around) => {
  const counts: number[] = []
  for (const levels of [3, 40]) {
    const { schema, descriptions } = filters()
    await issueOf(schema, { filter: nest(levels, { field: 1 }, around) })
    counts.push(descriptions())
  }
  expect(counts[1]).toBe(counts[0])
  expect(counts[0]).toBeLessThanOrEqual(10)
})

const NUMBERED = type({ n: 'number' }).or({ m: 'number' })
const DEEP = scope({ x: { a: 'x|y' }, y: { b: 'x|y' }, root: { v: 'x|y' } }).export().root
const long = 'x'.repeat(1000)
const TEXTS: readonly (readonly [string, unknown, unknown, string])[] = [
  [
    'of three levels',
    DEEP,
    { v: { a: { a: {} } } },
    'v: v.a.a must be one of 2 shapes (was an object), v.a.b must be an object (was missing) or v.b must be an object (was miss…',
  ],
  [
    'of two levels',
    DEEP,
    { v: { a: {} } },
    'v: v.a.a must be an object (was missing), v.a.b must be an object (was missing) or v.b must be an object (was missing)',
  ],
  [
    'of alternatives',
    type({ a: NUMBERED }),
    { a: { n: '' } },
    'a: a.m must be a number (was missing) or a.n must be a number (was a string)',
  ],
  [
    'of alternatives at one place',
    type({ a: 'string.email | string.uuid' }),
    { a: 'x' },
    'a: a must be an email address or a UUID (was "x")',
  ],
  [
    'of a long text',
    type({ a: 'string.email | string.uuid' }),
    { a: long },
    'a: a must be an email address or a UUID (was a string of 1000 characters)',
  ],
  [
    'of different types',
    type({ a: 'string.email | number[]' }),
    { a: 1 },
    'a: must be a string or an object (was a number)',
  ],
  [
    'of an object for a choice',
    type({ a: "'x' | 'y'" }),
    { a: { b: 1 } },
    'a: a must be "x" or "y" (was an object)',
  ],
  ['of a list for a constant', type({ a: "'x'" }), { a: [1] }, 'a: must be "x" (was an array)'],
  ['of a length', type({ a: 'string < 5' }), { a: long }, 'a: must be at most length 4 (was 1000)'],
  [
    'of several errors at one place',
    type({ a: 'string.email < 3' }),
    { a: 'long' },
    'a: ("long") must be...   ◦ an email address   ◦ at most length 2',
  ],
  [
    'of a predicate',
    type({ a: type('number[]').narrow((_, ctx) => ctx.mustBe('sorted')) }),
    { a: [2, 1] },
    'a: must be sorted (was an array)',
  ],
  [
    'that a predicate made',
    type({ a: type('number[]').narrow((_, ctx) => ctx.reject({ expected: 'sorted', actual: 'mixed' })) }),
    { a: [2, 1] },
    'a: must be sorted (was mixed)',
  ],
  [
    'with a configured message',
    type({
      a: type('number[] > 1').configure({ message: (error) => `${error.propString}: ${error.problem}!` }),
    }),
    { a: [] },
    'a: a: must be at least length 2!',
  ],
  [
    'with a configured expectation',
    type({ a: NUMBERED.configure({ expected: 'an n or an m' }) }),
    { a: {} },
    'a: an n or an m',
  ],
  [
    'with a configured value',
    type({ a: type("'x'").configure({ actual: () => 'hidden' }) }),
    { a: {} },
    'a: must be "x" (was hidden)',
  ],
  [
    'that nothing fits',
    type({ a: 'number' }).narrow((_, ctx) => ctx.reject({ code: 'union', errors: [] })),
    { a: 1 },
    'never',
  ],
  [
    'of many alternatives',
    type({ a: Array.from({ length: 50 }, (_, n) => type(`/${n}$/`)).reduce((all, one) => all.or(one)) }),
    { a: 'x' },
    'a: a must be matched by 0$, matched by 1$, matched by 10$, matched by 11$, matched by 12$, matched by 13$, matched by 14$,…',
  ],
]

test.each(TEXTS)('the text %s', async (_, schema, value, text) => {
  expect(await issueOf(schema, value)).toBe(text)
})
