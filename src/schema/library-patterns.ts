import { unsafePattern } from './inspect.ts'
import { shorten, type Issue } from './issue.ts'
import { entriesOf, isObject } from './keywords.ts'
import { UNMATCHED } from './hidden.ts'
import { zodPartsOf } from './merges.ts'
import { proveExpression, toPrice, type PatternCost, type Price } from './pattern.ts'
import type { JsonSchema, StandardSchema } from './schema.ts'
import { toSubschemas, type Schema } from './subschemas.ts'
import { PRICE, spend, startCounting, TooCostly } from './work.ts'

/** The cost of each pattern that a library shows; undefined if the library never matches it. */
export type LibraryCosts = (source: string) => PatternCost | undefined

/** What the patterns of a library cost. Of zod, the flags are known, which JSON Schema cannot show. Others show no patterns with flags that matter. */
export function libraryCosts(schema: StandardSchema): LibraryCosts {
  const flagsOf = new Map<string, string>()
  const unmatched = new Set<string>()
  for (const { _zod } of zodPartsOf(schema)) {
    const { pattern, format } = _zod.def
    if (!(pattern instanceof RegExp)) continue
    const { source, flags } = pattern
    if (UNMATCHED.has(format)) unmatched.add(source)
    else flagsOf.set(source, (flagsOf.get(source) ?? '') + flags)
  }
  return (source) => {
    const flags = flagsOf.get(source)
    return flags === undefined && unmatched.has(source) ? undefined : proveExpression(source, flags)
  }
}

/** Rejects unsafe patterns that a library matches, but does not show, so that they have no place in its JSON Schema. */
export function rejectHidden(patterns: readonly RegExp[]): void {
  for (const pattern of patterns) {
    const verdict = proveExpression(pattern.source, pattern.flags)
    if (verdict.cost === 'unsafe')
      throw unsafePattern(` ${shorten(String(pattern))}: ${verdict.reason}`, true)
  }
}

/** Finds a problem of a value whose texts are too long for the patterns of its schema. */
export type Guard = (value: unknown) => Issue | undefined

/** The guard of a schema; undefined if its patterns take no longer than reading the text. */
export function toGuard(json: JsonSchema, costOf: LibraryCosts): Guard | undefined {
  const places = findPlaces(json, costOf)
  const root = places.get(json)
  if (root === undefined) return undefined
  return (value) => {
    startCounting()
    const walk: Walk = { path: [], seen: new Map() }
    try {
      look(walk, root, value)
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof TooCostly)) throw thrown
      const isText = thrown instanceof TooLong
      return { path: isText ? walk.path : [], problem: thrown.message }
    }
  }
}

/** What the schema of a part says about texts with costly patterns, in the part and below. */
interface Place {
  own: Price | undefined
  /** For the names of members. */
  names: Price[]
  here: Place[]
  members: Place[]
  nameSchema: Place | undefined
  readonly named: Map<string, Place>
  /** Whether a part may get here in several ways. */
  isShared: boolean
}

