import { describe, expect, test } from 'vitest'
import * as newest from 'zod'
import * as oldest from 'zod42'
import { toChecker } from './checker.ts'
import { toRemembering } from './remembering.ts'
import type { StandardSchema } from './schema.ts'

type Zod = typeof newest.z

describe.each([
  ['zod', newest.z],
  ['zod 4.2', oldest.z as unknown as Zod],
] as const)('alternatives of %s that differ in constants', (_, z) => {
  /** Problems that zod described. */
  let described = 0
  const text = z.string({ error: () => `problem ${++described}` })

  test('are left out where a constant rules them out', async () => {
    const Node: newest.ZodType = z.lazy(() =>
      z.union([
        ...Array.from({ length: 12 }, (__, at) =>
          z.object({ type: z.literal(`k${at}`), [`own${at}`]: text, left: Node, right: Node }),
        ),
        z.object({ type: z.literal('leaf'), value: z.number() }),
      ]),
    )
    const tree = (depth: number): object => {
      if (depth === 0) return { type: 'leaf', value: 1 }
      return { type: 'k11', own11: '+', left: tree(depth - 1), right: tree(depth - 1) }
    }
    const value = { tree: tree(9) }
    described = 0
    expect(await toChecker(z.object({ tree: Node }), 'input').check(value)).toMatchObject({ ok: true, value })
    expect(described).toBe(0)
  })

  const kind = (name: string): newest.ZodType => z.object({ kind: z.literal(name), n: z.number() })
  const list = (of: newest.ZodType): newest.ZodType => {
    const tree: newest.ZodType = z.lazy(() => z.union([of, z.object({ below: z.array(tree) })]))
    return tree
  }
  const schemas: readonly (readonly [string, newest.ZodType])[] = [
    ['literals', z.union([kind('a'), kind('b')])],
    ['the same literal twice', z.union([kind('a'), z.object({ kind: z.literal('a'), n: z.string() })])],
    ['several constants', z.union([z.object({ kind: z.enum(['a', 'b']), n: z.literal([1, 2]) }), kind('a')])],
    ['a default', z.union([kind('b'), z.object({ kind: z.literal('a').default('a'), m: z.number() })])],
    ['an optional one', z.union([kind('b'), z.object({ kind: z.literal('a').optional(), n: z.string() })])],
    ['a replaced one', z.union([kind('b'), z.object({ kind: z.literal('a').catch('a'), n: z.string() })])],
    [
      'a converted one',
      z.union([kind('a'), z.object({ kind: z.string().transform(() => 1), n: z.number() })]),
    ],
    [
      'other kinds of parts',
      z.union([kind('a'), z.string(), z.array(z.number()), z.record(z.string(), z.string())]),
    ],
    ['rules for the whole', z.union([kind('a'), kind('b')]).refine((one) => (one as { n: number }).n > 1)],
    ['one that fits alone', z.xor([kind('a'), z.looseObject({ n: z.number() })])],
    [
      'a discriminator',
      z.discriminatedUnion('kind', [kind('a') as newest.ZodObject, kind('b') as newest.ZodObject]),
    ],
    [
      'lists that look like objects',
      z.union([kind('a'), z.array(z.string()).transform((all) => all.length)]),
    ],
  ]
  const parts: readonly unknown[] = [
    { kind: 'a', n: 1 },
    { kind: 'a', n: 2 },
    { kind: 'b', n: 1 },
    { kind: 'b', n: 'x' },
    { kind: 'c', n: 1 },
    { kind: 'a', n: 'x' },
    { kind: 'c', n: 'x' },
    { kind: 1, n: 3 },
    { kind: undefined, n: 'x' },
    { n: 'x' },
    { m: 1 },
    {},
    { x: 'y' },
    ['x', 'y'],
    [1],
    'x',
    null,
    7,
  ]

  test.each(schemas)('and have %s accept, change and reject as zod does', async (__, schema) => {
    const tree = list(schema) as unknown as StandardSchema
    const copy = toRemembering(tree, 'input') as StandardSchema
    for (const part of [...parts, ...parts.map((one) => ({ below: [one, { below: [one] }] }))]) {
      const own = await copy['~standard'].validate(structuredClone(part))
      const theirs = await tree['~standard'].validate(structuredClone(part))
      expect(plain(own)).toEqual(plain(theirs))
    }
  })
})

/** A result with what callers see of its issues. What is wrong with each alternative is told once, and not to them. */
function plain(result: unknown): unknown {
  const hidden = new Set(['inst', 'errors'])
  const text = JSON.stringify(result, (key, value: unknown) => (hidden.has(key) ? undefined : value))
  return JSON.parse(text) as unknown
}
