import { shorten } from './issue.ts'
import { entriesOf, isObject, KEYWORDS, type Shape } from './keywords.ts'
import type { JsonSchema } from './schema.ts'
import { SchemaError } from './schema-error.ts'

/** A dialect of JSON Schema: the number of the draft, or from 2019 on its year. */
export type Dialect = 6 | 7 | 2019 | 2020

const NAME = /^https?:\/\/json-schema\.org\/(?:draft-0([67])|draft\/(?:(2019)-09|(2020)-12))\/schema#?$/

/** The dialect that a schema names, 2020-12 if it names none; throws a SchemaError if it is not supported. */
export function readDialect({ $schema: name }: Readonly<Record<string, unknown>>): Dialect {
  if (typeof name !== 'string') return 2020
  const found = NAME.exec(name)
  if (found !== null) return Number(found[1] ?? found[2] ?? found[3]) as Dialect
  throw new SchemaError(
    `is written in the dialect ${shorten(name)}, which is not supported`,
    'Write it in JSON Schema 2020-12 (or 2019-09, draft-07, draft-06) and name that in $schema, or omit $schema.',
    '#/$schema',
  )
}

/**
 * A schema without the keywords that have no meaning in its dialect: those of later dialects, and up to draft-07 all
 * that stand beside a `$ref`.
 */
export function toDialect(root: JsonSchema): JsonSchema {
  const dialect = readDialect(root)
  return dialect === 2020 ? root : (without(root, dialect) as JsonSchema)
}

function without(schema: unknown, dialect: Dialect): unknown {
  if (!isObject(schema)) return schema
  const isReference = dialect < 2019 && typeof schema['$ref'] === 'string'
  const kept: [string, unknown][] = []
  for (const [keyword, value] of entriesOf(schema)) {
    const row = KEYWORDS.get(keyword)
    if (row?.since !== undefined && row.since > dialect) continue
    // Definitions and annotations check nothing, and other references may lead to the definitions.
    if (isReference && keyword !== '$ref' && row?.note !== true) continue
    kept.push([keyword, row === undefined ? value : withSubschemas(row.shape, value, dialect)])
  }
  return Object.fromEntries(kept)
}

function withSubschemas(shape: Shape, value: unknown, dialect: Dialect): unknown {
  if (shape === 'named' || shape === 'either') {
    if (!isObject(value)) return value
    return Object.fromEntries(entriesOf(value).map(([name, sub]) => [name, without(sub, dialect)]))
  }
  if (shape !== 'schema' && shape !== 'schemas') return value
  return Array.isArray(value) ? value.map((sub) => without(sub, dialect)) : without(value, dialect)
}
