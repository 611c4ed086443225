import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { scope } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as oldest from 'zod42'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'
import { processorMs } from '../../test/harness/processor.ts'

const TOO_LONG = { ok: false, issue: 'takes too long to check: send less at once', undecided: true }

/** An object whose member `v` is described by a schema that may contain itself. */
function zod(toNode: (node: z.ZodType) => z.ZodType): AnySchema {
  const node: z.ZodType = z.lazy(() => toNode(node))
  return z.object({ v: node })
}
function valibot(toNode: (node: v.GenericSchema) => v.GenericSchema): AnySchema {
  const node: v.GenericSchema = v.lazy(() => toNode(node))
  return toStandardJsonSchema(v.object({ v: node })) as AnySchema
}
const arktype = (names: Readonly<Record<string, unknown>>): AnySchema =>
  (scope({ ...names, root: { v: 'node' } } as never).export() as unknown as { root: AnySchema }).root

type Level = (below: unknown) => unknown

function nested(depth: number, level: Level, leaf: unknown): { v: unknown } {
  let below = leaf
  for (let at = 0; at < depth; at++) below = level(below)
  return { v: below }
}

const zodTree = (node: z.ZodType): z.ZodObject => z.object({ c: node.optional() })
const valibotTree = (node: v.GenericSchema) => v.object({ c: v.optional(node) })
const child: Level = (c) => ({ c })
const same = <Value>(value: Value): Value => value

describe('a few hundred bytes for a schema that doubles the work with every level are rejected at once', () => {
  // oxfmt-ignore
  const doubling: readonly (readonly [string, AnySchema, Level, leaf: unknown])[] = [
    ['a pipe of zod', zod((node) => zodTree(node).pipe(zodTree(node))), child, {}],
    ['a transform between the stages', zod((node) => zodTree(node).transform((value) => ({ ...value })).pipe(zodTree(node))), child, {}],
    ['a codec', zod((node) => z.codec(zodTree(node), zodTree(node), { decode: same, encode: same })), child, {}],
    ['stages after preprocessing', zod((node) => z.preprocess((value) => value, zodTree(node).pipe(zodTree(node)))), child, {}],
    ['lists on both sides of a pipe', zod((node) => z.union([z.number(), z.array(node).pipe(z.array(node))])), (c) => [c], 1],
    ['an intersection of zod with a wrong leaf', zod((node) => z.intersection(zodTree(node), zodTree(node))), child, 1],
    ['an intersection of lists', zod((node) => z.intersection(z.object({ c: z.array(node) }), z.object({ c: z.array(node) }))), (c) => ({ c: [c] }), 1],
    ['a pipe of valibot', valibot((node) => v.pipe(valibotTree(node), valibotTree(node))), child, {}],
    ['an intersection of valibot', valibot((node) => v.intersect([valibotTree(node), valibotTree(node)])), child, 'x'],
  ]
  test.each(doubling)('%s', async (_, schema, level, leaf) => {
    const checker = toChecker(schema, 'input')
    expect(await checker.check(nested(2, level, leaf))).not.toHaveProperty('undecided')
    for (const depth of [13, 60]) {
      const value = nested(depth, level, leaf)
      const ms = await processorMs(async () => {
        expect(await checker.check(value)).toMatchObject(TOO_LONG)
      })
      expect(ms).toBeLessThan(500)
    }
  })

  test('alternatives behind another stage, which no JSON Schema shows', async () => {
    const node: v.GenericSchema = v.lazy(() =>
      v.union([v.object({ c: node, a: v.string() }), v.object({ c: node, b: v.string() })]),
    )
    const schema = toStandardJsonSchema(
      v.object({ v: v.pipe(v.looseObject({}), node as never) }),
    ) as AnySchema
    const checker = toChecker(schema, 'input')
    expect(await checker.check(nested(3, child, {}))).not.toHaveProperty('undecided')
    expect(await checker.check(nested(14, child, {}))).toMatchObject(TOO_LONG)
  })
})

