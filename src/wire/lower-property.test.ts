import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitrariesOf } from '../../test/corpus/arbitrary.ts'
import { corpus, type Example } from '../../test/corpus/corpus.ts'
import { complaintsAboutLowered, isRound, isSharedBy, lowered } from '../../test/corpus/judged.ts'
import { officialOf } from '../../test/corpus/official.ts'
import { methodRow } from '../protocol/methods.ts'
import { REVISIONS } from '../protocol/revisions.ts'
import type { SchemaObject } from '../protocol/spec/2026-07-28.ts'
import { lowerFromClient } from './lower-client.ts'
import { loweringFor } from './lower.ts'

type Generated = ReturnType<typeof arbitrariesOf>[number]

/** Whether clients send a message: their requests and notifications, and the results of the requests of servers. */
function isFromClient({ kind, method }: Pick<Example, 'kind' | 'method'>): boolean {
  // At the newest revision, only servers have tasks.
  const from = method.startsWith('tasks/') ? 'client' : methodRow(method)?.from
  return from === 'both' || (from === 'client') === (kind !== 'result')
}

function toExample({ kind, method, value }: Generated): fc.Arbitrary<Example> {
  return value.map((generated) => ({ name: 'generated', kind, method, value: generated }))
}

describe.each(REVISIONS.slice(0, -1))('at %s', (revision) => {
  const official = officialOf(revision)
  const messages = arbitrariesOf('2026-07-28').filter((message) => isSharedBy(message, revision))
  const any = fc.oneof(...messages.map(toExample)).filter((example) => !isRound(example))

  test('any lowered message is valid and has no member that is foreign to the revision [R148] [S4-1-10]', () => {
    fc.assert(
      fc.property(any, (example) => {
        expect(complaintsAboutLowered(lowered(example, revision), revision, official)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('every example of the newest revision is valid when lowered', () => {
    const examples = corpus('2026-07-28').filter(
      (example) => isSharedBy(example, revision) && !isRound(example) && example.value['mode'] !== 'url',
    )
    expect(
      examples.flatMap((example) => complaintsAboutLowered(lowered(example, revision), revision, official)),
    ).toEqual([])
  })

  test('an example of the revision itself is lowered to the same object', () => {
    for (const example of corpus(revision)) expect(lowered(example, revision).value).toBe(example.value)
  })

  test('a client lowers what it sends as a server would', () => {
    const openings = arbitrariesOf('2025-11-25').filter(({ method }) => method === 'initialize')
    const sent = fc.oneof(...[...openings, ...messages].filter(isFromClient).map(toExample))
    fc.assert(
      fc.property(sent, (example) => {
        const { kind, method, value } = example
        expect(lowerFromClient(kind, method, value, revision)).toEqual(lowered(example, revision).value)
      }),
      { numRuns: 500 },
    )
  })

  test('lowering changes no input, and lowering twice changes nothing more', () => {
    fc.assert(
      fc.property(any, (example) => {
        const before = structuredClone(example.value)
        const once = lowered(example, revision)
        expect(example.value).toEqual(before)
        expect(lowered(once, revision).value).toEqual(once.value)
      }),
    )
  })
})

test('a lowered value fits the lowered output schema when the value fits its own [R147] [R148]', () => {
  const lowering = loweringFor('2025-11-25')
  const values = [
    {},
    { next: null },
    { next: { next: 1 } },
    { result: 1 },
    [],
    [1],
    ['a'],
    'a',
    1,
    null,
    true,
  ]
  for (const outputSchema of SCHEMAS) {
    const tool = lowering.tool?.({ name: 'a', inputSchema: { type: 'object' }, outputSchema })
    const before = new Ajv2020({ strict: false }).compile(outputSchema as object)
    const after = new Ajv2020({ strict: false }).compile((tool?.outputSchema ?? false) as object)
    for (const structuredContent of values.filter((value) => before(value))) {
      const result = lowering.callResult?.({ content: [], structuredContent })
      const about = `${JSON.stringify(structuredContent)} for ${JSON.stringify(outputSchema)}`
      expect(after(result?.structuredContent), `${about}`).toBe(true)
    }
  }
})

test('a wrapped value that breaks the output schema breaks the lowered one too [R147]', () => {
  const lowering = loweringFor('2025-11-25')
  const outputSchema = {
    type: 'array',
    items: { $ref: '#/$defs/item' },
    $defs: { item: { type: 'integer' } },
  }
  const tool = lowering.tool?.({ name: 'a', inputSchema: { type: 'object' }, outputSchema })
  const after = new Ajv2020({ strict: false }).compile((tool?.outputSchema ?? true) as object)
  expect(after(lowering.callResult?.({ content: [], structuredContent: ['a'] }).structuredContent)).toBe(
    false,
  )
  expect(after(lowering.callResult?.({ content: [], structuredContent: [1] }).structuredContent)).toBe(true)
})

const SCHEMAS: readonly SchemaObject[] = [
  { type: 'object', required: ['next'] },
  { type: 'array', items: { $ref: '#/$defs/item' }, $defs: { item: { type: 'integer' } } },
  {
    type: 'array',
    items: { $dynamicRef: '#item' },
    $defs: { item: { $dynamicAnchor: 'item', type: 'integer' } },
  },
  { type: ['object', 'null'], properties: { next: { $ref: '#' } }, additionalProperties: false },
  {
    anyOf: [{ type: 'object', required: ['next'] }, { $ref: '#/$defs/other' }],
    $defs: { other: { type: 'object' } },
  },
  {
    $id: 'https://example.com/list',
    type: 'array',
    items: { $ref: '#/$defs/item' },
    $defs: { item: { type: 'string' } },
  },
  { enum: [1, 'a', null] },
  { const: {} },
  { not: { type: 'string' }, allOf: [{ type: ['string', 'number'] }] },
]
