import { expect } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const ran: unknown[] = []
const app = createServer({ name: 'checks', version: '1' })
  .tool(
    'book',
    {
      input: {
        type: 'object',
        properties: {
          berth: { type: 'integer', minimum: 1, maximum: 9 },
          name: { type: 'string', minLength: 2, pattern: '^[A-Z]' },
          note: { type: 'string', optional: true },
          kind: { enum: ['sail', 'motor'] },
        },
        required: ['berth', 'name'],
        additionalProperties: false,
      },
    },
    (args) => {
      ran.push(args)
      return 'booked'
    },
  )
  .tool(
    'newer',
    {
      input: {
        type: 'object',
        properties: {
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        },
        dependentRequired: { pair: ['unit'] },
        unevaluatedProperties: false,
        allOf: [{ properties: { unit: { const: 'm' } } }],
      },
    },
    () => 'taken',
  )
  .tool(
    'draft7',
    {
      input: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { pair: { type: 'array', items: [{ type: 'string' }], additionalItems: false } },
      },
    },
    () => 'taken',
  )
  .tool(
    'zod',
    { input: z.object({ n: z.number().int().default(7), list: z.array(z.string()).max(1).optional() }) },
    ({ n }) => n,
  )

/** What became of a call: the text of its result, or the refusal in the form of the revision. */
async function outcome(
  client: Client,
  name: string,
  args: JsonObject,
): Promise<{ refused: string } | { said: string }> {
  if (client.revision < '2025-11-25') {
    try {
      return { said: textOf(await client.call(name, args)) }
    } catch (error) {
      const { code, message, data } = error as { code: number; message: string; data: unknown }
      expect(code).toBe(-32602)
      expect(NAMES).toContain((data as { refusal: { name: string } }).refusal.name)
      return { refused: message }
    }
  }
  const result = await client.call(name, args)
  if (result['isError'] !== true) return { said: textOf(result) }
  const { 'dev.pierhead/refusal': told } = result['_meta'] as Record<string, { name: string }>
  expect(NAMES).toContain(told?.name)
  return { refused: textOf(result) }
}

const NAMES = ['INVALID_PARAMS', 'MISSING_REQUIRED_FIELD', 'FIELD_TYPE_MISMATCH']

function textOf(result: JsonObject): string {
  return (result['content'] as { text: string }[])[0]!.text
}

scenario(
  'arguments that break the schema never reach the handler: an error up to 2025-06-18, a result the model reads after [R145] [R146] [S0-4.10] [S2-4.2-4] [S2-4.4-3] [S2-4.4-4] [S2-15-7] [S3-8-3] [S3-9-7] [S2-4.2-5] [S2-13-S10] [S2-15-9]',
  app,
  async (client) => {
    ran.length = 0
    const wrong: [JsonObject, string][] = [
      [{ berth: 0, name: 'Anna' }, 'berth'],
      [{ berth: 10, name: 'Anna' }, 'berth'],
      [{ berth: 1.5, name: 'Anna' }, 'berth'],
      [{ berth: '1', name: 'Anna' }, 'berth: expected integer, got string'],
      [{ berth: 1 }, 'name'],
      [{}, 'berth'],
      [{ berth: 1, name: 'anna' }, 'name'],
      [{ berth: 1, name: 'A' }, 'name'],
      [{ berth: 1, name: 'Anna', kind: 'row' }, 'kind'],
      [{ berth: 1, name: 'Anna', extra: true }, 'extra'],
    ]
    for (const [args, place] of wrong) {
      const found = await outcome(client, 'book', args)
      expect(found).toEqual({ refused: expect.stringContaining('arguments of tool "book" are invalid: ') })
      expect(found).toEqual({ refused: expect.stringContaining(place) })
    }
    expect(ran).toEqual([])
    expect(await outcome(client, 'book', { berth: 9, name: 'Anna', note: 'x', kind: 'sail' })).toEqual({
      said: 'booked',
    })
    expect(await outcome(client, 'book', { berth: 1, name: 'Anna' })).toEqual({ said: 'booked' })
    expect(ran).toEqual([
      { berth: 9, name: 'Anna', note: 'x', kind: 'sail' },
      { berth: 1, name: 'Anna' },
    ])
  },
)

