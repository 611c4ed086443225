import { inspect, type SchemaLimits } from './inspect.ts'
import { isObject } from './keywords.ts'
import { libraryCosts } from './library-patterns.ts'
import { resolveLocal } from './reference.ts'
import type { AnySchema, JsonSchema, StandardSchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'

/** The side of a schema: what callers send to us, or what we answer. */
export type Use = 'input' | 'output'

/** Whether a schema comes from a library. */
export function isStandard(schema: unknown): schema is StandardSchema<unknown, unknown> {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  const standard = (schema as Partial<StandardSchema>)['~standard']
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function'
}

/** The JSON Schema for lists: raw schemas unchanged, others as their library converts them. */
export function toShown(schema: AnySchema, use: Use, limits?: SchemaLimits): JsonSchema {
  const root = use === 'input' ? ({ root: 'object', limits } as const) : { limits }
  if (!isStandard(schema)) return inspect(schema, root)
  const json = withObjectType(convert(schema, use))
  inspect(json, { ...root, costOf: libraryCosts(schema) })
  rejectEmptied(schema, json)
  return json
}

function convert(schema: StandardSchema, use: Use): JsonSchema {
  const { jsonSchema, vendor } = schema['~standard']
  if (jsonSchema === undefined || typeof jsonSchema[use] !== 'function') {
    throw new SchemaError(
      `of ${vendor} cannot be converted to JSON Schema`,
      HOW_TO_SHOW.get(vendor) ?? HOW_TO_SHOW_ANY,
    )
  }
  let json: unknown
  try {
    json = jsonSchema[use]({ target: 'draft-2020-12' })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
    throw new SchemaError(
      `of ${vendor} has no JSON Schema for its ${use}: ${reason}`,
      HOW_TO_CONVERT[use],
      '#',
      { cause },
    )
  }
  if (!isObject(json))
    throw new SchemaError(`of ${vendor} was not converted to a JSON Schema object`, HOW_TO_SHOW_ANY)
  const { $schema: _, ...shown } = json
  return shown
}

const HOW_TO_SHOW: ReadonlyMap<string, string> = new Map([
  ['valibot', 'Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema.'],
  [
    'zod',
    `Use zod 4.2 or later (npm install zod@latest), and write import { z } from 'zod': zod 3 ('zod/v3') and 'zod/mini' cannot convert their schemas.`,
  ],
  ['arktype', 'Update arktype to 2.1.28 or later.'],
])
const HOW_TO_SHOW_ANY =
  'Use a library that implements Standard JSON Schema (zod 4.2, arktype, valibot through @valibot/to-json-schema), or pass a raw JSON Schema.'
const HOW_TO_CONVERT = {
  input: 'Accept only JSON values, for example an ISO date string instead of a Date.',
  output:
    'Remove transforms from the output schema, or pipe them into a schema of their result; use only JSON values.',
} as const

/** Adds `type: "object"` to a union of objects: libraries omit it, but lists require it. */
function withObjectType(json: JsonSchema): JsonSchema {
  return json.type === undefined && isObjectOnly(json, json, 0) ? { type: 'object', ...json } : json
}

function isObjectOnly(root: JsonSchema, schema: unknown, depth: number): boolean {
  if (!isObject(schema) || depth > 8) return false
  if (schema['type'] === 'object') return true
  if (typeof schema['$ref'] === 'string')
    return isObjectOnly(root, resolveLocal(root, schema['$ref']), depth + 1)
  const some = schema['allOf']
  if (Array.isArray(some) && some.some((branch) => isObjectOnly(root, branch, depth + 1))) return true
  const every = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(every) && every.every((branch) => isObjectOnly(root, branch, depth + 1))
}

const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  'id',
  'readOnly',
])

/** Rejects a conversion that lost the schema, as happens with two copies of a library: the result accepts more than the schema. */
function rejectEmptied(schema: StandardSchema, json: JsonSchema): void {
  const said = Object.keys(json).filter((keyword) => !ANNOTATIONS.has(keyword))
  const vacuous = said.every((keyword) => keyword === 'type' || isEmptyKeyword(json, keyword))
  if (!vacuous) return
  const probes = json.type === 'object' ? [{}] : json.type === undefined ? [{}, [], '', 0, null, true] : []
  if (probes.every((probe) => accepts(schema, probe))) return
  throw new SchemaError(
    `of ${schema['~standard'].vendor} became an empty JSON Schema, though it is not empty`,
    'Check that only one copy of the library is installed, and use only types that JSON Schema can express.',
  )
}

function isEmptyKeyword(json: JsonSchema, keyword: string): boolean {
  const value = json[keyword]
  if (keyword === 'additionalProperties' || keyword === 'required') return true
  return keyword === 'properties' && isObject(value) && Object.keys(value).length === 0
}

/** Whether the schema accepts a value; asynchronous schemas count as accepting. */
function accepts(schema: StandardSchema, probe: unknown): boolean {
  try {
    const result = schema['~standard'].validate(probe)
    if (!('then' in result)) return result.issues === undefined
    result.then(undefined, () => {})
    return true
  } catch {
    return true
  }
}
