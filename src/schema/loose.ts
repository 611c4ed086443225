import { isObject } from './keywords.ts'
import type { JsonSchema } from './schema.ts'

/** Whether a value has many parts. Stops counting when it does. */
export function isLarge(value: unknown): boolean {
  return countIn(value, LARGE) < 0
}

/** A library checks this many parts in a few milliseconds, whatever is wrong with them. */
const LARGE = 10_000

/** What is left of a number after subtracting the parts of a value; negative if there are more. */
function countIn(value: unknown, left: number): number {
  if (typeof value !== 'object' || value === null) return left - 1
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let rest = left - parts.length
  for (let at = 0; at < parts.length && rest >= 0; at++) {
    const part = parts[at]
    if (typeof part === 'object' && part !== null) rest = countIn(part, rest)
  }
  return rest
}

/** The keywords that keep their meaning when what is below them gets looser, and those with nothing below. */
const KEPT: ReadonlySet<string> = new Set(
  '$schema $ref type enum const required minItems maxItems minProperties maxProperties minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum'.split(
    ' ',
  ),
)
const BELOW: ReadonlySet<string> = new Set(['items', 'additionalProperties'])
const LISTS: ReadonlySet<string> = new Set(['prefixItems', 'anyOf', 'allOf'])
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

/**
 * A schema that accepts at least every value that the given one accepts, and has no patterns: those of a library may be too
 * slow to prove, and the library matches them itself.
 */
export function toLoose(schema: JsonSchema): JsonSchema {
  return loosened(schema) as JsonSchema
}

function loosened(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const hasPatterns = 'patternProperties' in schema
  const loose: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (KEPT.has(name)) loose[name] = value
    else if (name === 'additionalProperties' && hasPatterns) continue
    else if (BELOW.has(name)) loose[name] = Array.isArray(value) ? value.map(loosened) : loosened(value)
    else if (LISTS.has(name)) loose[name] = (value as readonly unknown[]).map(loosened)
    else if (MAPS.has(name)) loose[name] = mapped(value as Readonly<Record<string, unknown>>)
    // Branches that a pattern tells apart may both match now.
    else if (name === 'oneOf' && !('anyOf' in schema))
      loose['anyOf'] = (value as readonly unknown[]).map(loosened)
  }
  return loose
}

function mapped(schemas: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, loosened(schema)]))
}
