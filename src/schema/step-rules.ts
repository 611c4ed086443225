import { entriesOf, isObject } from './keywords.ts'
import { toResolver } from './reference.ts'
import { toSubschemas, type Schema } from './subschemas.ts'

/** What defaults take: the steps to check them, and their bytes. */
export interface Filled {
  readonly steps: number
  readonly bytes: number
}

/** Alternatives that a member with different constants distinguishes. */
interface Choice {
  readonly name: string
  readonly byValue: ReadonlyMap<unknown, Rules>
  /** The number of alternatives. */
  readonly size: number
}

/** What the check of one part against one schema takes, and which schemas apply there and below. */
export interface Rules {
  /** The steps for every part. */
  readonly base: number
  /** The further steps for an object or list, whatever is in it: looking for the members and items that the schema names. */
  readonly inside: number
  /** All steps for a part that is neither. */
  readonly scalar: number
  readonly here: readonly Rules[]
  readonly choice: Choice | undefined
  readonly named: ReadonlyMap<string, Rules>
  readonly members: readonly Rules[]
  /** The bytes of what the library may put in the place of the part. */
  readonly bytes: number
  /** The defaults of missing members and items, together and for each name. */
  readonly fill: { readonly all: Filled; readonly byName: ReadonlyMap<string, Filled> } | undefined
}

/** What the JSON Schema of a library does not show. */
export interface StepRules {
  /** The keywords whose alternatives the library chooses by a member that distinguishes them, instead of checking all. */
  readonly chosen?: readonly string[]
  /** Whether the library has defaults that its JSON Schema does not show: any optional member may have one. */
  readonly hidesDefaults?: boolean
  /** What such defaults take, by the names of members. */
  readonly hidden?: ReadonlyMap<string, Filled> | undefined
  /** Whether the library remembers how a part compares with alternatives, and does not compare them again. */
  readonly remembers?: boolean
  /** The most characters of a text that the library may parse as a URL; 0 if it parses none. */
  readonly hostChars?: number
  /** The most characters of a text that the library may make a big integer of; 0 if it makes none. */
  readonly digitChars?: number
}

/** Further keywords of a JSON Schema, for what a library does not show: `catch` replaces any part that is not valid, and both replace a missing one. */
export const CATCH = '~catch'
export const DEFAULT = '~default'

/** Whoever catches problems lets the library look for a missing member, and describe that it is missing. */
const MISSING_SHARE = 1 / 4

/** Comparing a part with so many constants takes a step: some libraries search a list for them. */
const CONSTANTS_PER_STEP = 16

const NONE: ReadonlyMap<string, Rules> = new Map()
const PLAIN: Rules = {
  base: 1,
  inside: 0,
  scalar: 1,
  here: [],
  choice: undefined,
  named: NONE,
  members: [],
  bytes: 0,
  fill: undefined,
}

/** Reads what schemas take. `fill` says what a default takes that is checked like a part that was sent. */
export function toRules(
  root: unknown,
  { chosen = [], hidesDefaults = false, hidden }: StepRules,
  fill: (rules: Rules, value: unknown) => Filled,
): (schema: unknown) => Rules {
  /** By the steps for a problem that is caught. */
  const known = new Map<number, Map<Schema, OwnRules>>()
  const subschemasOf = toSubschemas(root)
  const resolve = toResolver(root)
  return (schema) => rulesOf(schema, 0)

  /** `caught` is the steps for a problem that is caught, there or above. */
  function rulesOf(schema: unknown, caughtAbove: number): Rules {
    if (!isObject(schema)) return PLAIN
    const caught = Math.max(caughtAbove, filledIn(schema, CATCH).steps)
    let all = known.get(caught)
    if (all === undefined) known.set(caught, (all = new Map()))
    let rules = all.get(schema)
    if (rules === undefined) {
      all.set(schema, (rules = new OwnRules(schema, caught)))
      read(rules, schema, caught)
    }
    return rules
  }

  function read(rules: OwnRules, schema: Schema, caught: number): void {
    const toBelow = (each: unknown): Rules => rulesOf(each, caught)
    const keyword = chosen.find((each) => Array.isArray(schema[each]))
    const alternatives = keyword === undefined ? [] : (schema[keyword] as readonly unknown[])
    rules.choice = toChoice(alternatives, toBelow)
    const { here, named, members } = subschemasOf(schema)
    rules.here = here
      .filter((each) => rules.choice === undefined || !alternatives.includes(each))
      .map(toBelow)
    if (named.size > 0) rules.named = new Map([...named].map(([name, each]) => [name, toBelow(each)]))
    rules.members = members.map(toBelow)
    rules.fills = () => fillOf(schema, rules)
  }

  function toChoice(
    alternatives: readonly unknown[],
    toBelow: (schema: unknown) => Rules,
  ): Choice | undefined {
    const targets = alternatives.map(targetOf)
    const [first] = targets
    if (targets.length < 2 || !isObject(first?.['properties'])) return undefined
    for (const name of Object.keys(first['properties'])) {
      const values = targets.map((each) => constantsOf(each, name))
      const all = values.flat()
      if (values.some(({ length }) => length === 0) || new Set(all).size < all.length) continue
      const byValue = values.flatMap((each, at) =>
        each.map((value) => [value, toBelow(alternatives[at])] as const),
      )
      return { name, byValue: new Map(byValue), size: targets.length }
    }
    return undefined
  }

  /** The schema that a reference leads to, if it says nothing else. */
  function targetOf(schema: unknown): Schema | undefined {
    let target = schema
    for (let hops = 0; hops < 8 && isObject(target) && typeof target['$ref'] === 'string'; hops++)
      target = resolve(target['$ref'])
    return isObject(target) ? target : undefined
  }

  function fillOf({ properties, required, prefixItems }: Schema, rules: OwnRules): Rules['fill'] {
    const needed = new Set(Array.isArray(required) ? (required as unknown[]) : [])
    const byName = new Map<string, Filled>()
    for (const [name, sub] of [...entriesOf(properties ?? {}), ...entriesOf(prefixItems ?? {})]) {
      const target = isObject(sub) && FILLING.some((keyword) => keyword in sub) ? sub : targetOf(sub)
      const added = target === undefined ? undefined : addedBy(target)
      if (added !== undefined) byName.set(name, asMember(added))
      else if (target !== undefined && 'default' in target)
        byName.set(name, fill(rules.named.get(name)!, target['default']))
      else if (hidesDefaults && !needed.has(name)) byName.set(name, asMember(hidden?.get(name) ?? HIDDEN))
    }
    if (byName.size === 0) return undefined
    let [steps, bytes] = [0, 0]
    for (const each of byName.values()) {
      steps += each.steps
      bytes += each.bytes
    }
    return { all: { steps, bytes }, byName }
  }
}

