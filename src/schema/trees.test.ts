import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { scope } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as newest from 'zod'
import * as oldest from 'zod42'
import { toChecker } from './checker.ts'
import { toRemembering } from './remembering.ts'
import type { AnySchema, StandardSchema } from './schema.ts'
import { processorMs } from '../../test/harness/processor.ts'

type Zod = typeof newest.z
type Node = newest.ZodType
type Level = (below: unknown, other: unknown, depth: number) => unknown

/** All versions of zod have the same types here. */
const ZODS = [
  ['zod', newest.z],
  ['zod 4.2', oldest.z as unknown as Zod],
] as const
const zod = (z: Zod, toNode: (node: Node) => Node): AnySchema => {
  const node: Node = z.lazy(() => toNode(node))
  return z.object({ v: node })
}
const valibot = (toNode: (node: v.GenericSchema) => v.GenericSchema): AnySchema => {
  const node: v.GenericSchema = v.lazy(() => toNode(node))
  return toStandardJsonSchema(v.object({ v: node })) as AnySchema
}
const arktype = (names: Readonly<Record<string, unknown>>): AnySchema =>
  (scope({ ...names, root: { v: 'node' } } as never).export() as unknown as { root: AnySchema }).root

/** A tree in which every part that is not a leaf has two others. */
const binary = (depth: number, level: Level, leaf: unknown): unknown =>
  depth === 0 ? leaf : level(binary(depth - 1, level, leaf), binary(depth - 1, level, leaf), depth)
/** A tree with one branch. */
const chain = (depth: number, level: Level, leaf: unknown): unknown =>
  depth === 0 ? leaf : level(chain(depth - 1, level, leaf), leaf, depth)
const trees = (level: Level, leaf: unknown, depths: readonly number[] = [3, 6, 8, 10]): unknown[] => [
  ...depths.map((depth) => binary(depth, level, leaf)),
  chain(20, level, leaf),
]

const OPERATORS = ['+', '-', '*', '/'] as const
const expressions = trees((left, right) => ({ op: '/', left, right }), 1)
const late = trees((left, right) => ({ left, right, op: '/' }), 1)
const leaf = { field: 'name', is: 3 }
const filters = trees(
  (below, other, depth) =>
    depth % 5 === 0 ? { not: below } : depth % 2 === 0 ? { and: [below, other] } : { or: [below, other] },
  leaf,
)
const operations = trees(
  (below, other, depth) =>
    depth % 5 === 0
      ? { op: 'not', arg: below }
      : { op: depth % 2 === 0 ? 'and' : 'or', args: [below, other] },
  { op: 'is', ...leaf },
)
const jsons = [
  ...trees((left, right, depth) => (depth % 2 === 0 ? [left, right] : { left, right, n: null }), 'x'),
  Array.from({ length: 1000 }, (_, id) => ({ id, name: `n${id}`, tags: ['a', 'b'] })),
]
const files = trees((left, right) => ({ name: 'src', kind: 'folder', entries: [left, right] }), {
  name: 'a.ts',
  kind: 'file',
  size: 3,
})
const comments = trees((left, right) => ({ id: 1, text: 'hello', replies: [left, right] }), {
  id: 2,
  text: 'end',
})
const pages = trees(
  (left, right, depth) => ({
    tag: 'div',
    ...(depth % 2 === 0 ? { attributes: { id: 'x' } } : {}),
    children: [left, right, 'text'],
  }),
  { tag: 'br' },
)

