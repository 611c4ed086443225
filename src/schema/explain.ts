import { toDialect } from './dialect.ts'
import { entriesOf, isObject } from './keywords.ts'
import { toMatcher } from './pattern.ts'
import { toResolver, type Resolve } from './reference.ts'
import { MAX_ISSUES, shorten, type Issue } from './issue.ts'
import type { Test } from './rule.ts'
import { countPoints, isMultiple, isSame, oneOfValues } from './scalar-rules.ts'
import { PRICE, spend, TooCostly } from './work.ts'

/**
 * The first few reasons why a value does not match, or the given one if none is found. The search looks at a bounded
 * number of places, with the work that checking the value has left.
 */
export function explain(schema: unknown, value: unknown, otherwise = 'does not match the schema'): Issue[] {
  const root = isObject(schema) ? toDialect(schema) : schema
  const search: Search = {
    resolve: toResolver(root),
    issues: [],
    budget: { steps: 2000 },
    texts: new Map(),
  }
  try {
    look(search, root, value, [])
  } catch (thrown) {
    if (!(thrown instanceof TooCostly)) throw thrown
  }
  return search.issues.length > 0 ? search.issues : [{ path: [], problem: otherwise }]
}

interface Search {
  readonly resolve: Resolve
  readonly issues: Issue[]
  /** Shared by all attempts of one search. */
  readonly budget: { steps: number }
  /** The values that schemas allow, as text. */
  readonly texts: Map<Schema, string>
}

type Schema = Readonly<Record<string, unknown>>
type Path = readonly PropertyKey[]

function look(search: Search, schema: unknown, value: unknown, path: Path): void {
  if (search.budget.steps-- <= 0 || search.issues.length >= MAX_ISSUES || schema === true) return
  if (!isObject(schema)) return report(search, path, 'is not allowed')
  const before = search.issues.length
  if (typeof schema['$ref'] === 'string') look(search, search.resolve(schema['$ref']), value, path)
  if (!lookAtType(search, schema, value, path) || !lookAtValues(search, schema, value, path)) return
  if (typeof value === 'number') lookAtNumber(search, schema, value, path)
  else if (typeof value === 'string') lookAtString(search, schema, value, path)
  else if (Array.isArray(value)) lookAtArray(search, schema, value, path)
  else if (isObject(value)) lookAtObject(search, schema, value, path)
  for (const sub of listOf(schema['allOf'])) look(search, sub, value, path)
  if (search.issues.length === before) lookAtBranches(search, schema, value, path)
}

function report(search: Search, path: Path, problem: string, more?: Pick<Issue, 'expected' | 'got'>): void {
  if (search.issues.length < MAX_ISSUES) search.issues.push({ path, problem, ...more })
}

function lookAtType(search: Search, { type }: Schema, value: unknown, path: Path): boolean {
  const types = typeof type === 'string' ? [type] : listOf(type)
  if (types.length === 0 || types.some((each) => isType(String(each), value))) return true
  const expected = types.join(' or ')
  const got = typeName(value)
  report(search, path, `expected ${expected}, got ${got}`, { expected, got })
  return false
}

function isType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return typeName(value) === type
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function lookAtValues(search: Search, schema: Schema, value: unknown, path: Path): boolean {
  const { const: only, enum: listed } = schema
  const allowed = only === undefined ? listOf(listed) : [only]
  if (only === undefined ? !Array.isArray(listed) || testOf(listed)(value) : isSame(only, value)) return true
  let text = search.texts.get(schema)
  if (text === undefined) search.texts.set(schema, (text = listText(allowed)))
  // The value itself is not repeated: it may be a secret, and the caller knows it.
  const verb = allowed.length === 1 ? 'expected' : 'expected one of'
  report(search, path, `${verb} ${text}, got something else`)
  return false
}

/** The check of an `enum`, made once: comparing each item of a list with each of many values would be slow. */
function testOf(values: readonly unknown[]): Test {
  let test = valueTests.get(values)
  if (test === undefined) valueTests.set(values, (test = oneOfValues(values)))
  return test
}

const valueTests = new WeakMap<readonly unknown[], Test>()