/** The keywords of a value for a missing member. */
const FILLING = ['default', DEFAULT, CATCH] as const

/** What a library adds, according to a keyword of ours. */
function filledIn(schema: Schema, keyword: typeof CATCH | typeof DEFAULT): Filled {
  return (schema[keyword] as Filled | undefined) ?? { steps: 0, bytes: 0 }
}

/** What a library puts in the place of a missing member without checking it; undefined if the JSON Schema shows the value. */
function addedBy(schema: Schema): Filled | undefined {
  const added = filledIn(schema, DEFAULT)
  if (!(CATCH in schema)) return 'default' in schema || !(DEFAULT in schema) ? undefined : added
  const caught = filledIn(schema, CATCH)
  return { steps: 1 + caught.steps + added.steps, bytes: caught.bytes + added.bytes }
}

/** The bytes of a member, without its value. */
export const MEMBER = 48

function asMember({ steps, bytes }: Filled): Filled {
  return { steps, bytes: MEMBER + bytes }
}

/** A default that is not shown counts as an empty list. */
const HIDDEN: Filled = { steps: 1, bytes: 64 }

/** The constants that a member must be one of; none if it may be something else, or missing. */
function constantsOf(schema: Schema | undefined, name: string): readonly unknown[] {
  const { properties, required } = schema ?? {}
  if (!isObject(properties) || !Array.isArray(required) || !required.includes(name)) return []
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(member)) return []
  if ('const' in member) return [member['const']]
  return Array.isArray(member['enum']) ? (member['enum'] as unknown[]) : []
}

/** Mutable while it is read, because a schema may contain itself. What takes longer is found when it is first needed. */
class OwnRules implements Rules {
  readonly base: number
  readonly inside: number
  readonly bytes: number
  here: readonly Rules[] = []
  choice: Choice | undefined
  named: ReadonlyMap<string, Rules> = NONE
  members: readonly Rules[] = []
  fills: (() => Rules['fill']) | undefined
  #fill: Rules['fill']
  #scalar: number | undefined

  constructor(schema: Schema, caught: number) {
    const { enum: values, properties, required, propertyNames, prefixItems } = schema
    this.base = 1 + caught + Math.floor(lengthOf(values) / CONSTANTS_PER_STEP)
    this.bytes = filledIn(schema, CATCH).bytes
    // A library looks for every name of an enum in a record, and makes a problem for each that is missing.
    const names = isObject(propertyNames) ? lengthOf(propertyNames['enum']) : 0
    // Some libraries look for members in lists, too.
    const missing = 1 + caught * MISSING_SHARE
    this.inside = lengthOf(properties) + missing * lengthOf(required) + 2 * names + lengthOf(prefixItems)
  }

  get scalar(): number {
    if (this.#scalar !== undefined) return this.#scalar
    // Met again while it is counted, it applies to the same part forever.
    this.#scalar = Infinity
    let steps = this.base + (this.choice?.size ?? 0)
    for (const each of this.here) steps += each.scalar
    return (this.#scalar = steps)
  }

  get fill(): Rules['fill'] {
    const { fills } = this
    if (fills !== undefined) {
      // A default that contains itself is filled once.
      this.fills = undefined
      this.#fill = fills()
    }
    return this.#fill
  }
}

function lengthOf(list: unknown): number {
  return typeof list === 'object' && list !== null ? Object.keys(list).length : 0
}
