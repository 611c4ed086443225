import { entriesOf, isObject, KEYWORDS, type Shape } from '../schema/keywords.ts'
import { provePattern, type PatternCost } from '../schema/pattern.ts'
import { toResolver, type Resolve } from '../schema/reference.ts'
import { weigh } from '../base/weight.ts'

type Schema = Readonly<Record<string, unknown>>

const MAX_STEPS = 5_000_000
const MAX_VISITS = 2_000_000
/** How many times more hashing costs than comparing. */
const HASH_COST = 20
/** How many steps of a pattern's matcher take as long as one of these. */
const STEPS_OF_PATTERN = 8
/** How many bytes of a value are compared in one step. */
const BYTES_PER_STEP = 4
/** How many characters are compared in a step. */
const CHARS_OF_STEP = 64

/** Engines keep the members of an object with more than so many in a table, and take so many steps to read each name from it. */
const LARGE = 1024
const STEPS_OF_NAME = 3
/** Costs and names below this are found again each time, which is faster than to look them up in a table of all parts of a value. */
const FEW = 64

/** Whether a value can be checked against a schema in bounded time. */
export type Affordable = (value: unknown) => boolean

/**
 * Prepares to tell whether values can be checked. A hostile server may send a schema whose check never ends, so the steps are
 * counted first. Counting itself is bounded too: whatever it reads more than once, and every keyword for a value, costs a step.
 */
export function toAffordable(root: Schema): Affordable {
  // Proofs of patterns are cached, but the patterns of other tools may replace them there.
  const patterns = new Map<string, PatternCost>()
  return (value) => {
    try {
      new CostCounter(root, patterns).count(root, value)
      return true
    } catch (error) {
      if (error instanceof RangeError) return false
      throw error
    }
  }
}

/** A keyword of a schema, prepared for all the values that it is counted for. */
interface Rule {
  readonly keyword: string
  readonly detail: unknown
  /** The subschemas, by name or index. */
  readonly parts: ReadonlyMap<string, unknown>
  /** How many subschemas or names there are. */
  readonly size: number
}

/** The keywords of a schema that cost something, by the type of the values that they apply to. */
interface Rules {
  readonly any: readonly Rule[]
  readonly text: readonly Rule[]
  readonly list: readonly Rule[]
  readonly object: readonly Rule[]
}

class CostCounter {
  readonly #resolve: Resolve
  readonly #patterns: Map<string, PatternCost>
  readonly #targets = new Map<string, { readonly schema: unknown; readonly costs: Map<unknown, number> }>()
  readonly #rules = new Map<object, Rules>()
  readonly #names = new Map<object, readonly string[]>()
  readonly #weights = new Map<object, number>()
  #stepsLeft = MAX_STEPS
  #visitsLeft = MAX_VISITS

  constructor(root: Schema, patterns: Map<string, PatternCost>) {
    this.#resolve = toResolver(root)
    this.#patterns = patterns
  }

  /** Counts the steps of a check. Throws a RangeError as soon as there are too many. */
  count(schema: unknown, value: unknown): void {
    if (this.#visitsLeft-- <= 0) throw new RangeError('too many visits')
    if (!isObject(schema)) return this.#spend(1)
    let rules = this.#rules.get(schema)
    if (rules === undefined) this.#rules.set(schema, (rules = rulesOf(schema)))
    const { any, text, list, object } = rules
    this.#spend(1 + any.length)
    for (const rule of any) this.#inPlace(rule, value)
    if (typeof value === 'string') {
      this.#spend(text.length)
      for (const rule of text) this.#text(rule, value)
    } else if (Array.isArray(value)) {
      this.#spend(list.length)
      for (const rule of list) this.#list(rule, value)
    } else if (isObject(value) && object.length > 0) {
      this.#spend(object.length)
      const names = this.#namesOf(value)
      if (names.length >= LARGE) this.#spend(names.length * STEPS_OF_NAME)
      for (const rule of object) this.#members(rule, value, names)
    }
  }

  #spend(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw new RangeError('too many steps')
  }

  /** Steps are counted once for each pair of a referenced schema and a large part of the value, then only added. */
  #reference(reference: string, value: unknown): void {
    let target = this.#targets.get(reference)
    if (target === undefined) {
      target = { schema: this.#resolve(reference), costs: new Map() }
      this.#targets.set(reference, target)
    }
    const key = keyOf(value)
    const known = target.costs.get(key)
    if (known !== undefined) return this.#spend(known)
    const before = this.#stepsLeft
    this.count(target.schema, value)
    const cost = before - this.#stepsLeft
    if (cost >= FEW) target.costs.set(key, cost)
  }