// oxfmt-ignore
const zodTrees: readonly (readonly [string, (z: Zod) => AnySchema, readonly unknown[]])[] = [
  ['JSON', (z) => zod(z, (node) => z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(node), z.record(z.string(), node)])), jsons],
  ['JSON of its own', (z) => z.object({ v: z.json() }), jsons],
  ['filters', (z) => zod(z, (node) => z.union([z.object({ and: z.array(node) }), z.object({ or: z.array(node) }), z.object({ not: node }), z.object({ field: z.string(), is: z.number() })])), filters],
  ['filters that a member distinguishes', (z) => zod(z, (node) => z.union([z.object({ op: z.literal('and'), args: z.array(node) }), z.object({ op: z.literal('or'), args: z.array(node) }), z.object({ op: z.literal('not'), arg: node }), z.object({ op: z.literal('is'), field: z.string(), is: z.number() })])), operations],
  ['expressions', (z) => zod(z, (node) => z.union([z.number(), ...OPERATORS.map((op) => z.object({ op: z.literal(op), left: node, right: node }))])), expressions],
  ['expressions with the operator last', (z) => zod(z, (node) => z.union([z.number(), ...OPERATORS.map((op) => z.strictObject({ left: node, right: node, op: z.literal(op) }))])), late],
  ['expressions with getters', (z) => {
    const of = (op: string): Node => z.object({ op: z.literal(op), get left() { return any }, get right() { return any } })
    const any: Node = z.union([z.number(), ...OPERATORS.map(of)])
    return z.object({ v: any })
  }, expressions],
  ['files', (z) => zod(z, (node) => z.union([z.object({ name: z.string(), kind: z.literal('folder'), entries: z.array(node) }), z.object({ name: z.string(), kind: z.literal('file'), size: z.number() })])), files],
  ['files in a discriminated union', (z) => zod(z, (node) => z.discriminatedUnion('kind', [z.object({ name: z.string(), kind: z.literal('folder'), entries: z.array(node) }), z.object({ name: z.string(), kind: z.literal('file'), size: z.number() })])), files],
  ['comments', (z) => zod(z, (node) => z.object({ id: z.number(), text: z.string().trim(), replies: z.array(node).optional() })), comments],
  ['comments with getters', (z) => {
    const node: Node = z.object({ id: z.union([z.number(), z.string()]), text: z.string(), get replies() { return z.array(node).optional() } })
    return z.object({ v: node })
  }, comments],
  ['comments that are changed', (z) => zod(z, (node) => z.object({ id: z.union([z.string(), z.number().transform(String)]), text: z.string(), replies: z.union([z.array(node), z.null()]).default(null) })), comments],
  ['pages', (z) => zod(z, (node) => z.union([z.string(), z.object({ tag: z.literal('br') }).strict(), z.object({ tag: z.string(), attributes: z.record(z.string(), z.string()).optional(), children: z.array(node) })])), pages],
]

// oxfmt-ignore
const valibotTrees: readonly (readonly [string, AnySchema, readonly unknown[]])[] = [
  ['JSON', valibot((node) => v.union([v.string(), v.number(), v.boolean(), v.null(), v.array(node), v.record(v.string(), node)])), jsons],
  ['JSON without names', (() => {
    const toNode = (): v.GenericSchema => v.union([v.string(), v.number(), v.boolean(), v.null(), v.array(v.lazy(toNode)), v.record(v.string(), v.lazy(toNode))])
    return toStandardJsonSchema(v.object({ v: v.lazy(toNode) })) as AnySchema
  })(), jsons],
  ['filters', valibot((node) => v.union([v.object({ and: v.array(node) }), v.object({ or: v.array(node) }), v.object({ not: node }), v.object({ field: v.string(), is: v.number() })])), filters],
  ['filters that a member distinguishes', valibot((node) => v.union([v.object({ op: v.literal('and'), args: v.array(node) }), v.object({ op: v.literal('or'), args: v.array(node) }), v.object({ op: v.literal('not'), arg: node }), v.object({ op: v.literal('is'), field: v.string(), is: v.number() })])), operations],
  ['expressions', valibot((node) => v.union([v.number(), ...OPERATORS.map((op) => v.object({ op: v.literal(op), left: node, right: node }))])), expressions],
  ['expressions with descriptions', valibot((node) => v.pipe(v.union([v.number(), ...OPERATORS.map((op) => v.pipe(v.strictObject({ left: v.pipe(node, v.description('left')), right: node, op: v.literal(op) }), v.title(op), v.minEntries(3)))]), v.description('expression'))), late],
  ['variants', valibot((node) => v.union([v.number(), v.variant('op', OPERATORS.map((op) => v.object({ op: v.literal(op), left: node, right: node })))])), expressions],
  ['files', valibot((node) => v.union([v.object({ name: v.string(), kind: v.literal('folder'), entries: v.array(node) }), v.object({ name: v.string(), kind: v.literal('file'), size: v.number() })])), files],
  ['comments', valibot((node) => v.object({ id: v.union([v.string(), v.number()]), text: v.pipe(v.string(), v.minLength(1)), replies: v.nullish(v.array(node), null) })), comments],
  ['comments that are changed', valibot((node) => v.pipe(v.object({ id: v.union([v.string(), v.pipe(v.number(), v.transform(String))]), text: v.string(), replies: v.optional(v.union([v.array(node), v.null()])) }), v.transform((each) => ({ ...each, seen: true })))), comments],
  ['pages', valibot((node) => v.union([v.string(), v.strictObject({ tag: v.literal('br') }), v.object({ tag: v.string(), attributes: v.optional(v.record(v.string(), v.string())), children: v.array(node) })])), pages],
]