/** The places of all schemas with costly patterns, or with such a schema below. */
function findPlaces(json: JsonSchema, costOf: LibraryCosts): ReadonlyMap<Schema, Place> {
  const subschemasOf = toSubschemas(json)
  const all = new Map<Schema, Place>()
  /** The schemas that contain or refer to a place. */
  const users = new Map<Place, Place[]>()
  const costly = new Set<Place>()
  visit(json)
  for (const place of costly) for (const user of users.get(place) ?? []) costly.add(user)
  for (const [schema, place] of all) {
    if (!costly.has(place)) all.delete(schema)
    place.here = place.here.filter((each) => costly.has(each))
    place.members = place.members.filter((each) => costly.has(each))
    if (place.nameSchema !== undefined && !costly.has(place.nameSchema)) place.nameSchema = undefined
    for (const [name, each] of place.named) if (!costly.has(each)) place.named.delete(name)
  }
  return all

  function visit(schema: unknown): Place | undefined {
    if (!isObject(schema)) return undefined
    const known = all.get(schema)
    if (known !== undefined) {
      known.isShared = true
      return known
    }
    const { pattern, patternProperties, propertyNames } = schema
    const keys = isObject(patternProperties) ? Object.keys(patternProperties) : []
    const place: Place = {
      own: typeof pattern === 'string' ? priceOf(pattern) : undefined,
      names: keys.flatMap((key) => priceOf(key) ?? []),
      here: [],
      members: [],
      nameSchema: undefined,
      named: new Map(),
      isShared: false,
    }
    all.set(schema, place)
    users.set(place, users.get(place) ?? [])
    if (place.own !== undefined || place.names.length > 0) costly.add(place)
    const { here, named, members } = subschemasOf(schema)
    place.here = here.flatMap((each) => below(place, each))
    place.members = members.filter((each) => each !== propertyNames).flatMap((each) => below(place, each))
    place.nameSchema = below(place, propertyNames)[0]
    for (const [name, each] of named) for (const found of below(place, each)) place.named.set(name, found)
    return place
  }

  function below(user: Place, schema: unknown): readonly Place[] {
    const place = visit(schema)
    if (place === undefined) return []
    users.get(place)!.push(user)
    return [place]
  }

  function priceOf(source: string): Price | undefined {
    const cost = costOf(source)
    if (cost === undefined || cost.cost === 'unsafe') return undefined
    const price = toPrice(cost.curve)
    return price.limit === Infinity ? undefined : price
  }
}

/** A text is too long for its pattern. */
class TooLong extends TooCostly {}

interface Walk {
  /** Where the walk is. */
  readonly path: PropertyKey[]
  /** The parts that were looked at, for places that a part may get to in several ways. */
  readonly seen: Map<Place, Set<object>>
}

function look(walk: Walk, place: Place, part: unknown): void {
  spend(PRICE.node)
  if (typeof part === 'string') {
    if (place.own !== undefined) pay(place.own, part)
    for (const each of place.here) look(walk, each, part)
    return
  }
  if (typeof part !== 'object' || part === null || (place.isShared && wasSeen(walk, place, part))) return
  for (const each of place.here) look(walk, each, part)
  if (Array.isArray(part)) lookAtItems(walk, place, part)
  else lookAtMembers(walk, place, part as Readonly<Record<string, unknown>>)
}

function wasSeen({ seen }: Walk, place: Place, part: object): boolean {
  let parts = seen.get(place)
  if (parts === undefined) seen.set(place, (parts = new Set()))
  if (parts.has(part)) return true
  parts.add(part)
  return false
}

function lookAtItems(walk: Walk, { named, members }: Place, list: readonly unknown[]): void {
  for (const [name, each] of named)
    if (Number(name) < list.length) step(walk, each, list[Number(name)], Number(name))
  for (const each of members) for (let at = 0; at < list.length; at++) step(walk, each, list[at], at)
}

function lookAtMembers(
  walk: Walk,
  { named, members, names, nameSchema }: Place,
  object: Readonly<Record<string, unknown>>,
): void {
  for (const [name, each] of named) if (Object.hasOwn(object, name)) step(walk, each, object[name], name)
  if (members.length === 0 && names.length === 0 && nameSchema === undefined) return
  for (const [name, member] of entriesOf(object)) {
    spend(PRICE.name)
    for (const price of names) pay(price, name)
    if (nameSchema !== undefined) step(walk, nameSchema, name, name)
    for (const each of members) step(walk, each, member, name)
  }
}

function step(walk: Walk, place: Place, part: unknown, name: PropertyKey): void {
  walk.path.push(name)
  look(walk, place, part)
  walk.path.pop()
}

function pay({ limit, pay: count }: Price, text: string): void {
  if (text.length > limit) throw new TooLong(`must have at most ${limit} characters`)
  count(text.length)
}
