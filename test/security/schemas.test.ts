import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open } from '../harness/client.ts'
import { processorMs } from '../harness/processor.ts'

const member = (kind: string): JsonObject => ({
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } }, kind: { const: kind } },
  required: ['kind'],
})
const a = (schema: JsonObject): never => ({ type: 'object', properties: { a: schema } }) as never

const app = createServer({ name: 'schemas', version: '1', log: () => undefined })
  .tool(
    'tree',
    {
      input: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/node' } },
        $defs: { node: { anyOf: [member('leaf'), member('branch')] } },
      } as never,
    },
    () => 'ok',
  )
  .tool('unique', { input: a({ type: 'array', uniqueItems: true }) }, () => 'ok')
  .tool('items', { input: a({ type: 'array', items: { type: 'integer', minimum: 5 } }) }, () => 'ok')
  .tool('strict', { input: a({ type: 'object', properties: {}, additionalProperties: false }) }, () => 'ok')
  .tool(
    'names',
    {
      input: a({
        type: 'object',
        propertyNames: { pattern: '^[a-z]+$' },
        patternProperties: { '^x(y|z)*$': { type: 'string' } },
      }),
    },
    () => 'ok',
  )
  .tool('pattern', { input: a({ type: 'string', pattern: '^[a-z]+(-[a-z]+)*$' }) }, () => 'ok')
  .tool('strings', { input: a({ type: 'array', items: { type: 'string', pattern: 'a+b|c$' } }) }, () => 'ok')
  .tool('quadratic', { input: a({ type: 'string', pattern: 'a+b' }) }, () => 'ok')
  .tool(
    'shapes',
    {
      input: a({
        anyOf: Array.from({ length: 20 }, (_, at) => ({
          type: 'object',
          required: [`k${at}`],
          properties: { k0: { type: 'array', items: { type: 'number' } } },
        })),
      }),
    },
    () => 'ok',
  )

function nested(levels: number): JsonObject {
  let value: JsonObject = { kind: 'none' }
  for (let level = 0; level < levels; level++) value = { children: [value], kind: 'branch' }
  return value
}

const many = <Value>(count: number, value: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => value(at))

test.each<[string, unknown]>([
  ['tree', nested(10)],
  ['tree', nested(55)],
  ['unique', many(100_000, (at) => at)],
  ['unique', many(20_000, (at) => ({ at }))],
  ['items', many(200_000, () => 1)],
  ['strict', Object.fromEntries(many(60_000, (at) => [`k${at}`, at]))],
  ['strict', { ['x'.repeat(1_000_000)]: 1 }],
  ['names', Object.fromEntries(many(50_000, (at) => [`k${at}`, at]))],
  ['names', { [`x${'yz'.repeat(50_000)}!`]: 1 }],
  ['pattern', `${'a-'.repeat(50_000)}!`],
  ['pattern', `${'a'.repeat(100_000)}!`],
  ['quadratic', 'a'.repeat(1_000_000)],
  ['strings', many(300, () => `${'a'.repeat(3000)}c`)],
  ['shapes', { k0: many(100_000, () => 'x') }],
])(
  'M.args-schema-cost no arguments keep the schema of %s busy, and the answer is short',
  async (name, value) => {
    const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
    await client.call('strict')
    await client.call('tree', { a: nested(1) })
    expect(await processorMs(() => client.call(name, { a: value }))).toBeLessThan(2500)
    expect(client.transcript.at(-1)?.text.length).toBeLessThan(3000)
  },
)
