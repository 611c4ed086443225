import { Check, Compile } from 'typebox/schema'
import type { Test } from './direct.ts'
import { entriesOf, isObject, KEYWORDS, type Shape } from './keywords.ts'
import { toMatcher } from './pattern.ts'
import { hasReference, isReference, multiplies } from './recursion.ts'
import { resolveLocal } from './reference.ts'

/** Compiles any schema that `inspect` accepts. Formats are annotations. */
export function compile(schema: unknown): Test {
  const test = isObject(schema) && multiplies(schema) ? compileParts(schema) : compileCopy(copySchema(schema))
  return hasInheritedName(schema) ? (value) => test(withoutPrototypes(value)) : test
}

type Copy = Record<string, unknown>

/** How to copy a schema. */
interface Copying {
  /** Replaces the schema of a part of the value. */
  part(schema: unknown): Copy | boolean
  /** Resolves a reference, if references are to be replaced by their target. */
  target?(reference: string): unknown
}

const WHOLE: Copying = { part: (schema) => copySchema(schema) }

/** A check that compares each part of a value with each subschema only once, however many paths lead there. */
function compileParts(root: object): Test {
  const tests = new Map<object, Test>()
  const verdicts = new Map<object, Map<object, boolean>>()
  const copying: Copying = {
    part: (schema) =>
      isObject(schema) && hasReference(schema)
        ? { '~refine': [{ check: (value: unknown) => check(schema, value), error: () => '' }] }
        : copySchema(schema),
    target: (reference) => resolveLocal(root, reference),
  }
  return (value) => {
    try {
      return check(root, value)
    } finally {
      verdicts.clear()
    }
  }

  function check(schema: object, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return testOf(schema)(value)
    let known = verdicts.get(schema)
    if (known === undefined) verdicts.set(schema, (known = new Map()))
    let verdict = known.get(value)
    if (verdict === undefined) known.set(value, (verdict = testOf(schema)(value)))
    return verdict
  }

  function testOf(schema: object): Test {
    let test = tests.get(schema)
    if (test === undefined) tests.set(schema, (test = compileCopy(copySchema(schema, copying))))
    return test
  }
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** No JavaScript string is longer, so larger bounds are replaced by this one. */
const MAX_LENGTH = 2 ** 29

function compileCopy(copy: Copy | boolean): Test {
  if (isObject(copy)) copy['$schema'] = 'https://json-schema.org/draft/2020-12/schema'
  try {
    const validator = Compile(copy)
    return (value) => validator.Check(value)
  } catch (thrown) {
    // A very wide schema compiles to code that is nested too deeply for the parser.
    if (thrown instanceof RangeError) return (value) => Check(copy, value)
    throw thrown
  }
}

/** Passes only JSON Schema keywords to the compiler, which gives meaning to keywords of its own. */
function copySchema(schema: unknown, copying: Copying = WHOLE): Copy | boolean {
  if (!isObject(schema)) return schema === true
  const copy: Copy = {}
  const targets: (Copy | boolean)[] = []
  for (const [keyword, value] of entriesOf(schema)) {
    const shape = KEYWORDS.get(keyword)?.shape
    if (value === undefined || keyword === '$schema' || keyword === '$id' || keyword === 'format') continue
    if (keyword === 'type') copy[keyword] = value
    else if (keyword === 'const' || keyword === 'enum') addValues(copy, keyword, value)
    else if (keyword === 'pattern') copy[keyword] = toMatcher(value as string)
    else if (keyword === 'minLength') copy[keyword] = Math.min(value as number, MAX_LENGTH)
    else if (copying.target !== undefined && isReference(keyword))
      targets.push(copySchema(copying.target(value as string), copying))
    else if (keyword === 'properties') copy[keyword] = copyKeyword('named', cheapFirst(value), copying.part)
    else if (shape !== undefined) copy[keyword] = copyKeyword(shape, value, copierOf(keyword, copying))
  }
  if (targets.length > 0) copy['allOf'] = [...((copy['allOf'] as unknown[] | undefined) ?? []), ...targets]
  return copy
}

/** The compiler treats `{ "length": 0 }` as an empty list, so everything but scalars is compared here. */
function addValues(copy: Copy, keyword: 'const' | 'enum', value: unknown): void {
  const values = keyword === 'enum' ? (value as unknown[]) : [value]
  if (values.every((each) => typeof each !== 'object' || each === null)) return void (copy[keyword] = value)
  const check = (given: unknown): boolean => values.some((each) => isSame(each, given))
  copy['~refine'] = [...((copy['~refine'] as unknown[] | undefined) ?? []), { check, error: () => '' }]
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const members = entriesOf(one)
  if (members.length !== Object.keys(other).length) return false
  return members.every(([name, each]) => Object.hasOwn(other, name) && isSame(each, (other as Copy)[name]))
}

function copierOf(keyword: string, copying: Copying): Copying['part'] {
  return KEYWORDS.get(keyword)?.inPlace === true ? (schema) => copySchema(schema, copying) : copying.part
}

/** Puts members that decide quickly first, so that alternatives of a recursive schema are rejected before the rest is read. */
function cheapFirst(properties: unknown): unknown {
  const isCheap = (schema: unknown): boolean =>
    isObject(schema) && ('const' in schema || 'enum' in schema || SCALARS.has(String(schema['type'])))
  const all = entriesOf(properties)
  const [cheap, others] = [true, false].map((wanted) => all.filter(([, sub]) => isCheap(sub) === wanted))
  return Object.fromEntries([...cheap!, ...others!])
}

function copyKeyword(shape: Shape, value: unknown, copy: Copying['part']): unknown {
  if (shape === 'named' || shape === 'either') {
    return Object.fromEntries(
      entriesOf(value).map(([name, sub]) => [name, Array.isArray(sub) ? sub : copy(sub)]),
    )
  }
  if (shape === 'schemas' || (shape === 'schema' && Array.isArray(value)))
    return (value as unknown[]).map((sub) => copy(sub))
  return shape === 'schema' ? copy(value) : value
}

/** Whether the schema contains a name that every ordinary object inherits. */
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