// oxfmt-ignore
const arktypeTrees: readonly (readonly [string, AnySchema, readonly unknown[]])[] = [
  ['JSON', arktype({ node: 'string|number|boolean|null|list|object', list: 'node[]', object: { '[string]': 'node' } }), jsons],
  ['filters', arktype({ node: 'a|o|n|leaf', a: { and: 'node[]' }, o: { or: 'node[]' }, n: { not: 'node' }, leaf: { field: 'string', is: 'number' } }), filters],
  ['expressions', arktype({ node: 'number|a|b|c|d', a: { op: "'+'", left: 'node', right: 'node' }, b: { op: "'-'", left: 'node', right: 'node' }, c: { op: "'*'", left: 'node', right: 'node' }, d: { op: "'/'", left: 'node', right: 'node' } }), expressions],
  ['files', arktype({ node: 'folder|file', folder: { name: 'string', kind: "'folder'", entries: 'node[]' }, file: { name: 'string', kind: "'file'", size: 'number' } }), files],
  ['comments', arktype({ node: { id: 'number|string', text: 'string', 'replies?': 'node[]' } }), comments],
]

const all = [
  ...ZODS.flatMap(([version, z]) =>
    zodTrees.map(([name, toSchema, values]) => [`${name} of ${version}`, toSchema(z), values] as const),
  ),
  ...valibotTrees.map(([name, ...rest]) => [`${name} of valibot`, ...rest] as const),
  ...arktypeTrees.map(([name, ...rest]) => [`${name} of arktype`, ...rest] as const),
]

const valueOf = (result: unknown): unknown => (result as { readonly value?: unknown }).value
const naively = (schema: AnySchema, value: unknown): unknown =>
  (schema as StandardSchema)['~standard'].validate(value)
/** A value with one wrong part, far below. */
function spoilt(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return { bad: [value] }
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
  const [last] = Object.keys(copy).toReversed()
  if (last !== undefined) copy[last] = spoilt(copy[last])
  return copy
}

const nested = (depth: number, level: (below: unknown) => unknown, end: unknown): { v: unknown } => ({
  v: chain(depth, level, end),
})
const inC = (c: unknown): unknown => ({ c })
const pair = (below: unknown): unknown => [below, null]
const inA = (a: unknown): unknown => ({ a })
const inV = (v: unknown): unknown => ({ c: { v } })

/** A schema with alternatives that contain all of it. */
function whole(z: Zod): AnySchema {
  const root: Node = z.object({
    get v(): Node {
      return z.union([z.object({ c: root, a: z.string() }), z.object({ c: root, b: z.string() }), z.number()])
    },
  })
  return root
}

function wholeOfValibot(): AnySchema {
  const root: v.GenericSchema = v.object({
    v: v.union([
      v.object({ c: v.lazy(() => root), a: v.string() }),
      v.object({ c: v.lazy(() => root), b: v.string() }),
      v.number(),
    ]),
  })
  return toStandardJsonSchema(root) as AnySchema
}

