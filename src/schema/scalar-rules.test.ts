import { expect, test } from 'vitest'
import { compile } from './compile.ts'
import { inspect } from './inspect.ts'

type Row = readonly [schema: object, fits: readonly unknown[], others: readonly unknown[]]

/** Every keyword alone, with values at both sides of its boundary; values of other kinds pass. */
const ROWS: readonly Row[] = [
  [{ minimum: 3 }, [3, 4, 3.001, '2', null], [2, 2.999, -3]],
  [{ maximum: 3 }, [3, 2, -4, '4', null], [4, 3.001]],
  [{ exclusiveMinimum: 3 }, [3.001, 4, '2'], [3, 2]],
  [{ exclusiveMaximum: 3 }, [2.999, -4, '4'], [3, 4]],
  [{ minimum: 0 }, [0, 1], [-1]],
  [{ maximum: 0 }, [0, -1], [1]],
  [{ multipleOf: 3 }, [0, 3, -6, '4'], [1, 4, 3.5]],
  [{ minLength: 2 }, ['ab', '😀😀', 1, [1]], ['', 'a', '😀']],
  [{ maxLength: 2 }, ['', 'ab', '😀😀', 123, [1, 2, 3]], ['abc', '😀😀😀']],
  [{ minLength: 1, maxLength: 1 }, ['a', '😀'], ['', 'ab', '😀a']],
  [{ pattern: '^a' }, ['a', 'ab', 1], ['b', '']],
  [{ const: null }, [null], [0, '', false, {}]],
  [{ const: 0 }, [0, -0], [null, false, '0']],
  [{ const: { a: [1] } }, [{ a: [1] }], [{ a: 1 }, { a: [1], b: 1 }, {}, [1]]],
  [{ enum: ['a', 1] }, ['a', 1], ['1', 'b', true, null]],
  [{ enum: ['a', { b: 1 }] }, ['a', { b: 1 }], [{ b: 2 }, {}, 'b']],
  [{ type: 'string' }, ['', 'a'], [1, null, [], {}]],
  [{ type: 'number' }, [1, 1.5], ['1', null, Number.NaN]],
  [{ type: 'integer' }, [1, -1, 2.0], [1.5, '1', null]],
  [{ type: 'boolean' }, [true, false], [0, 'true', null]],
  [{ type: 'null' }, [null], [0, '', false, {}]],
  [{ type: 'array' }, [[], [1]], [{}, 'a', null]],
  [{ type: 'object' }, [{}, { a: 1 }], [[], 'a', null]],
  [{ type: ['string', 'null'] }, ['a', null], [1, {}, []]],
]

test.each(ROWS.map((row) => [JSON.stringify(row[0]), row] as const))(
  '%s accepts and rejects what it should',
  (_text, [schema, fits, others]) => {
    const check = compile(inspect(schema))
    for (const value of fits) expect([value, check(value)]).toEqual([value, true])
    for (const value of others) expect([value, check(value)]).toEqual([value, false])
  },
)
