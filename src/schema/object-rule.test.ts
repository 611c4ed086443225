import { expect, test } from 'vitest'
import { compile } from './compile.ts'
import { inspect } from './inspect.ts'

type Row = readonly [schema: object, fits: readonly unknown[], others: readonly unknown[]]

/** Every keyword alone, with values at both sides of its boundary; values of other kinds pass. */
const ROWS: readonly Row[] = [
  [{ required: ['a'] }, [{ a: 1 }, { a: null }, [], 'a'], [{}, { b: 1 }]],
  [{ properties: { a: { type: 'number' } } }, [{}, { a: 1 }, { b: 'a' }, ['a']], [{ a: 'a' }, { a: null }]],
  [{ properties: { a: false } }, [{}, { b: 1 }], [{ a: 1 }]],
  [{ minProperties: 2 }, [{ a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, [], 'a'], [{}, { a: 1 }]],
  [{ maxProperties: 2 }, [{}, { a: 1, b: 2 }, [1, 2, 3]], [{ a: 1, b: 2, c: 3 }]],
  [{ maxProperties: 0 }, [{}], [{ a: 1 }]],
  [{ additionalProperties: false }, [{}, [1]], [{ a: 1 }]],
  [{ additionalProperties: { type: 'number' } }, [{}, { a: 1 }], [{ a: 'a' }, { a: 1, b: 'b' }]],
  [{ properties: { a: true }, additionalProperties: false }, [{}, { a: 'a' }], [{ b: 1 }, { a: 1, b: 1 }]],
  [{ patternProperties: { '^a': { type: 'number' } } }, [{}, { ab: 1 }, { b: 'b' }], [{ ab: 'a' }]],
  [
    { patternProperties: { '^a': true }, additionalProperties: false },
    [{ ab: 'a' }],
    [{ b: 1 }, { ab: 1, b: 1 }],
  ],
  [{ propertyNames: { maxLength: 1 } }, [{}, { a: 1 }, ['ab']], [{ ab: 1 }]],
  [{ dependentRequired: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { maxProperties: 1 } } }, [{}, { a: 1 }, { b: 1, c: 1 }], [{ a: 1, b: 1 }]],
]

test.each(ROWS.map((row) => [JSON.stringify(row[0]), row] as const))(
  '%s accepts and rejects what it should',
  (_text, [schema, fits, others]) => {
    const check = compile(inspect(schema))
    for (const value of fits) expect([value, check(value)]).toEqual([value, true])
    for (const value of others) expect([value, check(value)]).toEqual([value, false])
  },
)