/** Schemas that make a library check everything below a part once for each alternative. */
// oxfmt-ignore
const doubling: readonly (readonly [string, AnySchema, level: (below: unknown) => unknown, end: unknown])[] = [
  ...ZODS.flatMap(([version, z]) => ([
    [`objects of ${version}`, zod(z, (node) => z.union([z.object({ c: node, a: z.string() }), z.object({ c: node, b: z.string() }), z.object({ x: z.string() })])), inC, 'x'],
    [`valid objects of ${version}`, zod(z, (node) => z.union([z.object({ c: node, a: z.string() }), z.object({ c: node, b: z.string() }), z.object({})])), inC, {}],
    [`tuples of ${version}`, zod(z, (node) => z.union([z.tuple([node, z.string()]), z.tuple([node, z.number()]), z.number()])), pair, 'x'],
    [`records of ${version}`, zod(z, (node) => z.union([z.record(z.string().max(0), node), z.record(z.string().min(2), node)])), inA, 'x'],
    [`arrays of ${version}`, zod(z, (node) => z.union([z.array(node).min(3), z.array(node).min(2), z.number()])), (each: unknown) => [each], 'x'],
    [`a catchall of ${version}`, zod(z, (node) => z.union([z.object({ x: z.string() }).catchall(node), z.object({ y: z.string() }).catchall(node)])), inC, { q: 1 }],
    [`exactly one of ${version}`, zod(z, (node) => z.xor([z.object({ c: node, a: z.string() }), z.object({ c: node, b: z.string() })])), inC, {}],
    [`the whole schema of ${version}`, whole(z), inV, 'x'],
  ] as const)),
  ['objects of valibot', valibot((node) => v.union([v.object({ c: node, a: v.string() }), v.object({ c: node, b: v.string() })])), inC, 'x'],
  ['valid objects of valibot', valibot((node) => v.union([v.object({ c: node, a: v.string() }), v.object({ c: node, b: v.string() }), v.object({})])), inC, {}],
  ['tuples of valibot', valibot((node) => v.union([v.tuple([node, v.string()]), v.tuple([node, v.number()]), v.number()])), pair, 'x'],
  ['records of valibot', valibot((node) => v.union([v.record(v.pipe(v.string(), v.maxLength(0)), node), v.record(v.pipe(v.string(), v.minLength(2)), node)])), inA, 'x'],
  ['arrays of valibot', valibot((node) => v.union([v.pipe(v.array(node), v.minLength(3)), v.pipe(v.array(node), v.minLength(2)), v.number()])), (each: unknown) => [each], 'x'],
  ['variants of valibot', valibot((node) => v.variant('k', [v.object({ k: v.literal('a'), c: node, a: v.string() }), v.object({ k: v.literal('a'), c: node, b: v.string() })])), (c) => ({ k: 'a', c }), 'x'],
  ['the whole schema of valibot', wholeOfValibot(), inV, 'x'],
  ['the whole schema of arktype', scope({ root: { v: 'x|y|number' }, x: { c: 'root', a: 'string' }, y: { c: 'root', b: 'string' } }).export().root as unknown as AnySchema, inV, 'x'],
  ['objects of arktype', arktype({ node: 'x|y|z', x: { c: 'node', a: 'string' }, y: { c: 'node', b: 'string' }, z: { q: 'string' } }), inC, 'x'],
  ['tuples of arktype', arktype({ node: 'x|y|number', x: ['node', 'string'], y: ['node', 'number'] }), pair, 'x'],
]