function listText(values: readonly unknown[]): string {
  // No more of a string is shown than this.
  const shown = values
    .slice(0, 10)
    .map((value) => JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : value))
  if (values.length > 10) shown.push('…')
  return shorten(shown.join(', '))
}

function lookAtNumber(search: Search, schema: Schema, value: number, path: Path): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === 'number' && value < minimum) report(search, path, `must be >= ${minimum}`)
  if (typeof maximum === 'number' && value > maximum) report(search, path, `must be <= ${maximum}`)
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    report(search, path, `must be > ${exclusiveMinimum}`)
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    report(search, path, `must be < ${exclusiveMaximum}`)
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
    report(search, path, `must be a multiple of ${multipleOf}`)
}

function lookAtString(search: Search, schema: Schema, value: string, path: Path): void {
  const { minLength, maxLength, pattern } = schema
  const length = (minLength ?? maxLength) === undefined ? 0 : countPoints(value)
  if (typeof minLength === 'number' && length < minLength)
    report(search, path, `must have at least ${minLength} characters`)
  if (typeof maxLength === 'number' && length > maxLength)
    report(search, path, `must have at most ${maxLength} characters`)
  if (typeof pattern !== 'string') return
  const matcher = toMatcher(pattern)
  if (value.length > matcher.limit) report(search, path, `must have at most ${matcher.limit} characters`)
  else if (!matcher.test(value)) report(search, path, `must match the pattern ${shorten(pattern)}`)
}

function lookAtArray(search: Search, schema: Schema, value: readonly unknown[], path: Path): void {
  const { items, prefixItems, minItems, maxItems } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    report(search, path, `must have at least ${minItems} items`)
  if (typeof maxItems === 'number' && value.length > maxItems)
    report(search, path, `must have at most ${maxItems} items`)
  const prefix = listOf(prefixItems ?? (Array.isArray(items) ? items : undefined))
  const rest = Array.isArray(items) ? schema['additionalItems'] : items
  for (
    let index = 0;
    index < value.length && search.budget.steps > 0 && search.issues.length < MAX_ISSUES;
    index++
  ) {
    const item = index < prefix.length ? prefix[index] : rest
    if (item === undefined) break
    look(search, item, value[index], [...path, index])
  }
}

function lookAtObject(search: Search, schema: Schema, value: Schema, path: Path): void {
  const required = listOf(schema['required']) as string[]
  spend(PRICE.name * required.length)
  for (const name of required) {
    if (search.issues.length >= MAX_ISSUES) return
    if (!Object.hasOwn(value, name)) report(search, [...path, name], 'is required', { got: undefined })
  }
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const members = entriesOf(properties)
  spend(PRICE.name * members.length)
  for (const [name, sub] of members) {
    if (Object.hasOwn(value, name) && value[name] !== undefined)
      look(search, sub, value[name], [...path, name])
  }
  const rest = schema['additionalProperties']
  if (rest === undefined || rest === true) return
  const patterns = isObject(schema['patternProperties'])
    ? Object.keys(schema['patternProperties']).map(toMatcher)
    : []
  const names = Object.keys(value)
  spend(PRICE.name * names.length + PRICE.matcher * patterns.length)
  for (const name of names) {
    if (Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name))) continue
    if (rest === false) report(search, [...path, name], 'is not a known property')
    else look(search, rest, value[name], [...path, name])
    if (search.budget.steps-- <= 0 || search.issues.length >= MAX_ISSUES) return
  }
}

/** Of several alternatives, the one with the fewest differences is probably the one that was meant. */
function lookAtBranches(search: Search, schema: Schema, value: unknown, path: Path): void {
  const branches = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
  if (branches.length === 0) return
  let nearest: readonly Issue[] | undefined
  for (const branch of branches) {
    // One that was not tried may be the one that fits.
    if (search.budget.steps <= 0) return
    const attempt: Search = { ...search, issues: [] }
    look(attempt, branch, value, path)
    if (attempt.issues.length === 0) return
    const deeper = (attempt.issues[0]?.path.length ?? 0) > (nearest?.[0]?.path.length ?? -1)
    if (nearest === undefined || deeper) nearest = attempt.issues
  }
  if (branches.length > 1) report(search, path, `matches none of the ${branches.length} allowed shapes`)
  for (const issue of nearest ?? []) report(search, issue.path, issue.problem, issue)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
