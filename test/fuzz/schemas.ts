import type { Random } from './random.ts'
import { anyText, plainNumber, plainValue } from './values.ts'

export type Schema = Readonly<Record<string, unknown>> | boolean

const NAMES = ['a', 'b', 'name', 'count', '__proto__', 'constructor', 'toString', 'é', 'x y']
const PATTERNS = ['^a', '^[a-z]+$', '\\d', '^x-', '^.{0,3}$', 'é|😀', '^\\p{L}*$', '(?:ab)+c?', '[^a]$']
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

/** A JSON Schema of the keywords that every validator knows. */
export function anySchema(random: Random, depth: number = 3): Schema {
  if (random.oneIn(14)) return random.oneIn(4) ? false : true
  const schema: Record<string, unknown> = {}
  const type = random.pick(TYPES)
  if (!random.oneIn(6)) schema['type'] = random.oneIn(6) ? [...new Set([type, random.pick(TYPES)])] : type
  for (let left = random.few(5); left > 0; left--) addKeyword(schema, type, random, depth)
  if (random.oneIn(8)) schema['enum'] = [plainValue(random, 1), plainValue(random, 2)]
  if (random.oneIn(14)) schema['const'] = plainValue(random, 2)
  if (depth > 0 && random.oneIn(6)) addBranches(schema, random, depth)
  return schema
}

/** The same with an object at its root, and at times definitions that it refers to. */
export function rootSchema(random: Random): Readonly<Record<string, unknown>> {
  const properties = Object.fromEntries(random.list(5, () => [random.pick(NAMES), withReference(random)]))
  const schema = { type: 'object', properties }
  addKeyword(schema, 'object', random, 3)
  return {
    ...schema,
    type: 'object',
    properties: { ...(schema.properties as object), ...properties },
    $defs: {
      node: {
        type: ['object', 'string', 'integer'],
        properties: { next: { $ref: '#/$defs/node' } },
        maxProperties: 2,
      },
      text: anySchema(random, 1),
    },
  }
}

function withReference(random: Random): Schema {
  return random.oneIn(5) ? { $ref: random.pick(['#/$defs/node', '#/$defs/text']) } : anySchema(random)
}

function addKeyword(schema: Record<string, unknown>, type: string, random: Random, depth: number): void {
  const small = (): number => random.few(5)
  const inner = (): Schema => (depth > 0 ? anySchema(random, depth - 1) : true)
  const named = (names: readonly string[]): object =>
    Object.fromEntries(random.list(4, () => [random.pick(names), inner()]))
  // oxfmt-ignore
  const makers: Readonly<Record<string, Readonly<Record<string, () => unknown>>>> = {
    string: { minLength: small, maxLength: small, pattern: () => random.pick(PATTERNS) },
    number: { minimum: () => plainNumber(random), maximum: () => plainNumber(random), exclusiveMinimum: small, exclusiveMaximum: small, multipleOf: () => random.pick([1, 2, 4, 0.5]) },
    array: { items: inner, prefixItems: () => [inner(), inner()], minItems: small, maxItems: small, uniqueItems: () => random.oneIn(2), contains: inner, minContains: small, maxContains: small, unevaluatedItems: inner },
    object: {
      properties: () => named(NAMES), patternProperties: () => named(PATTERNS), additionalProperties: inner, required: () => [...new Set(random.list(3, () => random.pick(NAMES)))], minProperties: small,
      maxProperties: small, propertyNames: () => anySchema(random, 0), dependentRequired: () => ({ a: ['b'] }), dependentSchemas: () => named(['a', 'b']), unevaluatedProperties: inner,
    },
  }
  const group =
    makers[type === 'integer' ? 'number' : type] ??
    makers[random.pick(['string', 'number', 'array', 'object'])]!
  const keyword = random.pick(Object.keys(group))
  schema[keyword] = group[keyword]!()
  // The validator that we use takes the items of a list for properties here.
  if (keyword === 'unevaluatedProperties') schema['type'] = 'object'
  // The one that ours is compared with miscounts what is contained beside either of these.
  if ('contains' in schema) for (const name of ['unevaluatedItems', 'prefixItems']) delete schema[name]
}

function addBranches(schema: Record<string, unknown>, random: Random, depth: number): void {
  const inner = (): Schema => anySchema(random, depth - 1)
  const keyword = random.pick(['allOf', 'anyOf', 'oneOf', 'not', 'if'])
  if (keyword === 'not') schema['not'] = inner()
  else if (keyword === 'if') for (const name of ['if', 'then', 'else']) schema[name] = inner()
  else schema[keyword] = [inner(), inner()]
}

/** A value that may well fit a schema. */
export function valueFor(schema: unknown, random: Random, depth: number = 5): unknown {
  if (typeof schema !== 'object' || schema === null || depth === 0 || random.oneIn(12))
    return plainValue(random, 2)
  const of = schema as Readonly<Record<string, unknown>>
  if (Array.isArray(of['enum']) && !random.oneIn(3)) return random.pick(of['enum'])
  if (of['const'] !== undefined && !random.oneIn(3)) return of['const']
  const branches = of['anyOf'] ?? of['oneOf'] ?? of['allOf']
  if (Array.isArray(branches) && random.oneIn(3)) return valueFor(random.pick(branches), random, depth - 1)
  if (of['$ref'] === '#/$defs/node')
    return random.pick<unknown>([{}, 'x', { next: {} }, { next: { next: 3 } }, { next: 1.5 }])
  const type = Array.isArray(of['type']) ? random.pick(of['type']) : (of['type'] ?? random.pick(TYPES))
  switch (type) {
    case 'object':
      return objectFor(of, random, depth)
    case 'array':
      return arrayFor(of, random, depth)
    case 'string':
      return random.oneIn(2) ? anyText(random, 5) : random.pick(['a', 'abc', 'x-1', 'é', '😀😀', 'ab'])
    case 'integer':
      return random.oneIn(5) ? plainNumber(random) : random.between(-3, 12)
    case 'number':
      return plainNumber(random)
    case 'boolean':
      return random.oneIn(2)
    default:
      return null
  }
}

function objectFor(of: Readonly<Record<string, unknown>>, random: Random, depth: number): unknown {
  const properties = Object.entries((of['properties'] ?? {}) as object)
  const required = ((of['required'] ?? []) as readonly string[]).map((name) => [name, true] as const)
  const entries = [...required, ...properties].flatMap(([name, sub]) =>
    random.oneIn(5) ? [] : [[name, valueFor(sub, random, depth - 1)] as const],
  )
  const more = random.oneIn(4) ? [[random.pick(NAMES), plainValue(random, 1)] as const] : []
  return Object.fromEntries([...entries, ...more])
}

function arrayFor(of: Readonly<Record<string, unknown>>, random: Random, depth: number): unknown {
  const prefix = ((of['prefixItems'] ?? []) as readonly unknown[]).map((sub) =>
    valueFor(sub, random, depth - 1),
  )
  return [
    ...prefix.slice(0, random.between(0, 3)),
    ...random.list(4, () => valueFor(of['items'] ?? of['contains'], random, depth - 1)),
  ]
}
