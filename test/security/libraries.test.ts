import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { StandardSchema } from '../../src/schema/schema.ts'
import { open } from '../harness/client.ts'
import { bundle, run } from './bundle.ts'

test(
  'values with a problem in every part do not exhaust a server with 256 MB, and good ones are served',
  { timeout: 300_000 },
  async () => {
    const { code, stdout, stderr } = await run(bundle('library-server'), [], '', ['--max-old-space-size=256'])
    expect([code, stderr]).toEqual([0, ''])
    const told = Object.entries(JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>)
    expect(told.length).toBeGreaterThan(15)
    for (const [name, [good, bad]] of told) {
      expect([name, good]).toEqual([name, 'ok'])
      expect([name, bad]).toEqual([name, expect.stringMatching(name === 'record' ? /k0/ : /list/)])
    }
  },
)

test.each([1000, 12_000])('a tool takes and returns %d rows that its schemas change', async (count) => {
  const rows = Array.from({ length: count }, (_, id) => ({ id, secret: 'x' }))
  const row = z.object({ id: z.coerce.string().pipe(z.string()), note: z.string().default('none') })
  const Rows = z.object({ rows: z.array(row) })
  const taken: unknown[] = []
  const app = createServer({ name: 'rows', version: '1', log: () => undefined }).tool(
    'rows',
    { input: Rows, output: Rows },
    (input) => {
      taken.push(...input.rows)
      return { rows } as never
    },
  )
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const answer = await client.call('rows', { rows })
  const changed = rows.map(({ id }) => ({ id: String(id), note: 'none' }))
  expect(answer['structuredContent']).toEqual({ rows: changed })
  expect(taken).toEqual(changed)
})

// Three alternatives at each of fifty levels would be 3^50 checks if a part were checked again for each: it would not end, or be refused.
test('M.args-alternatives a few hundred bytes for alternatives that contain themselves do not keep a server busy', async () => {
  const alternatives = v.union([
    v.object({ op: v.literal('and'), args: v.array(v.lazy(() => filter)) }),
    v.object({ op: v.literal('or'), args: v.array(v.lazy(() => filter)) }),
    v.object({ op: v.string(), args: v.array(v.lazy(() => filter)) }),
    v.object({ field: v.string() }),
  ])
  const filter: v.GenericSchema = v.lazy(() => alternatives)
  const schema = toStandardJsonSchema(v.object({ where: filter }))
  const nested = (depth: number, leaf: JsonObject): JsonObject => {
    let where = leaf
    for (let level = 0; level < depth; level++) where = { op: 'or', args: [where] }
    return { where }
  }
  const field = { field: 'name' }
  const app = createServer({ name: 'filters', version: '1', log: () => undefined })
    .tool('search', { input: schema }, () => 'ok')
    .tool('saved', { output: schema } as never, () => nested(50, field) as never)
  const client = await open(app, { transport: 'memory', revision: '2026-07-28' })
  expect(await client.call('search', nested(3, field))).toMatchObject({ isError: false })
  expect(await client.call('search', nested(50, field))).toMatchObject({ isError: false })
  expect(await client.call('saved', {})).toMatchObject({ isError: false })
  expect(await client.call('search', nested(50, { field: 1 }))).toMatchObject({ isError: true })
})

const wide = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`

/** Schemas with a member `a`, and whether they accept others. */
const DECLARED: Readonly<Record<string, readonly [schema: StandardSchema, isOpen: boolean]>> = {
  zod: [z.object({ a: z.string() }), true],
  'closed zod': [z.strictObject({ a: z.string() }), false],
  valibot: [toStandardJsonSchema(v.object({ a: v.string() })), true],
  arktype: [type({ a: 'string' }) as never, true],
}
test.each(Object.keys(DECLARED))(
  'M.args-undeclared a large member that is not declared is given to the library once, %s',
  async (name) => {
    const [schema, isOpen] = DECLARED[name]!
    let calls = 0
    const standard = schema['~standard']
    const validate = (value: unknown): unknown => (calls++, standard.validate(value))
    const input = { '~standard': { ...standard, validate } } as never
    const app = createServer({ name: 'target', version: '1', log: () => undefined })
    app.tool('tool', { input }, () => 'ok')
    const client = await open(app, { transport: 'memory', revision: '2026-07-28' })
    calls = 0
    const junk = JSON.parse(wide(60_000)) as JsonObject
    expect(await client.call('tool', { a: 'x', junk })).toMatchObject({ isError: !isOpen })
    expect(calls).toBe(1)
  },
)

test('M.args-undeclared arktype is not given more than it copies quickly', async () => {
  let calls = 0
  const input = type({ a: 'string = "x"', '+': 'delete' }).narrow(() => ++calls > 0) as never
  const app = createServer({ name: 'target', version: '1', log: () => undefined })
  app.tool('tool', { input }, () => 'ok')
  const client = await open(app, { transport: 'memory', revision: '2026-07-28' })
  calls = 0
  expect(await client.call('tool', { junk: JSON.parse(wide(60_000)) as JsonObject })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('takes too long to check: send less at once') }],
  })
  expect(calls).toBe(0)
})
