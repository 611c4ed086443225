import { scope } from 'arktype'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker, type Unfit } from './checker.ts'
import type { AnySchema } from './schema.ts'

describe('alternatives that contain themselves and have many members', () => {
  /** Problems that zod described. */
  let described = 0
  const text = z.string({ error: () => `problem ${++described}` })
  const shape = (prefix: string, count: number): Record<string, z.ZodType> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, text]))
  const Wide: z.ZodType = z.lazy(() =>
    z.union(['p', 'q', 'r'].map((prefix) => z.object({ below: z.array(Wide), ...shape(prefix, 50) }))),
  )
  /** A language with 30 kinds of nodes. */
  const Node: z.ZodType = z.lazy(() =>
    z.union(
      Array.from({ length: 30 }, (_, at) =>
        z.object({ kind: z.literal(`k${at}`), below: z.array(Node), ...shape(`m${at}-`, 6) }),
      ),
    ),
  )
  const node = (below: readonly unknown[], name = 'm29-0'): object => ({
    kind: 'k29',
    below,
    ...Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`m29-${at}`, 'x'])),
    [name]: 'x',
  })

  test('take a bounded share of what the library takes for a small value that fits none', async () => {
    let value: unknown = 5
    for (let level = 0; level < 58; level++) value = { below: [value] }
    const schema = z.object({ value: Wide })
    described = 0
    schema.safeParse({ value })
    const plain = described
    described = 0
    const { issue } = (await toChecker(schema, 'input').check({ value })) as Unfit
    expect(plain).toBeGreaterThan(8000)
    expect(described).toBeLessThan(plain / 2)
    // The JSON Schema says what is wrong.
    expect(issue).toContain('value: matches none of the 3 allowed shapes')
  })

  test('accept a value that fits, however many alternatives its parts have', async () => {
    const value = {
      program: Array.from({ length: 20 }, () => node(Array.from({ length: 20 }, () => node([])))),
    }
    const checker = toChecker(z.object({ program: z.array(Node) }), 'input')
    expect(await checker.check(value)).toMatchObject({ ok: true })
    const [first] = value.program as { below: object[] }[]
    first!.below[3] = { ...node([]), 'm29-0': 7 }
    expect(await checker.check(value)).toMatchObject({ ok: false })
  })
})

test('arktype checks a tree that fits no alternative once, not in pieces', async () => {
  let reads = 0
  const { root } = scope({
    cmp: { field: 'string' },
    or: { or: 'node[]' },
    not: { not: 'node' },
    node: 'cmp|or|not',
    root: { value: 'node' },
  }).export()
  const leaf = (): object =>
    Object.defineProperty({}, 'field', { enumerable: true, get: () => `f${++reads}` })
  let value: unknown = { or: [7] }
  for (let level = 0; level < 100; level++) value = { or: [value, leaf(), leaf()] }
  root({ value })
  const plain = reads
  reads = 0
  expect(await toChecker(root as AnySchema, 'input').check({ value })).toMatchObject({ ok: false })
  // Counting the parts, and comparing them with the JSON Schema, reads each a few times.
  expect(reads).toBeLessThan(plain + 200 * 5)
})