describe('ordinary values of schemas that contain themselves are checked', () => {
  const leaf = { field: 'name', is: '=', value: 3 }
  /** A tree with so many levels, and so many parts below each. */
  const tree = (depth: number, width: number, level: (below: unknown[], depth: number) => unknown): unknown =>
    depth === 0
      ? leaf
      : level(
          Array.from({ length: width }, () => tree(depth - 1, width, level)),
          depth,
        )
  const filter: (below: unknown[], depth: number) => unknown = (below, depth) =>
    depth % 5 === 0 ? { not: { and: below } } : depth % 2 === 0 ? { and: below } : { or: below }
  const filters = [tree(3, 10, filter), tree(10, 2, filter), tree(50, 1, filter)]
  const json = (below: unknown[], depth: number): unknown =>
    depth % 2 === 0 ? below : Object.fromEntries(below.entries())
  const values = [tree(3, 10, json), tree(10, 2, json), tree(50, 1, json)]
  const sum = (depth: number): unknown =>
    depth === 0 ? 1 : { op: '/', left: sum(depth - 1), right: sum(depth - 1) }
  const chain = nested(50, (left) => ({ op: '/', left, right: 2 }), 1).v
  const comments = (below: unknown[]): unknown => ({ text: ' hello ', replies: below })
  const comment = (depth: number, width: number): unknown =>
    JSON.parse(
      JSON.stringify(tree(depth, width, comments)).replaceAll(JSON.stringify(leaf), '{"text":"end"}'),
    )
  const ops = ['+', '-', '*', '/'] as const

  // oxfmt-ignore
  const ordinary: readonly (readonly [string, AnySchema, values: readonly unknown[]])[] = [
    ['JSON of zod', z.object({ v: z.json() }), values],
    ['filters of zod', zod((node) => z.union([z.object({ and: z.array(node) }), z.object({ or: z.array(node) }), z.object({ not: node }), z.object({ field: z.string(), is: z.string(), value: z.number() })])), filters],
    ['filters of valibot', valibot((node) => v.union([v.object({ and: v.array(node) }), v.object({ or: v.array(node) }), v.object({ not: node }), v.object({ field: v.string(), is: v.string(), value: v.number() })])), filters],
    ['filters of arktype', arktype({ node: 'and|or|not|leaf', and: { and: 'node[]' }, or: { or: 'node[]' }, not: { not: 'node' }, leaf: { field: 'string', is: 'string', value: 'number' } }), filters],
    ['expressions of zod', zod((node) => z.union([z.number(), ...ops.map((op) => z.object({ op: z.literal(op), left: node, right: node }))])), [sum(6), chain]],
    ['expressions of valibot', valibot((node) => v.variant('op', ops.map((op) => v.object({ op: v.literal(op), left: v.union([v.number(), node]), right: v.union([v.number(), node]) })) as never)), [sum(10), chain]],
    ['expressions of arktype', arktype({ node: 'number|a|b|c', a: { op: "'+'", left: 'node', right: 'node' }, b: { op: "'-'", left: 'node', right: 'node' }, c: { op: "'/'", left: 'node', right: 'node' } }), [sum(10), chain]],
    ['comments of zod', zod((node) => z.object({ text: z.string().trim(), replies: z.array(node).optional() })), [comment(3, 15), comment(50, 1)]],
    ['comments that are changed', zod((node) => z.object({ text: z.string(), replies: z.array(node).optional() }).transform((each) => ({ ...each }))), [comment(3, 15), comment(50, 1)]],
    ['comments that are changed and then looked at', zod((node) => z.object({ text: z.string(), replies: z.array(node).optional() }).transform((each) => ({ ...each })).pipe(z.object({ text: z.string(), replies: z.array(z.unknown()).optional() }))), [comment(3, 15), comment(50, 1)]],
    ['comments with an id', zod((node) => z.object({ id: z.number().optional() }).and(z.object({ text: z.string(), replies: z.array(node).optional() }))), [comment(3, 15), comment(50, 1)]],
    ['comments of valibot', valibot((node) => v.pipe(v.object({ text: v.pipe(v.string(), v.minLength(1)), replies: v.optional(v.array(node)) }), v.title('comment'))), [comment(3, 15), comment(50, 1)]],
    ['a few levels on both sides of a pipe', zod((node) => zodTree(node).pipe(zodTree(node))), [nested(9, child, {}).v]],
  ]
  test.each(ordinary)('%s', async (_, schema, all) => {
    const checker = toChecker(schema, 'input')
    for (const each of all)
      expect(await checker.check({ v: each })).toEqual(expect.objectContaining({ ok: true }))
  })
})

