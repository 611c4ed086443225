import { toDialect } from './dialect.ts'
import { entriesOf, isObject } from './keywords.ts'
import { resolveLocal } from './reference.ts'
import type { AnySchema, JsonSchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'
import { toShown } from './shown.ts'

/** The flat schema of primitives that a form can show; throws a SchemaError that names anything a form cannot. */
export function toFormSchema(schema: AnySchema): JsonSchema {
  const root = toDialect(toShown(schema, 'input'))
  const whole = follow(root, root)
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'patternProperties', 'if']) {
    if (whole[keyword] !== undefined) throw new SchemaError(`uses ${keyword} at its root`, FLAT)
  }
  const fields = entriesOf(whole['properties'] ?? {}).map(
    ([name, field]) => [name, toField(root, name, field)] as const,
  )
  const properties = Object.fromEntries(fields)
  const required = ((whole['required'] ?? []) as string[]).filter((name) => Object.hasOwn(properties, name))
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

type Field = Readonly<Record<string, unknown>>

const FLAT = 'A form is a flat object of strings, numbers, booleans and choices.'
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

function follow(root: JsonSchema, schema: unknown): Field {
  let place = schema
  for (let hops = 0; hops < 16 && isObject(place) && typeof place['$ref'] === 'string'; hops++) {
    const { $ref, ...rest } = place
    const target = resolveLocal(root, $ref as string)
    place = isObject(target) ? { ...target, ...rest } : target
  }
  return isObject(place) ? place : {}
}

function toField(root: JsonSchema, name: string, schema: unknown): JsonSchema {
  const field = follow(root, schema)
  const made = toChoice(field) ?? toPrimitive(field) ?? toChoices(root, field)
  if (made === undefined) throw unfit(name, field)
  const { title, description, default: preset } = field
  return {
    ...made,
    ...(title !== undefined && { title: title as string }),
    ...(description !== undefined && { description: description as string }),
    ...(fitsPreset(made, preset) && { default: preset }),
  }
}

/** A choice of one string. */
function toChoice(field: Field): JsonSchema | undefined {
  const { enum: values, enumNames } = field
  if (isStrings(values)) {
    const named = isStrings(enumNames) && enumNames.length === values.length
    return { type: 'string', enum: values, ...(named && { enumNames }) }
  }
  if (typeof field['const'] === 'string') return { type: 'string', enum: [field['const']] }
  const options = toOptions(field['oneOf'] ?? field['anyOf'])
  if (options === undefined) return undefined
  if (options.every(({ title }) => title === undefined))
    return { type: 'string', enum: options.map((option) => option.const) }
  return { type: 'string', oneOf: options.map(withTitle) }
}

interface Option {
  readonly const: string
  readonly title: string | undefined
}

function toOptions(branches: unknown): Option[] | undefined {
  if (!Array.isArray(branches)) return undefined
  const options: Option[] = []
  for (const branch of branches) {
    if (!isObject(branch)) return undefined
    const title = typeof branch['title'] === 'string' ? branch['title'] : undefined
    const values: unknown = typeof branch['const'] === 'string' ? [branch['const']] : branch['enum']
    if (!isStrings(values)) return undefined
    options.push(...values.map((value) => ({ const: value, title: values.length === 1 ? title : undefined })))
  }
  return options
}

function withTitle(option: Option): { readonly const: string; readonly title: string } {
  return { const: option.const, title: option.title ?? option.const }
}

function toPrimitive(field: Field): JsonSchema | undefined {
  const { const: only, enum: values, anyOf, oneOf, allOf } = field
  const type =
    Array.isArray(field['type']) && field['type'].length === 1 ? (field['type'][0] as unknown) : field['type']
  if ((anyOf ?? oneOf ?? allOf ?? values) !== undefined) return undefined
  if (type === 'boolean' || typeof only === 'boolean') return { type: 'boolean' }
  if (typeof only === 'number') return { type: 'number', minimum: only, maximum: only }
  if (type === 'string') {
    const { minLength, maxLength, format } = field
    return {
      type,
      ...(minLength !== undefined && { minLength }),
      ...(maxLength !== undefined && { maxLength }),
      ...(FORMATS.includes(format) && { format }),
    }
  }
  return type === 'number' || type === 'integer' ? toNumber(type, field) : undefined
}

function toNumber(type: 'number' | 'integer', field: Field): JsonSchema {
  const step = type === 'integer' ? 1 : 0
  const minimum = bound(field['minimum'], field['exclusiveMinimum'], step, Math.max)
  const maximum = bound(field['maximum'], field['exclusiveMaximum'], -step, Math.min)
  return { type, ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
}

/** The tighter of an inclusive and an exclusive bound; the limits of safe integers are omitted. */
function bound(
  inclusive: unknown,
  exclusive: unknown,
  step: number,
  tighter: (...values: number[]) => number,
): number | undefined {
  const bounds: number[] = []
  if (typeof inclusive === 'number') bounds.push(inclusive)
  if (typeof exclusive === 'number') bounds.push(exclusive + step)
  const known = bounds.filter((value) => Math.abs(value) < Number.MAX_SAFE_INTEGER)
  return known.length === 0 ? undefined : tighter(...known)
}

/** A choice of several strings. */
function toChoices(root: JsonSchema, field: Field): JsonSchema | undefined {
  if (field['type'] !== 'array') return undefined
  const items = toChoice(follow(root, field['items']))
  if (items === undefined || items['enumNames'] !== undefined) return undefined
  const { minItems, maxItems } = field
  return {
    type: 'array',
    items: items['oneOf'] === undefined ? items : { anyOf: items['oneOf'] },
    ...(minItems !== undefined && { minItems }),
    ...(maxItems !== undefined && { maxItems }),
  }
}

function fitsPreset(made: JsonSchema, preset: unknown): boolean {
  if (made.type === 'array') return isStrings(preset)
  if (made.type === 'integer') return Number.isInteger(preset)
  return typeof preset === made.type
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}

function unfit(name: string, field: Field): SchemaError {
  const { type } = field
  const parts = [...(Array.isArray(type) ? (type as unknown[]) : [type]), ...branchTypes(field)]
  if (parts.includes('null')) {
    return new SchemaError(
      `lets the property "${name}" be null, which no form can send`,
      'Make it optional instead of nullable.',
    )
  }
  const what =
    type === 'object'
      ? 'a nested object'
      : type === 'array'
        ? 'a list of something other than named strings'
        : 'a shape'
  return new SchemaError(
    `has the property "${name}", ${what} that no form can ask for`,
    `${FLAT} Ask for "${name}" separately.`,
  )
}

function branchTypes(field: Field): unknown[] {
  const branches = field['anyOf'] ?? field['oneOf']
  return Array.isArray(branches)
    ? branches.map((branch: unknown) => (isObject(branch) ? branch['type'] : undefined))
    : []
}