describe('the work for a part does not double with every level', () => {
  test.each(doubling)('%s', async (_, schema, level, end) => {
    const checker = toChecker(schema, 'input')
    const small = nested(4, level, end)
    const result = naively(schema, small) as { readonly issues?: readonly { readonly message: string }[] }
    const checked = await checker.check(small)
    expect(checked.ok).toBe(result.issues === undefined)
    for (const depth of [12, 18, 60]) {
      const value = nested(depth, level, end)
      const ms = await processorMs(async () => {
        const found = await checker.check(value)
        expect(found).not.toHaveProperty('undecided')
        expect(found.ok).toBe(checked.ok)
      })
      // The first call makes a copy of the schema.
      expect(ms).toBeLessThan(100)
    }
  })

  test('a schema of valibot inside of which another is hidden is limited as it is checked', async () => {
    const node: v.GenericSchema = v.lazy(() =>
      v.fallback(
        v.union([v.object({ c: node, a: v.string() }), v.object({ c: node, b: v.string() })]),
        () => ({ c: 1, a: '' }) as never,
      ),
    )
    const { check } = toChecker(toStandardJsonSchema(v.object({ v: node })) as AnySchema, 'input')
    expect(await check(nested(3, inC, 1))).toEqual({ ok: true, value: { v: { c: 1, a: '' } } })
    expect(await check(nested(60, inC, 1))).toHaveProperty('undecided')
  })
})

/** A result without what is wrong with each alternative, which is told only once. */
function shown(result: unknown): unknown {
  const { value, issues } = result as { readonly value?: unknown; readonly issues?: readonly object[] }
  if (issues === undefined) return { value }
  return JSON.parse(JSON.stringify(issues.map((issue) => ({ ...issue, errors: 0, issues: 0 })))) as unknown
}

describe('a schema that remembers does what the schema does', () => {
  const value = { v: { c: { c: [{ c: 1, b: 2 }, { c: 'x' }, 3], b: ' b ' }, b: 'b' } }
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema])[] = [
    ...ZODS.map(([version, z]) => [version, zod(z, (node) => z.union([z.string().transform(Number).pipe(z.nan()), z.array(node).max(5), z.strictObject({ c: node, a: z.string() }), z.looseObject({ c: node.optional().default(4), b: z.string().trim().catch('caught'), d: z.number().prefault(5) }).refine(() => true)]))] as const),
    ['valibot', valibot((node) => v.union([v.pipe(v.string(), v.transform(Number), v.nan()), v.pipe(v.array(node), v.maxLength(5)), v.strictObject({ c: node, a: v.string() }), v.pipe(v.looseObject({ c: v.optional(node, 4), b: v.pipe(v.unknown(), v.transform(String)), d: v.optional(v.number(), 5) }), v.check(() => true), v.transform((each) => ({ ...(each as object), seen: true })) as never)]))],
  ]
  test.each(schemas)('%s', (_, schema) => {
    const { validate } = toRemembering(schema as StandardSchema, 'input')!['~standard']
    for (const each of [
      value,
      { v: { b: 1, c: [[{ b: 2 }, { c: 'x', b: 3 }, 'x'], []] } },
      { v: value.v.c.c[0] },
      { v: value.v.c.c },
      { v: [[[[1]]]] },
      {},
      1,
      { v: 'x' },
    ]) {
      expect(shown(validate(each))).toEqual(shown(naively(schema, each)))
    }
  })
})

describe.each(all)('%s', (_, schema, values) => {
  test('ordinary values pass', async () => {
    const checker = toChecker(schema, 'input')
    for (const each of values) {
      const ms = await processorMs(async () => {
        expect(await checker.check({ v: each })).toEqual(expect.objectContaining({ ok: true }))
      })
      expect(ms).toBeLessThan(400)
    }
    // The smallest are checked as the library does it.
    const value = { v: values[0] }
    expect(await checker.check(value)).toMatchObject({ value: valueOf(naively(schema, value)) })
  })

  test('wrong values have a problem with a path', async () => {
    const checker = toChecker(schema, 'input')
    for (const each of [...values.map(spoilt), undefined]) {
      const checked = await checker.check({ v: each })
      if (checked.ok) continue
      expect(checked).not.toHaveProperty('undecided')
      expect(checked.first?.path[0]).toBe('v')
    }
    expect(await checker.check({ v: undefined })).toMatchObject({ ok: false })
  })
})