describe('ordinary values are checked behind a stage that the JSON Schema hides', () => {
  type Zod = typeof z
  const old = oldest.z as unknown as Zod
  const document = (depth: number): unknown =>
    depth === 0
      ? { type: 'text', text: 'x' }
      : { type: 'node', content: [document(depth - 1), { type: 'text', text: 'a' }] }
  /** The library tries the other kind in vain at every level. */
  const sum = (depth: number): unknown =>
    depth === 0
      ? { type: 'leaf', value: 2 }
      : { type: 'or', left: sum(depth - 1), right: { type: 'leaf', value: 1 } }
  const hiding = (stages: v.GenericSchema[]): AnySchema =>
    toStandardJsonSchema(v.object({ v: v.pipe(...(stages as [v.GenericSchema])) })) as AnySchema
  const json: v.GenericSchema = v.lazy(() =>
    v.union([v.string(), v.number(), v.boolean(), v.null(), v.array(json), v.record(v.string(), json)]),
  )
  const changed = v.transform(same) as never
  const parsed = v.parseJson() as never

  /** A schema with alternatives that contains itself, and `look` is called for every leaf. */
  const zodSum = (lib: Zod, look: () => boolean): z.ZodType => {
    const node: z.ZodType = lib.lazy(() =>
      lib.union([
        ...['and', 'or'].map((name) => lib.object({ type: lib.literal(name), left: node, right: node })),
        lib.object({ type: lib.literal('leaf'), value: lib.number().refine(look) }),
      ]),
    )
    return lib.object({ v: lib.unknown().transform(same).pipe(node) })
  }
  // oxfmt-ignore
  const documents: readonly (readonly [string, AnySchema, isText: boolean])[] = [
    ['JSON of zod', z.object({ v: z.unknown().transform(same).pipe(z.json()) }), false],
    ['JSON of zod 4.2', old.object({ v: old.unknown().transform(same).pipe(old.json()) }), false],
    ['a codec', z.object({ v: z.codec(z.unknown(), z.json(), { decode: same as never, encode: same as never }) }), false],
    ['JSON of valibot', hiding([v.unknown(), changed, json]), false],
    ['JSON in a text', hiding([v.string(), parsed, json]), true],
  ]
  test.each(documents)('%s', async (_, schema, isText) => {
    for (const depth of [2, 8, 16, 40]) {
      const value = isText ? JSON.stringify(document(depth)) : document(depth)
      expect(await toChecker(schema, 'input').check({ v: value })).toMatchObject({ ok: true })
    }
  })

  test.each([
    ['zod', z],
    ['zod 4.2', old],
  ] as const)('alternatives of %s, each part about once', async (_, lib) => {
    let looks = 0
    const { check } = toChecker(
      zodSum(lib, () => (looks++, true)),
      'input',
    )
    for (const depth of [2, 8, 40]) {
      looks = 0
      expect(await check({ v: sum(depth) })).toMatchObject({ ok: true })
      expect(looks).toBeLessThanOrEqual(2 * (depth + 1))
    }
  })

  test('and lists that valibot checks as objects, too, because something in them is wrong', async () => {
    let looks = 0
    const looked = v.pipe(
      v.string(),
      v.check(() => (looks++, false)),
    )
    const tree: v.GenericSchema = v.lazy(() => v.union([looked, v.array(tree), v.record(v.string(), tree)]))
    for (const isText of [false, true]) {
      const { check } = toChecker(
        hiding(isText ? [v.string(), parsed, tree] : [v.unknown(), changed, tree]),
        'input',
      )
      const value = nested(40, (below) => [below], 'x').v
      looks = 0
      const checked = await check({ v: isText ? JSON.stringify(value) : value })
      expect(checked).toMatchObject({ ok: false })
      expect(checked).not.toHaveProperty('undecided')
      expect(looks).toBeLessThan(10)
    }
  })

  test('but not if each level makes new parts', async () => {
    const node: z.ZodType = z.lazy(() =>
      z
        .unknown()
        .transform((value) => structuredClone(value))
        .pipe(z.union([z.object({ c: node, a: z.string() }), z.object({ c: node, b: z.string() })])),
    )
    const list: v.GenericSchema = v.lazy(() =>
      v.pipe(
        v.unknown(),
        v.transform((value) => structuredClone(value)),
        v.union([v.string(), v.array(list), v.record(v.string(), list)]),
      ),
    )
    const schemas = [
      [z.object({ v: node }), child],
      [hiding([list]), (below: unknown) => [below]],
    ] as const
    for (const [schema, level] of schemas)
      expect(await toChecker(schema, 'input').check(nested(16, level, 1))).toMatchObject(TOO_LONG)
  })
})
