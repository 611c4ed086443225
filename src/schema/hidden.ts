import { weigh } from '../base/weight.ts'
import { isObject } from './keywords.ts'
import { zodPartsOf, type ZodSchema } from './merges.ts'
import { partsIn } from './pieces.ts'
import type { JsonSchema, StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import { CATCH, DEFAULT, type Filled } from './step-rules.ts'

/** What the JSON Schema of a library does not show. */
export interface Hidden {
  /** The JSON Schema that costs are estimated from: it has further keywords where the library has values that it adds. */
  readonly json: JsonSchema
  /** The regular expressions of all parts, also behind transforms. */
  readonly patterns: readonly RegExp[]
  /** The defaults of arktype by the names of members. */
  readonly defaults?: ReadonlyMap<string, Filled>
}

/** Finds what the JSON Schema of a schema does not show, as far as the library lets us see its parts. */
export function hiddenOf(schema: StandardSchema, use: Use, json: JsonSchema): Hidden {
  const { vendor } = schema['~standard']
  if (vendor === 'arktype') {
    const parts = arktypePartsOf(schema)
    return {
      json,
      patterns: parts.flatMap(({ kind, rule, flags }) =>
        kind === 'pattern' ? toExpression(rule, flags) : [],
      ),
      defaults: defaultsIn(parts),
    }
  }
  const zod = zodPartsOf(schema)
  const found: unknown[] = []
  const addsNothing = zod.length > 0 && !zod.some(({ _zod }) => ADDING.has(_zod.def.type))
  const marked = addsNothing ? json : convertMarked(schema, use, found)
  const valibot = [...valibotPartsIn(found)]
  return {
    json: marked ?? json,
    patterns: [
      ...zod.flatMap(zodPatternsOf),
      ...valibot.flatMap(({ requirement }) => (requirement instanceof RegExp ? requirement : [])),
    ],
  }
}

/** The parts of zod that add values. */
const ADDING: ReadonlySet<unknown> = new Set(['catch', 'default', 'prefault'])

/** The formats that zod checks without the pattern that it has for them. */
export const UNMATCHED: ReadonlySet<unknown> = new Set([
  'ends_with',
  'starts_with',
  'includes',
  'ipv6',
  'cidrv6',
  'base64',
])

/** The regular expressions of a part of zod, such as the pattern of a text, or of the host of a URL. */
function zodPatternsOf({ _zod }: ZodSchema): readonly RegExp[] {
  const { def } = _zod
  return UNMATCHED.has(def.format) ? [] : Object.values(def).filter((each) => each instanceof RegExp)
}

/** The steps for a problem that a library finds and then replaces with a value: zod describes it first. */
const PROBLEM_STEPS = { zod: 32, valibot: 2 } as const

/** Converts a schema with marks, and collects the schemas of valibot. Undefined if the library cannot. */
function convertMarked(schema: StandardSchema, use: Use, found: unknown[]): JsonSchema | undefined {
  const libraryOptions = {
    /** For zod. */
    override({
      zodSchema,
      jsonSchema,
    }: {
      readonly zodSchema: ZodSchema
      readonly jsonSchema: Marked
    }): void {
      const { def } = zodSchema._zod
      if (def.type === 'catch' && def.catchValue !== undefined)
        jsonSchema[CATCH] = { steps: PROBLEM_STEPS.zod, bytes: freshBytes(def.catchValue) }
      if (def.type === 'default' || def.type === 'prefault')
        jsonSchema[DEFAULT] = filledBy(() => def.defaultValue)
    },
    /** For valibot, which calls it neither for a pipe nor for what comes after a transform. */
    overrideSchema({
      valibotSchema,
      jsonSchema,
    }: {
      readonly valibotSchema: ValibotPart
      readonly jsonSchema: Marked
    }): void {
      found.push(valibotSchema)
      const { entries, item } = valibotSchema
      markFallback(valibotSchema, jsonSchema)
      markFallback(item, jsonSchema.items)
      for (const [name, each] of Object.entries(entries ?? {}))
        markFallback(each, jsonSchema.properties?.[name])
    },
  }
  const options = { target: 'draft-2020-12', libraryOptions } as const
  try {
    const json: unknown = schema['~standard'].jsonSchema?.[use](options)
    return isObject(json) ? (json as JsonSchema) : undefined
  } catch {
    return undefined
  }
}

/** A JSON Schema that is being converted. */
interface Marked {
  [CATCH]?: Filled
  [DEFAULT]?: Filled
  readonly properties?: Readonly<Record<string, Marked>>
  readonly items?: Marked
}

/** A schema or an action of valibot. */
interface ValibotPart {
  readonly kind?: unknown
  readonly type?: unknown
  readonly requirement?: unknown
  readonly fallback?: unknown
  readonly item?: ValibotPart
  readonly entries?: Readonly<Record<string, ValibotPart>>
}

function markFallback(schema: ValibotPart | undefined, json: Marked | undefined): void {
  if (!isObject(json) || schema?.fallback === undefined) return
  const { fallback } = schema
  const bytes = typeof fallback === 'function' ? freshBytes(fallback as () => unknown) : 0
  ;(json as Marked)[CATCH] = { steps: PROBLEM_STEPS.valibot, bytes }
}

/** Every schema and action in schemas of valibot, also those after a transform. */
function valibotPartsIn(found: readonly unknown[]): ReadonlySet<ValibotPart> {
  const parts = new Set<ValibotPart>()
  const rest = [...found]
  while (rest.length > 0) {
    const each = rest.pop()
    if (Array.isArray(each)) rest.push(...(each as unknown[]))
    if (!isObject(each) || parts.has(each)) continue
    // Entries are an object of schemas.
    parts.add(each)
    for (const member of Object.values(each))
      if (Array.isArray(member) || (isObject(member) && Object.getPrototypeOf(member) === Object.prototype))
        rest.push(member)
  }
  return parts
}

/** A node of arktype. */
interface ArktypePart {
  readonly kind: string
  readonly rule?: unknown
  readonly flags?: unknown
  readonly key?: unknown
  readonly inner?: { readonly default?: unknown }
}

function arktypePartsOf(schema: StandardSchema): readonly ArktypePart[] {
  const { references } = (schema as { readonly internal?: { readonly references?: unknown } }).internal ?? {}
  return Array.isArray(references) ? (references as readonly ArktypePart[]) : []
}

function toExpression(rule: unknown, flags: unknown): readonly RegExp[] {
  return typeof rule === 'string' ? [new RegExp(rule, typeof flags === 'string' ? flags : '')] : []
}

/** The defaults of arktype by the names of members: it shows none of them. Of several with the same name, the largest. */
function defaultsIn(parts: readonly ArktypePart[]): ReadonlyMap<string, Filled> {
  const defaults = new Map<string, Filled>()
  for (const { key, inner } of parts) {
    if (typeof key !== 'string' || inner?.default === undefined) continue
    const { default: value } = inner
    const filled = filledBy(typeof value === 'function' ? (value as () => unknown) : () => value)
    if (filled.bytes > (defaults.get(key)?.bytes ?? 0)) defaults.set(key, filled)
  }
  return defaults
}

/** What a value takes that a library adds without checking it; an empty list, if it cannot be made without a request. */
function filledBy(make: () => unknown): Filled {
  try {
    const value = make()
    return { steps: partsIn(value), bytes: weigh(value) }
  } catch {
    return { steps: 1, bytes: 64 }
  }
}

/** The bytes of what a function returns; 0 if that is always the same. */
function freshBytes(make: (context?: undefined) => unknown): number {
  try {
    const value = make()
    return typeof value === 'object' && value !== null && value !== make() ? weigh(value) : 0
  } catch {
    return 64
  }
}
