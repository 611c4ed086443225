/**
 * The required form of each keyword's value.
 * schema: one subschema; schemas: a non-empty list of them; named: a map of them; count: an integer from 0;
 * number, string, strings, boolean, list: as they say; positive: a number above 0; names: a map of string lists;
 * either: a map of subschemas or string lists.
 */
export type Shape =
  | 'schema'
  | 'schemas'
  | 'named'
  | 'count'
  | 'number'
  | 'positive'
  | 'string'
  | 'strings'
  | 'boolean'
  | 'list'
  | 'names'
  | 'either'

/** A keyword that is evaluated. */
export interface KeywordRow {
  readonly shape: Shape
  /** Whether it applies to the same value, not to its parts. */
  readonly inPlace?: true
  /** Whether it checks nothing. */
  readonly note?: true
  /** The first dialect that has it, if earlier ones do not. */
  readonly since?: 7 | 2019 | 2020
}

/** Every keyword that is evaluated; any other is an annotation. */
// oxfmt-ignore
export const KEYWORDS: ReadonlyMap<string, KeywordRow> = new Map<string, KeywordRow>([
  ['properties',            { shape: 'named' }],
  ['patternProperties',     { shape: 'named' }],
  ['additionalProperties',  { shape: 'schema' }],
  ['propertyNames',         { shape: 'schema' }],
  ['unevaluatedProperties', { shape: 'schema', since: 2019 }],
  ['required',              { shape: 'strings' }],
  ['dependentRequired',     { shape: 'names', since: 2019 }],
  ['dependentSchemas',      { shape: 'named', inPlace: true, since: 2019 }],
  ['dependencies',          { shape: 'either', inPlace: true }],
  ['minProperties',         { shape: 'count' }],
  ['maxProperties',         { shape: 'count' }],
  ['items',                 { shape: 'schema' }],
  ['prefixItems',           { shape: 'schemas', since: 2020 }],
  ['additionalItems',       { shape: 'schema' }],
  ['unevaluatedItems',      { shape: 'schema', since: 2019 }],
  ['contains',              { shape: 'schema' }],
  ['minContains',           { shape: 'count', since: 2019 }],
  ['maxContains',           { shape: 'count', since: 2019 }],
  ['minItems',              { shape: 'count' }],
  ['maxItems',              { shape: 'count' }],
  ['uniqueItems',           { shape: 'boolean' }],
  ['minimum',               { shape: 'number' }],
  ['maximum',               { shape: 'number' }],
  ['exclusiveMinimum',      { shape: 'number' }],
  ['exclusiveMaximum',      { shape: 'number' }],
  ['multipleOf',            { shape: 'positive' }],
  ['minLength',             { shape: 'count' }],
  ['maxLength',             { shape: 'count' }],
  ['pattern',               { shape: 'string' }],
  ['enum',                  { shape: 'list' }],
  ['allOf',                 { shape: 'schemas', inPlace: true }],
  ['anyOf',                 { shape: 'schemas', inPlace: true }],
  ['oneOf',                 { shape: 'schemas', inPlace: true }],
  ['not',                   { shape: 'schema', inPlace: true }],
  ['if',                    { shape: 'schema', inPlace: true, since: 7 }],
  ['then',                  { shape: 'schema', inPlace: true, since: 7 }],
  ['else',                  { shape: 'schema', inPlace: true, since: 7 }],
  ['$ref',                  { shape: 'string' }],
  ['$dynamicRef',           { shape: 'string', since: 2020 }],
  ['$anchor',               { shape: 'string', note: true }],
  ['$dynamicAnchor',        { shape: 'string', note: true }],
  ['$defs',                 { shape: 'named', note: true }],
  ['definitions',           { shape: 'named', note: true }],
  ['$id',                   { shape: 'string', note: true }],
  ['$schema',               { shape: 'string', note: true }],
  ['$comment',              { shape: 'string', note: true }],
  ['title',                 { shape: 'string', note: true }],
  ['description',           { shape: 'string', note: true }],
  ['format',                { shape: 'string', note: true }],
])

/** The seven type names of JSON Schema. */
export const TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

/** The own entries of a map in a schema, so that a key such as `__proto__` is an ordinary name. */
export function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(value as Record<string, unknown>)
}

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every subschema below a keyword, with the path from the keyword to it. */
export function subschemasOf(shape: Shape, value: unknown): (readonly [path: string, schema: unknown])[] {
  if (shape === 'named') return entriesOf(value).map(([name, sub]) => [`/${escapeToken(name)}`, sub] as const)
  if (shape === 'either') return subschemasOf('named', value).filter(([, sub]) => !Array.isArray(sub))
  if (shape === 'schemas' || (shape === 'schema' && Array.isArray(value))) {
    return (value as unknown[]).map((sub, index) => [`/${index}`, sub] as const)
  }
  return shape === 'schema' ? [['', value]] : []
}

/** One token of a JSON Pointer. */
export function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
