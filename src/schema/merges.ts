import { isObject } from './keywords.ts'
import type { JsonSchema, StandardSchema } from './schema.ts'
import type { StepRules } from './step-rules.ts'
import { toSubschemas, type Schema } from './subschemas.ts'

/** An object with so few members is merged about as fast as it is checked. */
const FEW = 256

/** Comparing so many pairs of names takes a fraction of a second. */
const MOST_PAIRS = 2 ** 28

/** Copying a member of a large object takes about as long as comparing so many pairs of names. */
const PAIRS_PER_COPY = 2048

/** How a library merges the results of both sides of an intersection, and copies objects for the alternatives of a union. */
export interface Merges {
  /** How many times it may merge one object: once for each intersection that the object passes. */
  readonly count: number
  /** Whether it compares each name of the object with every other, as zod does. */
  readonly comparesAll: boolean
  /** How many times it may copy one object in vain: once for each alternative before the last that checks all its members. */
  readonly copies: number
}

/** How the library of a schema merges objects. The JSON Schema shows intersections, but not those of zod after a transform. */
export function mergesOf(schema: StandardSchema, json: JsonSchema): Merges {
  const { vendor } = schema['~standard']
  const count = Math.max(
    countInJson(json, ({ allOf }) => lengthOf(allOf) - 1),
    countInZod(schema),
  )
  // Others check the alternatives before they copy anything.
  const isCopied = vendor === 'zod' || vendor === 'valibot'
  const copies = isCopied ? countInJson(json, ({ anyOf }) => lengthOf(anyOf, checksAll) - 1) : 0
  return { count, comparesAll: vendor === 'zod', copies }
}

function lengthOf(list: unknown, isCounted: (item: unknown) => boolean = () => true): number {
  return Array.isArray(list) ? list.filter(isCounted).length : 0
}

/** Whether a schema checks every member of an object, whatever its name. */
function checksAll(schema: unknown): boolean {
  return isObject(schema) && isObject(schema['additionalProperties'])
}

/** The most that `ownOf` counts, in all schemas for the same object. */
function countInJson(root: JsonSchema, ownOf: (schema: Schema) => number): number {
  const subschemasOf = toSubschemas(root)
  return counting((schema, countIn) => {
    if (!isObject(schema)) return 0
    const { here, named, members } = subschemasOf(schema)
    const below = Math.max(0, ...[...named.values(), ...members].map(countIn))
    return Math.max(0, ownOf(schema)) + sum(here.map(countIn)) + below
  })(root)
}

/** The kinds of schemas of zod whose parts all check the same value. */
const SAME_VALUE = new Set(['intersection', 'union', 'pipe'])

function countInZod(root: unknown): number {
  return counting((schema, countIn) => {
    if (!isZod(schema)) return 0
    const { def, innerType } = schema._zod
    const counts = [innerType, ...Object.values(def).flatMap(partsOf)].map(countIn)
    if (!SAME_VALUE.has(def.type)) return Math.max(...counts)
    return sum(counts) + (def.type === 'intersection' ? 1 : 0)
  })(root)
}

/** Every schema and check of zod in a schema, itself included. */
export function zodPartsOf(root: unknown): readonly ZodSchema[] {
  const found = new Set<ZodSchema>()
  const rest = [root]
  while (rest.length > 0) {
    const each = rest.pop()
    if (!isZod(each) || found.has(each)) continue
    found.add(each)
    const { def, innerType } = each._zod
    rest.push(innerType, ...Object.values(def).flatMap(partsOf))
  }
  return [...found]
}

/** The schemas in a member of a definition of zod: one, a list of them, or a map. */
function partsOf(member: unknown): readonly unknown[] {
  if (typeof member !== 'object' || member === null) return []
  return isZod(member) ? [member] : Object.values(member)
}

/** The part of a schema of zod that says what it is made of. */
export interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string
      readonly inclusive?: unknown
      readonly discriminator?: unknown
      readonly pattern?: unknown
      readonly format?: unknown
      readonly catchValue?: (context?: undefined) => unknown
      readonly defaultValue?: unknown
    }
    readonly innerType?: unknown
  }
}

export function isZod(schema: unknown): schema is ZodSchema {
  const { _zod: inner } = (schema ?? {}) as { readonly _zod?: { readonly def?: unknown } | undefined }
  return isObject(inner?.def)
}

/** What the JSON Schema of a library does not show about the steps of its checks. */
export function stepRulesOf(schema: StandardSchema): StepRules {
  const { vendor } = schema['~standard']
  // A default of arktype is never shown, and makes a transform of the schema.
  if (vendor === 'arktype')
    return {
      chosen: ['oneOf', 'anyOf'],
      hidesDefaults: (schema as { readonly includesTransform?: unknown }).includesTransform === true,
    }
  // Of a schema of zod that somebody has wrapped, nothing is known.
  if (vendor === 'zod' && !isZod(schema)) return { hidesDefaults: true }
  let hasXor = false
  let hidesDefaults = false
  /** Counts transforms. Zod does not show the default of a schema with any. */
  const transformsIn = counting((each, countIn): number => {
    if (!isZod(each)) return 0
    const { def, innerType } = each._zod
    const below = sum([innerType, ...Object.values(def).flatMap(partsOf)].map(countIn))
    if (def.type === 'union' && def.inclusive === false && def.discriminator === undefined) hasXor = true
    if ((def.type === 'default' || def.type === 'prefault') && below > 0) hidesDefaults = true
    return below + (def.type === 'transform' ? 1 : 0)
  })
  transformsIn(schema)
  return { chosen: hasXor ? [] : ['oneOf'], hidesDefaults }
}

type Count = (schema: unknown) => number

/** Counts in each schema once. One that contains itself counts as 0 inside. */
function counting(count: (schema: unknown, countIn: Count) => number): Count {
  const known = new Map<unknown, number>()
  return countIn

  function countIn(schema: unknown): number {
    if (!known.has(schema)) {
      known.set(schema, 0)
      known.set(schema, count(schema, countIn))
    }
    return known.get(schema)!
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, each) => all + each, 0)
}

/** Whether a library would take too long to merge or copy the objects in a value. */
export function isSlowToMerge(value: unknown, { count, comparesAll, copies }: Merges): boolean {
  if (count === 0 && copies === 0) return false
  let left = MOST_PAIRS
  return exceeds(value)

  function exceeds(part: unknown): boolean {
    if (typeof part !== 'object' || part === null) return false
    if (Array.isArray(part)) return part.some(exceeds)
    const names = Object.keys(part)
    if (names.length > FEW) {
      const pairs = count * (comparesAll ? names.length : PAIRS_PER_COPY)
      left -= names.length * (pairs + copies * PAIRS_PER_COPY)
    }
    return left < 0 || names.some((name) => exceeds((part as Readonly<Record<string, unknown>>)[name]))
  }
}
