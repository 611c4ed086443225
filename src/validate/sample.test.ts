import { expect, test } from 'vitest'
import { processorMs } from '../../test/harness/processor.ts'
import { usualAnswer } from './answer.ts'
import { generateCases, inputFor } from './generated-cases.ts'

function objectOf(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { type: 'object', properties, required: Object.keys(properties) }
}

const text = (pattern: string): object => ({ type: 'string', pattern })

/** Schemas whose patterns take long to read: one long pattern, and many that are as long as they may be. */
const COSTLY: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['a pattern of 20,000 characters', objectOf({ p: text('a'.repeat(20_000)) })],
  ['one of 2 million', objectOf({ p: text('[a]'.repeat(700_000)) })],
  [
    '2,000 long patterns',
    objectOf(
      Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`p${at}`, text('[a]'.repeat(650))])),
    ),
  ],
  [
    'one long pattern in many places',
    { ...objectOf({ l: { type: 'array', minItems: 2000, items: text('[a]'.repeat(650)) } }) },
  ],
]

test.each(COSTLY)('a question with %s is answered soon', async (_, requestedSchema) => {
  const ms = await processorMs(() => {
    expect(usualAnswer('elicitation/create', { message: '?', requestedSchema })).toMatchObject({
      action: 'accept',
    })
  })
  expect(ms).toBeLessThan(2000)
})

test.each(COSTLY)('a tool with %s is called, and its cases are made, soon', async (_, schema) => {
  const ms = await processorMs(() => {
    expect(inputFor(schema)).toBeTypeOf('object')
    generateCases(schema)
  })
  expect(ms).toBeLessThan(3000)
})

test('a question with an ordinary pattern is answered with a match', () => {
  const requestedSchema = objectOf({ code: text('^[A-Z]{3}-\\d{4}$') })
  expect(usualAnswer('elicitation/create', { message: '?', requestedSchema })).toEqual({
    action: 'accept',
    content: { code: 'AAA-1111' },
  })
})
