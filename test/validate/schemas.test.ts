import { describe, expect, test } from 'vitest'
import { inTool, nested } from './tool-schemas.ts'
import { SCHEMA_RULES } from '../../src/validate/server-rules/schemas.ts'
import { schemaProblem, unportable } from '../../src/validate/tool-schema.ts'
import type { Message } from '../../src/validate/message.ts'
import type { Fault } from './fault.ts'
import { prove } from './prove.ts'
import { processorMs } from '../harness/processor.ts'
import type { Verdict } from '../../src/validate/rule.ts'
import type { ServerSubject } from '../../src/validate/server-subject.ts'

/** Changes the tool `echo` in the list. */
const inEcho = inTool('echo')
const withText = (text: object) => (tool: Message) => ({
  ...tool,
  inputSchema: { type: 'object', properties: { text } },
})

const FAULTS: readonly Fault[] = [
  {
    rule: 'V010',
    does: 'has a schema with a type that does not exist',
    message: inEcho(withText({ type: 'strng' })),
  },
  {
    rule: 'V010',
    does: 'has an output schema with required as a boolean, as in draft 3',
    revisions: ['2025-11-25'],
    message: inEcho((tool) => ({
      ...tool,
      outputSchema: { type: 'object', properties: { a: { required: true } } },
    })),
  },
  {
    rule: 'V011',
    does: 'has a name with 65 characters',
    message: inEcho((tool) => ({ ...tool, name: 'e'.repeat(65) })),
  },
  {
    rule: 'V011',
    does: 'has an argument with brackets',
    message: inEcho((tool) => ({
      ...tool,
      inputSchema: { type: 'object', properties: { 'ids[]': { type: 'string' } } },
    })),
  },
  { rule: 'V012', does: 'has an array without items', message: inEcho(withText({ type: 'array' })) },
  {
    rule: 'V012',
    does: 'refers to a schema on another server',
    transports: ['http', 'stdio'],
    message: inEcho(withText({ $ref: 'https://example.com/text.json' })),
  },
  {
    rule: 'V013',
    does: 'has a description of 1025 characters',
    message: inEcho((tool) => ({ ...tool, description: 'x'.repeat(1_025) })),
  },
  {
    rule: 'V013',
    does: 'has a schema of 16 kB',
    transports: ['http'],
    message: inEcho(withText({ enum: [...Array(1_000).keys()].map((at) => `value number ${at}`) })),
  },
]

const VARIANTS: readonly Fault[] = [
  {
    rule: 'V010',
    does: 'writes schemas in draft-07',
    message: inEcho((tool) => ({
      ...tool,
      inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} },
    })),
  },
]

prove('schemas of tools [S1-12-2] [S1-10-8]', SCHEMA_RULES, FAULTS, VARIANTS)

/** A pattern whose analysis takes long. */
const slowPattern = (at: number): string => `(?:a?){100}(?:b?){100}(?:[ab]?){${50 + at}}$`

test('patterns that take long to analyse together are not read, and the run goes on meanwhile', async () => {
  const tools = Array.from({ length: 60 }, (_, at) => ({
    name: `t${at}`,
    inputSchema: { type: 'object', properties: { q: { type: 'string', pattern: slowPattern(at) } } },
  }))
  const notes = new Map<string, Promise<unknown>>()
  const subject = {
    list: async () => tools,
    once(name: string, work: () => Promise<unknown>) {
      if (!notes.has(name)) notes.set(name, work())
      return notes.get(name)
    },
  } as unknown as ServerSubject
  const check = (id: string): Verdict | Promise<Verdict> | undefined =>
    SCHEMA_RULES.find((rule) => rule.id === id)?.check(subject)
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  let verdicts: readonly (Verdict | undefined)[] = []
  const ms = await processorMs(async () => (verdicts = [await check('V010'), await check('V012')]))
  clearInterval(timer)
  expect(verdicts).toMatchObject([
    { is: 'unchecked', why: 'the patterns in the schemas of the tools take too long to analyse' },
    { is: 'failed', found: expect.stringContaining('and 55 more') },
  ])
  expect(turns).toBeGreaterThan(2)
  expect(ms).toBeLessThan(1_500)
})

describe('what is invalid, and what is only rare', () => {
  test.each([
    ['an unknown type', { type: 'text' }],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/missing' } } }],
    ['required as a boolean', { properties: { a: { required: true } } }],
    ['a negative length', { properties: { a: { minLength: -1 } } }],
    ['properties as a list', { properties: [] }],
  ])('%s is invalid', (_name, schema) => {
    expect(schemaProblem(schema)).toMatchObject({ isInvalid: true })
  })

  test.each([
    ['a dialect that is not supported', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['a reference to elsewhere', { properties: { a: { $ref: 'other.json' } } }],
    ['a pattern that may take very long', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['a schema of 70 levels', nested(70)],
  ])('%s is not invalid, but not portable', (_name, schema) => {
    expect(schemaProblem(schema)).toMatchObject({ isInvalid: false })
  })

  test.each([
    ['a union at the top', { type: 'object', anyOf: [{}] }, 'has anyOf at the top level'],
    ['eleven levels', nested(11), 'has more than 10 levels'],
    ['if in a property', { properties: { a: { if: {} } } }, 'uses if at #/properties/a'],
    ['patternProperties', { patternProperties: { '^a': {} } }, 'uses patternProperties at #'],
    [
      'many values',
      { properties: { a: { enum: [...Array(1_001).keys()] } } },
      'has more than 1000 values in enum',
    ],
  ])('%s is not portable', (_name, schema, found) => {
    expect(unportable(schema)).toContain(found)
  })

  test.each([
    [
      'a record as zod writes it',
      { properties: { a: { type: 'object', propertyNames: { type: 'string' } } } },
    ],
    ['a union in a property', { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }],
    [
      'a reference to itself',
      {
        $defs: { tree: { properties: { child: { $ref: '#/$defs/tree' } } } },
        properties: { a: { $ref: '#/$defs/tree' } },
      },
    ],
    ['a property called not', { properties: { not: { type: 'string' }, if: { type: 'string' } } }],
    ['ten levels', nested(10)],
  ])('%s is portable', (_name, schema) => {
    expect(schemaProblem(schema)).toBeUndefined()
    expect(unportable(schema)).toBeUndefined()
  })
})
