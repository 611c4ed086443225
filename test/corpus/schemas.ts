import { existsSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Checker } from './checker.ts'

type Definitions = Readonly<Record<string, JsonObject>>
type Schema = JsonObject & { readonly $defs?: Definitions; readonly definitions?: Definitions }

/** The official schema of a revision, in the form that the checks and the recording need. */
export interface Schemas extends Checker {
  /** Whether a value is valid and has no member that the schema does not list. */
  isExact(name: string, value: unknown): boolean
}

/** Reads the official schema of a revision; a folder that lacks it is an error. */
export function readSchemas(folder: string, revision: Revision): Schemas {
  const file = `${folder}/${revision}/schema.json`
  if (!existsSync(file))
    throw new Error(`${file} is missing: the folder must have the schema of every revision`)
  const schema = JSON.parse(readFileSync(file, 'utf8')) as Schema
  return toSchemas(revision === '2026-07-28' ? withTasks(schema, folder) : schema)
}

/** Adds the definitions of the official extension for tasks; those of the protocol itself stay. */
function withTasks(schema: Schema, folder: string): Schema {
  const file = `${folder}/extensions/tasks-draft/schema.json`
  if (!existsSync(file))
    throw new Error(`${file} is missing: the folder must have the schema of the tasks extension`)
  const more = JSON.parse(readFileSync(file, 'utf8')) as Schema
  return { ...schema, $defs: { ...more.$defs, ...schema.$defs } }
}

function toSchemas(schema: Schema): Schemas {
  const definitions = schema.$defs ?? schema.definitions ?? {}
  const names = Object.entries(definitions).map(([name, definition]) => [methodOf(definition), name] as const)
  const methods = new Map(names.filter((row): row is [string, string] => row[0] !== undefined))
  const open = lazily(() => validator(schema))
  const closed = lazily(() => validator(close(schema)))
  const exact = lazily(() => validator(closeDeeply(schema)))
  return {
    methods,
    has: (name) => Object.hasOwn(definitions, name),
    check: (name, value, mode) => {
      if (!Object.hasOwn(definitions, name)) return { kind: 'wrong', text: `the revision has no ${name}` }
      const text = (mode === 'closed' ? closed : open)()(name, value)
      return text === undefined ? undefined : { kind: 'wrong', text }
    },
    isExact: (name, value) => exact()(name, value) === undefined,
  }
}

function methodOf(definition: JsonObject): string | undefined {
  const parts = (definition['allOf'] ?? [definition]) as readonly JsonObject[]
  const all = parts.map(({ properties }) => properties as Readonly<Record<string, JsonObject>> | undefined)
  return all.map((properties) => properties?.['method']?.['const'] as string | undefined).find(Boolean)
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

function validator(schema: Schema): (name: string, value: unknown) => string | undefined {
  const options = { strict: false, validateFormats: false } as const
  const ajv = schema.$defs === undefined ? new Ajv(options) : new Ajv2020(options)
  ajv.addSchema(schema, 'official')
  const key = schema.$defs === undefined ? 'definitions' : '$defs'
  return (name, value) => {
    const validate = ajv.getSchema(`official#/${key}/${name}`)
    if (validate === undefined) throw new Error(`the schema of ${name} cannot be compiled`)
    return validate(value) === true ? undefined : ajv.errorsText(validate.errors)
  }
}

/** Metadata, capabilities and whole results stay open: the protocol lets anything travel there. */
const OPEN = /Meta|Capabilities$|^Result$|^Task$/

function close(schema: Schema): Schema {
  return withDefinitions(schema, (definition, name) => {
    const closable = definition['type'] === 'object' && 'properties' in definition && !OPEN.test(name)
    return closable ? { additionalProperties: false, ...definition } : definition
  })
}

/** Closes objects inside definitions too, such as the params of a request. */
function closeDeeply(schema: Schema): Schema {
  return withDefinitions(schema, (definition, name) => {
    const inner = closeParts(definition) as JsonObject
    if (OPEN.test(name) || isPart(schema, name)) return { ...inner, additionalProperties: {} }
    if (methodOf(definition) === undefined) return inner
    const base = name.endsWith('Request') ? 'Request' : 'Notification'
    return withEnvelope(inner, (schema.$defs ?? schema.definitions)?.[base])
  })
}

/** What every message may have: older schemas leave the members of JSON-RPC and `_meta` to another definition. */
function withEnvelope(definition: JsonObject, base: JsonObject | undefined): JsonObject {
  const properties = definition['properties'] as Readonly<Record<string, JsonObject>> | undefined
  // Those of the tasks extension consist of other definitions, which stay open.
  if (properties === undefined) return definition
  const envelope = { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer'] } }
  const { params } = properties
  const inner = params?.['properties'] as JsonObject | undefined
  const whole = inner === undefined ? params : { ...params, properties: { _meta: metaOf(base), ...inner } }
  return {
    ...definition,
    properties: { ...envelope, ...properties, ...(whole === undefined ? {} : { params: whole }) },
  }
}

function metaOf(base: JsonObject | undefined): unknown {
  const { params } = (base?.['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  return (params?.['properties'] as JsonObject | undefined)?.['_meta'] ?? { type: 'object' }
}

/** Parts that any JSON Schema may stand in, and parts that others add members to, stay open. */
const OPEN_PARTS = new Set(['allOf', 'inputSchema', 'outputSchema'])

function closeParts(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closeParts)
  if (typeof part !== 'object' || part === null) return part
  const members = Object.entries(part).map(([name, member]) => [
    name,
    OPEN_PARTS.has(name) ? (member as unknown) : closeParts(member),
  ])
  const closable = typeof (part as JsonObject)['properties'] === 'object' && !('allOf' in part)
  return { ...(closable ? { additionalProperties: false } : {}), ...Object.fromEntries(members) }
}

/** Whether other definitions add members to this one. */
function isPart(schema: Schema, name: string): boolean {
  const key = schema.$defs === undefined ? 'definitions' : '$defs'
  const uses = JSON.stringify(schema).match(/"allOf":\[(?:\{"\$ref":"[^"]*"\},?)+/g) ?? []
  return uses.some((use) => use.includes(`#/${key}/${name}"`))
}

function withDefinitions(schema: Schema, map: (definition: JsonObject, name: string) => JsonObject): Schema {
  const key = schema.$defs === undefined ? 'definitions' : '$defs'
  const definitions = Object.entries(schema[key] ?? {}).map(([name, one]) => [name, map(one, name)])
  return { ...schema, [key]: Object.fromEntries(definitions) }
}