  #inPlace({ keyword, detail, parts, size }: Rule, value: unknown): void {
    if (keyword === '$ref' || keyword === '$dynamicRef') return this.#reference(String(detail), value)
    if (keyword === 'enum' || keyword === 'const') return this.#spend(size * this.#size(value))
    this.#spend(size - parts.size)
    for (const part of parts.values()) this.count(part, value)
  }

  #text({ keyword, detail }: Rule, value: string): void {
    if (keyword === 'pattern') this.#spend(patternCost(this.#proof(String(detail)), value))
    else this.#spend(value.length)
  }

  #list({ keyword, detail, parts, size }: Rule, value: readonly unknown[]): void {
    if (keyword === 'uniqueItems') this.#spend(this.#size(value) * HASH_COST)
    else if (keyword === 'prefixItems' || Array.isArray(detail)) {
      this.#spend(size)
      const end = Math.min(size, value.length)
      for (let at = 0; at < end; at++) this.count(parts.get(String(at)), value[at])
    } else for (const item of value) this.count(detail, item)
  }

  /** The names of an object's members. */
  #namesOf(value: Schema): readonly string[] {
    const known = this.#names.get(value)
    if (known !== undefined) return known
    const names = Object.keys(value)
    if (names.length >= FEW) this.#names.set(value, names)
    else this.#spend(names.length)
    return names
  }

  #members({ keyword, detail, parts, size }: Rule, value: Schema, names: readonly string[]): void {
    switch (keyword) {
      case 'properties':
        this.#spend(size + names.length)
        for (const name of names) if (parts.has(name)) this.count(parts.get(name), value[name])
        return
      case 'patternProperties':
        for (const [pattern, part] of parts) {
          const proof = this.#proof(pattern)
          for (const name of names) {
            this.#spend(patternCost(proof, name))
            this.count(part, value[name])
          }
        }
        return
      case 'propertyNames':
        for (const name of names) this.count(detail, name)
        return
      case 'additionalProperties':
      case 'unevaluatedProperties':
        if (keyword === 'unevaluatedProperties' && names.length >= LARGE)
          this.#spend(names.length * HASH_COST)
        this.#spend(names.length * size)
        for (const name of names) this.count(detail, value[name])
        return
      case 'required':
      case 'dependentRequired':
        return this.#spend(size)
      case 'minProperties':
      case 'maxProperties':
        return this.#spend(names.length)
    }
  }

  /** The cost of comparing or hashing a value. */
  #size(value: unknown): number {
    if (typeof value === 'string') return 1 + value.length / CHARS_OF_STEP
    if (typeof value !== 'object' || value === null) return 1
    let size = this.#weights.get(value)
    if (size === undefined) {
      size = weigh(value, BYTES_PER_STEP * (this.#stepsLeft + 1)) / BYTES_PER_STEP
      if (size >= FEW) this.#weights.set(value, size)
    }
    return size
  }

  #proof(pattern: string): PatternCost {
    let proof = this.#patterns.get(pattern)
    if (proof === undefined) this.#patterns.set(pattern, (proof = provePattern(pattern)))
    return proof
  }
}

function rulesOf(schema: Schema): Rules {
  const rules = { any: [] as Rule[], text: [] as Rule[], list: [] as Rule[], object: [] as Rule[] }
  for (const [keyword, detail] of Object.entries(schema)) {
    const type = typeOf(keyword)
    if (type === undefined) continue
    const parts = partsOf(KEYWORDS.get(keyword)?.shape, detail)
    rules[type].push({ keyword, detail, parts, size: sizeOf(schema, keyword, detail) })
  }
  return rules
}

/** The type of the values that a keyword costs something for. */
function typeOf(keyword: string): keyof Rules | undefined {
  const row = KEYWORDS.get(keyword)
  if (row?.inPlace === true || /^(\$ref|\$dynamicRef|enum|const)$/.test(keyword)) return 'any'
  if (row === undefined || row.note === true) return undefined
  if (/^pattern$|Length$/.test(keyword)) return 'text'
  // The numbers of items and of matches take no time.
  if (/^contains$|^(?!m).*items$/i.test(keyword)) return 'list'
  return /propert|required$/i.test(keyword) ? 'object' : undefined
}

function partsOf(shape: Shape | undefined, detail: unknown): ReadonlyMap<string, unknown> {
  if (shape === 'schema' && !Array.isArray(detail)) return new Map([['', detail]])
  if (shape !== 'schema' && shape !== 'schemas' && shape !== 'named' && shape !== 'either') return NO_PARTS
  const parts = new Map(entriesOf(detail))
  if (shape === 'either') for (const [name, part] of parts) if (Array.isArray(part)) parts.delete(name)
  return parts
}

const NO_PARTS: ReadonlyMap<string, unknown> = new Map()

/** How many subschemas, values or names a keyword has; for other members, how many names they are compared with. */
function sizeOf(schema: Schema, keyword: string, detail: unknown): number {
  if (keyword === 'const') return 1
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
    return Object.keys((schema['properties'] ?? {}) as Schema).length
  if (typeof detail !== 'object' || detail === null) return 1
  const items = Object.values(detail)
  const shape = KEYWORDS.get(keyword)?.shape
  if (shape !== 'names' && shape !== 'either')
    return shape === 'schema' && !Array.isArray(detail) ? 1 : items.length
  return items.reduce<number>((sum, item) => sum + 1 + (Array.isArray(item) ? item.length : 0), 0)
}

/** The cost depends on the identity of lists and objects and on the length of strings, not on other values. */
function keyOf(value: unknown): unknown {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' ? value : undefined
}

function patternCost(proof: PatternCost, text: string): number {
  return proof.cost === 'unsafe' ? 1 : 1 + proof.curve.steps(text.length) / STEPS_OF_PATTERN
}
