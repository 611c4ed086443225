import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
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
