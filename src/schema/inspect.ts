import { entriesOf, escapeToken, isObject, KEYWORDS, subschemasOf, TYPES, type Shape } from './keywords.ts'
import { readDialect, type Dialect } from './dialect.ts'
import { shorten } from './issue.ts'
import { provePattern, type PatternCost } from './pattern.ts'
import { toResolver, type Resolve } from './reference.ts'
import type { JsonSchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'

/** How large a schema may be. The root counts as one level and as one subschema. */
export interface SchemaLimits {
  readonly schemaDepth: number
  readonly subschemas: number
  /** The most characters of a text that a library parses or converts. */
  readonly parsedText?: number
}

const USUAL: SchemaLimits = { schemaDepth: 64, subschemas: 2000 }

/** Further limits on one schema. */
const SCHEMA_LIMITS = {
  dataDepth: 64,
  dataNodes: 100_000,
  steps: 10_000,
} as const

export interface InspectOptions {
  /** The root must say `type: "object"`. */
  readonly root?: 'object'
  /** What a pattern costs the library that matches it. Undefined if we match the patterns. */
  readonly costOf?: ((source: string) => PatternCost | undefined) | undefined
  readonly limits?: SchemaLimits | undefined
}

/** Returns a JSON Schema that is well-formed, bounded and safe to check against; otherwise throws a SchemaError. */
export function inspect(schema: unknown, options: InspectOptions = {}): JsonSchema {
  if (!isObject(schema)) {
    const call = typeof schema === 'function' ? ' Call it, if it creates one: z.object({ … }).' : ''
    throw new SchemaError(
      `is ${nameOf(schema)}, not an object`,
      `Pass a JSON Schema object or a schema from a library.${call}`,
    )
  }
  if (isOldZod(schema)) throw new SchemaError('comes from zod 3', UPDATE_ZOD)
  const members = Object.values(schema)
  if (members.some((value) => value instanceof Object && '~standard' in value))
    throw new SchemaError('is a plain object of schemas', 'Wrap it in an object schema: z.object({ … }).')
  if (members.some(isOldZod))
    throw new SchemaError('is a plain object of schemas of zod 3', `Write z.object({ … }). ${UPDATE_ZOD}`)
  const walk: Walk = {
    root: schema,
    resolve: toResolver(schema),
    costOf: options.costOf,
    dialect: readDialect(schema),
    limits: options.limits ?? USUAL,
    path: [],
    seen: new Set(),
    refs: [],
    count: 0,
    data: 0,
  }
  visit(walk, schema, '#')
  for (const [pointer, reference] of walk.refs) checkReference(walk, reference, pointer)
  const weights = new Map<unknown, number>()
  for (const sub of walk.seen) weigh(walk, sub, weights)
  if (options.root === 'object' && schema['type'] !== 'object') {
    throw new SchemaError(
      'does not describe an object',
      'Add type: "object" at its root, or wrap it in an object.',
    )
  }
  return schema
}

const UPDATE_ZOD = 'Pierhead needs zod 4.2 or later: npm install zod@latest.'

/** Whether a schema comes from zod before 3.24, which does not implement Standard Schema. */
function isOldZod(value: unknown): boolean {
  return isObject(value) && '_def' in value && typeof value['safeParse'] === 'function'
}

interface Walk {
  readonly root: Readonly<Record<string, unknown>>
  readonly resolve: Resolve
  readonly costOf: InspectOptions['costOf']
  readonly dialect: Dialect
  readonly limits: SchemaLimits
  /** The objects between the root and here. */
  readonly path: object[]
  readonly seen: Set<object>
  readonly refs: [pointer: string, reference: string][]
  count: number
  data: number
}

function visit(walk: Walk, schema: unknown, pointer: string): void {
  walk.count++
  if (walk.count > walk.limits.subschemas) {
    throw new SchemaError(
      `has more than ${walk.limits.subschemas} subschemas`,
      'Split it, or describe less of the value.',
    )
  }
  if (typeof schema === 'boolean') return
  if (!isObject(schema)) {
    throw new SchemaError(`is ${nameOf(schema)}`, 'A schema is an object, true or false.', pointer)
  }
  enter(walk, schema, pointer, walk.limits.schemaDepth)
  walk.seen.add(schema)
  for (const [keyword, value] of entriesOf(schema)) {
    if (value !== undefined) visitKeyword(walk, schema, keyword, `${pointer}/${escapeToken(keyword)}`)
  }
  walk.path.pop()
}

function enter(walk: Walk, place: object, pointer: string, depth: number): void {
  if (walk.path.includes(place)) {
    throw new SchemaError(
      'contains itself',
      'Refer to it with $ref instead of nesting the same object.',
      pointer,
    )
  }
  if (walk.path.push(place) > depth) {
    throw new SchemaError(
      `is nested deeper than ${depth} levels`,
      'Flatten it, or move parts to $defs.',
      shorten(pointer, 200),
    )
  }
}

function visitKeyword(
  walk: Walk,
  schema: Readonly<Record<string, unknown>>,
  keyword: string,
  pointer: string,
): void {
  const value = schema[keyword]
  if (keyword === 'type') return checkType(value, pointer)
  if (keyword === '$recursiveRef' && walk.dialect === 2019)
    throw new SchemaError(
      'uses $recursiveRef',
      'Write $ref: "#" instead, which means the same here.',
      pointer,
    )
  const row = KEYWORDS.get(keyword)
  if (row === undefined) return visitData(walk, value, pointer)
  checkShape(walk, keyword, value, pointer)
  if (keyword === 'enum') visitData(walk, value, pointer)
  for (const [path, sub] of subschemasOf(row.shape, value)) visit(walk, sub, pointer + path)
  if (keyword === '$ref' || keyword === '$dynamicRef') walk.refs.push([pointer, value as string])
  if (keyword === '$id' && schema !== walk.root) {
    throw new SchemaError('has an $id below its root', 'Remove it and refer with #/$defs/….', pointer)
  }
  if (keyword === 'pattern') checkPattern(walk, value as string, pointer, 'value')
  if (keyword === 'patternProperties') {
    for (const [name] of entriesOf(value)) checkPattern(walk, name, `${pointer}/${escapeToken(name)}`, 'key')
  }
}

function checkType(value: unknown, pointer: string): void {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  const wrong = names.find((name) => typeof name !== 'string' || !TYPES.includes(name))
  if (names.length > 0 && names.length <= TYPES.length && wrong === undefined) return
  const problem =
    names.length === 0
      ? 'is an empty list of types'
      : wrong === undefined
        ? 'names a type twice'
        : `is the unknown type ${nameOf(wrong)}`
  throw new SchemaError(problem, `Use ${TYPES.join(', ')}, or a list of them.`, pointer)
}

// oxfmt-ignore
const SHAPES: { readonly [Kind in Shape]: readonly [test: (value: unknown) => boolean, wanted: string] } = {
  schema:   [() => true, 'a schema'],
  schemas:  [(value) => Array.isArray(value) && value.length > 0, 'a list of at least one schema'],
  named:    [isObject, 'an object of schemas'],
  either:   [(value) => isObject(value) && Object.values(value).every((item) => !Array.isArray(item) || isStrings(item)), 'an object of schemas or lists of names'],
  names:    [(value) => isObject(value) && Object.values(value).every(isStrings), 'an object of lists of names'],
  count:    [(value) => Number.isInteger(value) && (value as number) >= 0, 'an integer of at least 0'],
  number:   [Number.isFinite, 'a number'],
  positive: [(value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'],
  string:   [(value) => typeof value === 'string', 'a string'],
  strings:  [isStrings, 'a list of strings'],
  boolean:  [(value) => typeof value === 'boolean', 'true or false'],
  list:     [(value) => Array.isArray(value) && value.length > 0, 'a list of at least one value'],
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function checkShape(walk: Walk, keyword: string, value: unknown, pointer: string): void {
  const shape = KEYWORDS.get(keyword)!.shape
  const [test, wanted] = SHAPES[shape]
  if (shape === 'schema' && Array.isArray(value)) {
    // Before 2020-12, a list of schemas was written like this.
    if (keyword === 'items' && value.length > 0 && walk.dialect < 2020) return
    const fix =
      keyword === 'items' ? 'Use prefixItems for a list of schemas.' : `${keyword} must be ${wanted}.`
    throw new SchemaError(`has a malformed ${keyword}: ${nameOf(value)}`, fix, pointer)
  }
  if (!test(value)) {
    throw new SchemaError(
      `has a malformed ${keyword}: ${nameOf(value)}`,
      `${keyword} must be ${wanted}.`,
      pointer,
    )
  }
}

function visitData(walk: Walk, value: unknown, pointer: string): void {
  if (++walk.data > SCHEMA_LIMITS.dataNodes) {
    throw new SchemaError(
      `contains more than ${SCHEMA_LIMITS.dataNodes} values`,
      'Shorten its lists of values.',
      pointer,
    )
  }
  if (typeof value === 'object' && value !== null) {
    enter(walk, value, pointer, walk.limits.schemaDepth + SCHEMA_LIMITS.dataDepth)
    for (const [name, item] of Object.entries(value)) visitData(walk, item, `${pointer}/${escapeToken(name)}`)
    walk.path.pop()
    return
  }
  const fits =
    typeof value === 'number'
      ? Number.isFinite(value)
      : !['function', 'symbol', 'bigint'].includes(typeof value)
  if (!fits)
    throw new SchemaError(`contains ${nameOf(value)}`, 'Use only JSON values.', shorten(pointer, 200))
}

/** The error of an unsafe pattern; `isLibrary` if a library matches it. */
export function unsafePattern(reason: string, isLibrary: boolean, pointer?: string): SchemaError {
  const fix = `Write a pattern that can match in only one way: anchor it with ^ and keep repeated parts from overlapping${isLibrary ? ', or match the text in a function of your own' : ''}.`
  return new SchemaError(`has an unsafe pattern${reason}`, fix, pointer)
}

function checkPattern({ costOf }: Walk, source: string, pointer: string, use: 'value' | 'key'): void {
  const verdict = costOf === undefined ? provePattern(source) : costOf(source)
  if (verdict?.cost === 'unsafe') throw unsafePattern(`: ${verdict.reason}`, costOf !== undefined, pointer)
  if (costOf !== undefined || verdict === undefined) return
  if (use === 'key' && (verdict.cost !== 'linear' || !verdict.unicode)) {
    const reason = verdict.unicode
      ? 'its time grows faster than the length of a key'
      : 'it is not a Unicode regular expression'
    throw unsafePattern(` for keys: ${reason}`, false, pointer)
  }
}

function checkReference(walk: Walk, reference: string, pointer: string): void {
  if (!reference.startsWith('#')) {
    throw new SchemaError(
      `refers to ${shorten(reference)}, which is outside the schema`,
      'Copy the target to $defs and refer to #/$defs/….',
      pointer,
    )
  }
  const target = walk.resolve(reference)
  if (typeof target === 'boolean' || (isObject(target) && walk.seen.has(target))) return
  const problem = target === undefined ? 'which does not exist' : 'which is not a schema'
  throw new SchemaError(
    `refers to ${shorten(reference)}, ${problem}`,
    'Put the target in $defs and refer to #/$defs/….',
    pointer,
  )
}

/** The number of schemas that apply to one place of a value, following references; endless or excessive ones are rejected. */
function weigh(walk: Walk, schema: unknown, weights: Map<unknown, number>): number {
  if (!isObject(schema)) return 1
  const known = weights.get(schema)
  if (known !== undefined && known > 0) return known
  if (known === 0)
    throw new SchemaError(
      'refers to itself without end',
      'Make the recursion go through properties or items.',
    )
  weights.set(schema, 0)
  let sum = 1
  for (const [keyword, value] of entriesOf(schema)) {
    const row = KEYWORDS.get(keyword)
    if (value === undefined || row === undefined) continue
    if (row.inPlace) for (const [, sub] of subschemasOf(row.shape, value)) sum += weigh(walk, sub, weights)
    if (keyword === '$ref' || keyword === '$dynamicRef')
      sum += weigh(walk, walk.resolve(value as string), weights)
  }
  if (sum > SCHEMA_LIMITS.steps) {
    throw new SchemaError(
      `expands to more than ${SCHEMA_LIMITS.steps} checks of one value`,
      'Combine fewer references.',
    )
  }
  weights.set(schema, sum)
  return sum
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : show(value)
}

function show(value: unknown): string {
  return shorten(typeof value === 'string' ? JSON.stringify(value) : String(value))
}
