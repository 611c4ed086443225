import { Check, Compile } from 'typebox/schema'
import type { Test } from './direct.ts'
import { entriesOf, isObject, KEYWORDS, type Shape } from './keywords.ts'
import { toMatcher } from './pattern.ts'

/** The check of any schema that `inspect` has let through. Formats are annotations. */
export function compile(schema: unknown): Test {
  const copy = copySchema(schema)
  if (isObject(copy)) copy['$schema'] = 'https://json-schema.org/draft/2020-12/schema'
  const test = compileCopy(copy)
  return hasInheritedName(schema) ? (value) => test(withoutPrototypes(value)) : test
}

type Copy = Record<string, unknown>

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** A string of JavaScript is never longer, so that a larger bound may stand for this one. */
const MAX_LENGTH = 2 ** 29

function compileCopy(copy: Copy | boolean): Test {
  try {
    const validator = Compile(copy)
    return (value) => validator.Check(value)
  } catch (thrown) {
    // A very wide schema becomes code that nests too deep for the parser.
    if (thrown instanceof RangeError) return (value) => Check(copy, value)
    throw thrown
  }
}

/** Only what JSON Schema defines reaches the compiler: it gives further meanings to keywords of its own. */
function copySchema(schema: unknown): Copy | boolean {
  if (!isObject(schema)) return schema === true
  const copy: Copy = {}
  for (const [keyword, value] of entriesOf(schema)) {
    const shape = KEYWORDS.get(keyword)?.shape
    if (value === undefined || keyword === '$schema' || keyword === '$id' || keyword === 'format') continue
    if (keyword === 'type' || keyword === 'const') copy[keyword] = value
    else if (keyword === 'pattern') copy[keyword] = toMatcher(value as string)
    else if (keyword === 'minLength') copy[keyword] = Math.min(value as number, MAX_LENGTH)
    else if (keyword === 'properties') copy[keyword] = copyKeyword('named', cheapFirst(value))
    else if (shape !== undefined) copy[keyword] = copyKeyword(shape, value)
  }
  return copy
}

/** Members that decide at once come first: of shapes that hold themselves all but one are given up before the rest is read. */
function cheapFirst(properties: unknown): unknown {
  const isCheap = (schema: unknown): boolean =>
    isObject(schema) && ('const' in schema || 'enum' in schema || SCALARS.has(String(schema['type'])))
  const all = entriesOf(properties)
  const [cheap, others] = [true, false].map((wanted) => all.filter(([, sub]) => isCheap(sub) === wanted))
  return Object.fromEntries([...cheap!, ...others!])
}

function copyKeyword(shape: Shape, value: unknown): unknown {
  if (shape === 'named' || shape === 'either') {
    return Object.fromEntries(
      entriesOf(value).map(([name, sub]) => [name, Array.isArray(sub) ? sub : copySchema(sub)]),
    )
  }
  if (shape === 'schemas' || (shape === 'schema' && Array.isArray(value)))
    return (value as unknown[]).map(copySchema)
  return shape === 'schema' ? copySchema(value) : value
}

/** Whether any name or value in the schema is one that every ordinary object inherits. */
function hasInheritedName(value: unknown): boolean {
  if (typeof value === 'string') return value in Object.prototype
  if (typeof value !== 'object' || value === null) return false
  return entriesOf(value).some(([name, item]) => name in Object.prototype || hasInheritedName(item))
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (!isObject(value)) return value
  const bare: Copy = Object.create(null) as Copy
  for (const [name, item] of entriesOf(value)) bare[name] = withoutPrototypes(item)
  return bare
}
