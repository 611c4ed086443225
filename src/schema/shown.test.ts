import { expect, test } from 'vitest'
import type { StandardSchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'
import { toShown } from './shown.ts'

/** A schema of a library that accepts nothing and converts to what is given. */
function rejecting(json: Record<string, unknown>): StandardSchema<unknown, unknown> {
  const issues = [{ message: 'never' }]
  const convert = (): Record<string, unknown> => json
  return {
    '~standard': {
      version: 1,
      vendor: 'strict',
      validate: () => ({ issues }),
      jsonSchema: { input: convert, output: convert },
    },
  } as unknown as StandardSchema<unknown, unknown>
}

test.each(['title', 'description', 'default', 'examples', 'deprecated', '$comment', 'id', 'readOnly'])(
  'a conversion that lost everything but %s is refused',
  (keyword) => {
    const values: Record<string, unknown> = { default: {}, examples: [{}], deprecated: true, readOnly: true }
    const json = { type: 'object', [keyword]: values[keyword] ?? 'note' }
    expect(() => toShown(rejecting(json), 'input')).toThrow(SchemaError)
  },
)

test('a conversion that asks for something is shown as it is', () => {
  const json = { type: 'object', id: 'note', minProperties: 1 }
  expect(toShown(rejecting(json), 'input')).toEqual(json)
})