scenario(
  'the refusal says whether a field is missing or of another type, and which [S2-8.3-5] [S2-8.4-2]',
  app,
  async (client) => {
    const missing = { code: 1028, name: 'MISSING_REQUIRED_FIELD' }
    const mismatch = { code: 1029, name: 'FIELD_TYPE_MISMATCH' }
    const other = { code: 1021, name: 'INVALID_PARAMS' }
    const cases: [string, JsonObject, JsonObject, JsonObject][] = [
      ['book', { berth: 1 }, missing, { details: 'is required', field: 'name', type: 'required' }],
      [
        'book',
        { berth: '1', name: 'Anna' },
        mismatch,
        {
          details: 'expected integer, got string',
          field: 'berth',
          expectedType: 'integer',
          type: 'type_mismatch',
        },
      ],
      [
        'book',
        { berth: 0, name: 'Anna' },
        other,
        { details: 'must be >= 1', field: 'berth', type: 'invalid_value' },
      ],
      [
        'newer',
        { pair: [1, 1], unit: 'm' },
        mismatch,
        {
          details: 'expected string, got number',
          field: 'pair[0]',
          expectedType: 'string',
          type: 'type_mismatch',
        },
      ],
      [
        'zod',
        { n: 'x' },
        mismatch,
        {
          details: 'expected number, received string',
          field: 'n',
          expectedType: 'number',
          type: 'type_mismatch',
        },
      ],
    ]
    for (const [name, args, refused, facts] of cases) {
      const full = { ...refused, httpStatus: 400, severity: 'error', retryable: false }
      if (client.revision < '2025-11-25') {
        const { data } = await refusal(client.call(name, args))
        expect(data).toEqual({ ...facts, refusal: full })
      } else {
        const { _meta: meta } = await client.call(name, args)
        expect(meta).toEqual({ 'dev.pierhead/refusal': full })
      }
    }
  },
)

scenario(
  'a schema without a dialect is read as 2020-12, and as draft-07 when it says so [R153] [S2-4.2-4]',
  app,
  async (client) => {
    expect(await outcome(client, 'newer', { pair: ['a', 1], unit: 'm' })).toEqual({ said: 'taken' })
    for (const args of [
      { pair: ['a', 1] },
      { pair: [1, 1], unit: 'm' },
      { pair: ['a', 1, 2], unit: 'm' },
      { unit: 'm', x: 1 },
    ]) {
      expect(await outcome(client, 'newer', args)).toEqual({
        refused: expect.stringContaining('tool "newer"'),
      })
    }
    expect(await outcome(client, 'draft7', { pair: ['a'] })).toEqual({ said: 'taken' })
    expect(await outcome(client, 'draft7', { pair: [1] })).toEqual({
      refused: expect.stringContaining('pair'),
    })
    expect(await outcome(client, 'draft7', { pair: ['a', 'b'] })).toEqual({
      refused: expect.stringContaining('pair'),
    })
  },
)

scenario('a schema of a library checks and fills in defaults [S2-4.2-4] [S3-7.1-2]', app, async (client) => {
  expect(await outcome(client, 'zod', {})).toEqual({ said: '7' })
  expect(await outcome(client, 'zod', { n: 3 })).toEqual({ said: '3' })
  expect(await outcome(client, 'zod', { n: 'x' })).toEqual({ refused: expect.stringContaining('n: ') })
  expect(await outcome(client, 'zod', { list: ['a', 'b'] })).toEqual({
    refused: expect.stringContaining('list: '),
  })
})

scenario(
  'first the name, then the shape of the arguments, then the schema [S2-4.4-1] [S2-4.4-2] [S0-4.6]',
  app,
  async (client) => {
    ran.length = 0
    for (const args of [null, [], [1], 'x', 5, true]) {
      const unknown = await refusal(client.request('tools/call', { name: 'none', arguments: args }))
      expect(unknown.message).toContain('tool "none" does not exist')
      const error = await refusal(client.request('tools/call', { name: 'book', arguments: args }))
      expect([error.code, error.message]).toEqual([
        -32602,
        'arguments of tool "book" are invalid: they are not an object',
      ])
      expect(error.data).toMatchObject({ refusal: { code: 1021, name: 'INVALID_PARAMS' } })
    }
    // What is missing is found before what has another type.
    const both = {
      refused: 'arguments of tool "book" are invalid: name: is required; berth: expected integer, got string',
    }
    expect(await outcome(client, 'book', { berth: '1' })).toEqual(both)
    expect(ran).toEqual([])
  },
)

scenario('absent arguments count as none [S0-4.6] [S2-4.3-1]', app, async (client) => {
  expect(textOf(await client.get('tools/call', { name: 'zod' }))).toBe('7')
})
