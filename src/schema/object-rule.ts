import { entriesOf, isObject } from './keywords.ts'
import { toMatcher } from './pattern.ts'
import { numberOr, type Compiler, type Marks, type Node, type Rule, type Schema, type Test } from './rule.ts'
import { PRICE, spend } from './work.ts'

/** All keywords for objects but `unevaluatedProperties`. */
export const objectRule: Rule = (schema, compiler) => {
  const tests = [
    membersNode(schema, compiler),
    namesNode(schema, compiler),
    ...dependencyNodes(schema, compiler),
  ]
  const [first, ...others] = tests.filter((test) => test !== undefined)
  if (first === undefined) return undefined
  if (others.length === 0) return (value, marks) => !isObject(value) || first(value, marks)
  return (value, marks) => {
    if (!isObject(value)) return true
    spend(tests.length)
    return first(value, marks) && others.every((test) => test(value, marks))
  }
}

/** The check of a value that is an object. */
type ObjectNode = (value: Schema, marks?: Marks) => boolean

interface Member {
  readonly name: string
  readonly required: boolean
  readonly test: Test
  /** An object without this member inherits one of the same name. */
  readonly inherited: boolean
}

/** `properties` and `required`. */
function membersNode({ properties = {}, required = [] }: Schema, { part }: Compiler): ObjectNode | undefined {
  const needed = new Set(required as string[])
  const named = entriesOf(properties).toSorted(([, one], [, other]) => cost(one) - cost(other))
  const known = new Set(named.map(([name]) => name))
  const others = [...needed].filter((name) => !known.has(name)).map((name) => [name, true] as const)
  const members = [...named, ...others].map(([name, sub]): Member => ({
    name,
    required: needed.has(name),
    test: part(sub),
    inherited: name in Object.prototype,
  }))
  if (members.length === 0) return undefined
  const always = members.filter((member) => member.required)
  const optional = members.filter((member) => !member.required)
  const byName = new Map(optional.map((member) => [member.name, member]))
  return (value, marks) => {
    if (marks !== undefined) {
      spend(PRICE.name * known.size)
      for (const name of known) if (Object.hasOwn(value, name)) marks.names.push(name)
    }
    if (members.length <= FEW_MEMBERS) return allFit(members, value)
    if (!allFit(always, value)) return false
    const names = Object.keys(value)
    spend(PRICE.name * names.length)
    if (names.length >= optional.length) return allFit(optional, value)
    return names.every((name) => {
      const member = byName.get(name)
      return member === undefined || fits(member, value)
    })
  }
}

/** Engines keep so many members in a table, which they read much slower. */
const MANY_NAMES = 1024

/** So few members are looked up faster than the names of an object are listed. */
const FEW_MEMBERS = 16

function allFit(members: readonly Member[], value: Schema): boolean {
  let at = 0
  while (at < members.length && fits(members[at]!, value)) at++
  // Parts of the value spend their own.
  spend(PRICE.name * Math.min(at + 1, members.length))
  return at === members.length
}

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** Members that decide at once come first: of shapes that hold themselves all but one are given up before the rest is read. */
function cost(schema: unknown): number {
  return isObject(schema) && ('const' in schema || 'enum' in schema || SCALARS.has(schema['type'])) ? 0 : 1
}

function fits(member: Member, value: Schema): boolean {
  const item = member.inherited && !Object.hasOwn(value, member.name) ? undefined : value[member.name]
  if (item !== undefined) return member.test(item)
  if (!member.required) return true
  return Object.hasOwn(value, member.name) && member.test(item)
}

/** Checks the names of members, and the members that `properties` does not name. */
function namesNode(schema: Schema, { part }: Compiler): ObjectNode | undefined {
  const { properties = {}, patternProperties = {}, additionalProperties, propertyNames } = schema
  const { minProperties, maxProperties } = schema
  const known = new Set(Object.keys(properties as object))
  const patterns = entriesOf(patternProperties).map(
    ([source, sub]) => [toMatcher(source), part(sub)] as const,
  )
  const rest = additionalProperties === undefined ? undefined : part(additionalProperties)
  const isName = propertyNames === undefined ? undefined : part(propertyNames)
  const [least, most] = [numberOr(minProperties, 0), numberOr(maxProperties, Infinity)]
  const isFree =
    isName === undefined && patterns.length === 0 && (minProperties ?? maxProperties) === undefined
  if (isFree && rest === undefined) return undefined
  if (isFree && additionalProperties === false) return (value) => hasOnly(known, value)
  return (value, marks) => {
    const names = Object.keys(value)
    spend((names.length > MANY_NAMES ? PRICE.farName : PRICE.name) * (names.length + 1))
    if (names.length < least || names.length > most) return false
    if (isName !== undefined && !names.every((name) => isName(name))) return false
    if (rest === undefined && patterns.length === 0) return true
    return names.every((name) => fitsMember(name, value[name], marks))
  }

  function fitsMember(name: string, item: unknown, marks: Marks | undefined): boolean {
    let others = known.has(name) ? undefined : rest
    for (const [matcher, test] of patterns) {
      if (!matcher.test(name)) continue
      if (!test(item)) return false
      others = undefined
      marks?.names.push(name)
    }
    if (others === undefined) return true
    marks?.names.push(name)
    return others(item)
  }
}

function hasOnly(known: ReadonlySet<string>, value: Schema): boolean {
  let count = 0
  let others = 0
  for (const name in value) {
    count++
    if (!known.has(name) && Object.hasOwn(value, name)) others++
  }
  // The loop reads all names before the first of them.
  spend(others === 0 ? known.size : PRICE.name * count)
  return others === 0
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both. */
function dependencyNodes(schema: Schema, { inPlace }: Compiler): readonly ObjectNode[] {
  const rows = ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
    entriesOf(schema[keyword] ?? {}),
  )
  return rows.map(([name, sub]) => {
    const node: Node = Array.isArray(sub)
      ? (value) => hasAll(value as object, sub as readonly string[])
      : inPlace(sub)
    return (value, marks) => (spend(PRICE.name), !Object.hasOwn(value, name) || node(value, marks))
  })
}

function hasAll(value: object, names: readonly string[]): boolean {
  spend(PRICE.name * names.length)
  return names.every((name) => Object.hasOwn(value, name))
}
