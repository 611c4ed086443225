import { isObject } from '../../protocol/jsonrpc.ts'
import type { SchemaObject, ObjectSchema } from '../../protocol/spec/2026-07-28.ts'

/**
 * The schema of structured content after everything but objects was wrapped as `{ result }`.
 * A schema that allows only objects keeps its form and gets `type: "object"` at its root.
 */
export function toObjectSchema(schema: SchemaObject): ObjectSchema {
  if (isObjectSchema(schema)) return withSchemaObjects(schema)
  const { objects, others } = kindsOf(schema, schema, 0)
  if (objects && !others) return withSchemaObjects({ ...schema, type: 'object' })
  const { $schema, ...rest } = schema
  const dialect = $schema === undefined ? {} : { $schema }
  if (!objects) {
    const result = rebase(rest, '/properties/result')
    return { ...dialect, type: 'object', properties: { result }, required: ['result'] }
  }
  const value = { $ref: '#/$defs/value' }
  const wrapped = { properties: { result: value }, required: ['result'] }
  return {
    ...dialect,
    type: 'object',
    anyOf: [wrapped, value],
    $defs: { value: rebase(rest, '/$defs/value') },
  }
}

/** Replaces the property schemas `true` and `false` by objects, as 2025-11-25 requires. */
export function withSchemaObjects<Schema extends SchemaObject>(schema: Schema): Schema {
  const properties = schema['properties']
  if (!isObject(properties) || !Object.values(properties).some((value) => typeof value === 'boolean'))
    return schema
  const entries = Object.entries(properties).map(([name, value]) => [name, toSchemaObject(value)] as const)
  return { ...schema, properties: Object.fromEntries(entries) }
}

function toSchemaObject(schema: unknown): unknown {
  if (typeof schema !== 'boolean') return schema
  return schema ? {} : { not: {} }
}

function isObjectSchema(schema: SchemaObject): schema is ObjectSchema {
  return schema['type'] === 'object'
}

/** Whether a schema may allow objects, and whether it may allow anything else. */
interface Kinds {
  readonly objects: boolean
  readonly others: boolean
}

const ANY: Kinds = { objects: true, others: true }
const NONE: Kinds = { objects: false, others: false }

function kindsOf(schema: unknown, root: SchemaObject, depth: number): Kinds {
  if (schema === false) return NONE
  if (!isObject(schema) || depth > 32) return ANY
  const { type, $ref, anyOf, oneOf, allOf } = schema
  let kinds = ANY
  if (type !== undefined) kinds = eitherOf([type].flat().map((name) => kindOf(name === 'object')))
  if ('const' in schema) kinds = bothOf(kinds, kindOf(isObject(schema['const'])))
  if (Array.isArray(schema['enum'])) {
    kinds = bothOf(kinds, eitherOf(schema['enum'].map((value) => kindOf(isObject(value)))))
  }
  for (const branches of [anyOf, oneOf]) {
    if (Array.isArray(branches)) {
      kinds = bothOf(kinds, eitherOf(branches.map((branch) => kindsOf(branch, root, depth + 1))))
    }
  }
  if (Array.isArray(allOf)) for (const part of allOf) kinds = bothOf(kinds, kindsOf(part, root, depth + 1))
  if (typeof $ref === 'string') kinds = bothOf(kinds, kindsOf(resolve($ref, root), root, depth + 1))
  return kinds
}

function kindOf(isAboutObjects: boolean): Kinds {
  return { objects: isAboutObjects, others: !isAboutObjects }
}

function eitherOf(all: readonly Kinds[]): Kinds {
  return { objects: all.some((kinds) => kinds.objects), others: all.some((kinds) => kinds.others) }
}

function bothOf(a: Kinds, b: Kinds): Kinds {
  return { objects: a.objects && b.objects, others: a.others && b.others }
}

/** The schema that a reference points to. One to the root narrows nothing, since it is the root that is looked at. */
function resolve(reference: string, root: SchemaObject): unknown {
  if (!reference.startsWith('#/')) return true
  let found: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const name = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return true
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Keywords whose values are data and contain no references. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef'])
/** Keywords that map names chosen by the author to schemas. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Moves a schema to another place in its document and adjusts its local pointers. */
function rebase(schema: unknown, place: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => rebase(item, place))
  if (!isObject(schema) || isOwnDocument(schema)) return schema
  return mapMembers(schema, (value, keyword) => {
    if (DATA.has(keyword)) return value
    if (REFERENCES.has(keyword)) return typeof value === 'string' ? moved(value, place) : value
    if (MAPS.has(keyword) && isObject(value)) return mapMembers(value, (member) => rebase(member, place))
    return rebase(value, place)
  })
}

function moved(reference: string, place: string): string {
  return reference === '#' || reference.startsWith('#/') ? `#${place}${reference.slice(1)}` : reference
}

/** Pointers below an `$id` are relative to it, so they need no adjustment. */
function isOwnDocument(schema: Readonly<Record<string, unknown>>): boolean {
  const { $id } = schema
  return typeof $id === 'string' && !$id.startsWith('#')
}

function mapMembers(
  value: Readonly<Record<string, unknown>>,
  step: (member: unknown, name: string) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, step(member, name)]))
}
