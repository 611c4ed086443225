import { expect, test } from 'vitest'
import { compile } from './compile.ts'
import { toDialect } from './dialect.ts'
import { explain } from './explain.ts'
import { toFormSchema } from './form.ts'
import { inspect } from './inspect.ts'

const DRAFTS = {
  6: 'http://json-schema.org/draft-06/schema#',
  7: 'http://json-schema.org/draft-07/schema#',
  2019: 'https://json-schema.org/draft/2019-09/schema',
  2020: 'https://json-schema.org/draft/2020-12/schema',
} as const
type Draft = keyof typeof DRAFTS
const ALL: readonly Draft[] = [6, 7, 2019, 2020]

/** A schema, a value that it rejects, and the first dialect that has the keyword in question. */
const KEYWORDS: readonly (readonly [keyword: string, schema: object, value: unknown, since: Draft])[] = [
  ['if', { if: { type: 'string' }, ['then' as string]: { minLength: 3 } }, 'a', 7],
  ['else', { if: { type: 'number' }, else: { minLength: 3 } }, 'a', 7],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1 }, 2019],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, 2019],
  ['unevaluatedProperties', { unevaluatedProperties: false }, { a: 1 }, 2019],
  ['unevaluatedItems', { unevaluatedItems: false }, [1], 2019],
  ['minContains', { contains: { type: 'number' }, minContains: 2 }, [1], 2019],
  ['maxContains', { contains: { type: 'number' }, maxContains: 1 }, [1, 2], 2019],
  ['prefixItems', { prefixItems: [{ type: 'string' }] }, [1], 2020],
  ['$dynamicRef', { $dynamicRef: '#n', $defs: { a: { $dynamicAnchor: 'n', type: 'string' } } }, 1, 2020],
  ['propertyNames', { propertyNames: { maxLength: 1 } }, { ab: 1 }, 6],
  ['contains', { contains: { type: 'number' } }, ['a'], 6],
]

function fits(draft: Draft, schema: object, value: unknown): boolean {
  const root = inspect({ $schema: DRAFTS[draft], ...schema })
  const verdict = compile(root)(value)
  const [issue] = explain(root, value)
  expect(issue?.problem === 'does not match the schema' || !verdict).toBe(true)
  return verdict
}

test.each(KEYWORDS)('%s has a meaning only in the dialects that know it', (_, schema, value, since) => {
  const deep = { properties: { p: { items: { anyOf: [schema] } } } }
  for (const draft of ALL) {
    expect([draft, fits(draft, schema, value)]).toEqual([draft, draft < since])
    expect([draft, fits(draft, deep, { p: [value] })]).toEqual([draft, draft < since])
  }
})

test('a list of item schemas is known to all dialects before 2020-12', () => {
  for (const draft of [6, 7, 2019] as const) {
    expect(fits(draft, { items: [{ type: 'string' }], additionalItems: false }, ['a'])).toBe(true)
    expect(fits(draft, { items: [{ type: 'string' }], additionalItems: false }, [1])).toBe(false)
    expect(fits(draft, { items: [{ type: 'string' }], additionalItems: false }, ['a', 1])).toBe(false)
  }
})

test('what stands beside a $ref is ignored up to draft-07, and counts from 2019-09 on', () => {
  const definitions = { short: { type: 'string', maxLength: 3 } }
  const both = { definitions, properties: { p: { $ref: '#/definitions/short', minLength: 2 } } }
  for (const draft of ALL) {
    expect([draft, fits(draft, both, { p: 'a' })]).toEqual([draft, draft < 2019])
    expect([draft, fits(draft, both, { p: 'ab' })]).toEqual([draft, true])
    expect([draft, fits(draft, both, { p: 'abcd' })]).toEqual([draft, false])
  }
})

test('definitions beside a $ref can still be referred to', () => {
  const root = {
    $ref: '#/definitions/list',
    definitions: {
      list: { items: { $ref: '#/definitions/list/definitions/item' }, definitions: { item: { const: 1 } } },
    },
  }
  for (const draft of ALL) {
    expect([draft, fits(draft, root, [1])]).toEqual([draft, true])
    expect([draft, fits(draft, root, [2])]).toEqual([draft, false])
  }
})

test('a property of the name $ref is a property', () => {
  const schema = { properties: { $ref: { type: 'string' }, a: { type: 'number' } } }
  for (const draft of ALL) {
    expect(fits(draft, schema, { $ref: 'x', a: 1 })).toBe(true)
    expect(fits(draft, schema, { $ref: 1 })).toBe(false)
    expect(fits(draft, schema, { a: 'x' })).toBe(false)
  }
})

test('a form follows the dialect, too', () => {
  const form = (draft: Draft): unknown =>
    toFormSchema({
      $schema: DRAFTS[draft],
      type: 'object',
      definitions: { name: { type: 'string', maxLength: 9 } },
      properties: { name: { $ref: '#/definitions/name', minLength: 2 } },
    })['properties']
  expect(form(7)).toEqual({ name: { type: 'string', maxLength: 9 } })
  expect(form(2019)).toEqual({ name: { type: 'string', maxLength: 9, minLength: 2 } })
})

test('a schema of the newest dialect, or of none, stays the same object', () => {
  for (const schema of [
    {},
    { $schema: DRAFTS[2020], prefixItems: [true] },
    { $ref: '#/$defs/a', $defs: { a: true } },
  ])
    expect(toDialect(schema)).toBe(schema)
})
