import { entriesOf, isObject, KEYWORDS, type Shape } from '../schema/keywords.ts'
import { provePattern } from '../schema/pattern.ts'
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

/**
 * Whether a value can be checked against a schema in bounded time. A hostile server may send a schema whose check never
 * ends, so the steps are counted first. Counting itself is bounded too: whatever it reads more than once costs a step.
 */
export function isAffordable(root: Schema, value: unknown): boolean {
  try {
    new CostCounter(root).count(root, value)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
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

class CostCounter {
  readonly #resolve: Resolve
  readonly #targets = new Map<string, { readonly schema: unknown; readonly costs: Map<unknown, number> }>()
  readonly #rules = new Map<object, readonly Rule[]>()
  readonly #names = new Map<object, readonly string[]>()
  readonly #weights = new Map<object, number>()
  #stepsLeft = MAX_STEPS
  #visitsLeft = MAX_VISITS

  constructor(root: Schema) {
    this.#resolve = toResolver(root)
  }

  /** Counts the steps of a check. Throws a RangeError as soon as there are too many. */
  count(schema: unknown, value: unknown): void {
    if (this.#visitsLeft-- <= 0) throw new RangeError('too many visits')
    this.#spend(1)
    if (!isObject(schema)) return
    for (const rule of this.#rulesOf(schema)) this.#rule(rule, value)
  }

  #spend(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw new RangeError('too many steps')
  }

  #rulesOf(schema: Schema): readonly Rule[] {
    let rules = this.#rules.get(schema)
    if (rules === undefined) this.#rules.set(schema, (rules = rulesOf(schema)))
    return rules
  }

  /** Steps are counted once for each pair of a referenced schema and a part of the value, then only added. */
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
    target.costs.set(key, before - this.#stepsLeft)
  }

  #rule(rule: Rule, value: unknown): void {
    const { keyword, detail, parts, size } = rule
    if (keyword === '$ref' || keyword === '$dynamicRef') return this.#reference(String(detail), value)
    if (keyword === 'enum' || keyword === 'const') return this.#spend(size * this.#size(value))
    if (KEYWORDS.get(keyword)?.inPlace === true) {
      this.#spend(size - parts.size)
      for (const part of parts.values()) this.count(part, value)
    } else if (typeof value === 'string') this.#spend(stringCost(keyword, detail, value))
    else if (Array.isArray(value)) this.#list(rule, value)
    else if (isObject(value)) this.#members(rule, value)
  }

  #list({ keyword, detail, parts, size }: Rule, value: readonly unknown[]): void {
    if (keyword === 'uniqueItems') this.#spend(this.#size(value) * HASH_COST)
    else if (keyword === 'prefixItems' || (keyword === 'items' && Array.isArray(detail))) {
      this.#spend(size)
      const end = Math.min(size, value.length)
      for (let at = 0; at < end; at++) this.count(parts.get(String(at)), value[at])
    } else if (ITEMS.has(keyword)) for (const item of value) this.count(detail, item)
  }

  #members({ keyword, detail, parts, size }: Rule, value: Schema): void {
    let names = this.#names.get(value)
    if (names === undefined) this.#names.set(value, (names = Object.keys(value)))
    switch (keyword) {
      case 'properties':
        this.#spend(size + names.length)
        for (const name of names) if (parts.has(name)) this.count(parts.get(name), value[name])
        return
      case 'patternProperties':
        for (const [pattern, part] of parts)
          for (const name of names) {
            this.#spend(patternCost(pattern, name))
            this.count(part, value[name])
          }
        return
      case 'propertyNames':
        for (const name of names) this.count(detail, name)
        return
      case 'additionalProperties':
      case 'unevaluatedProperties':
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
      this.#weights.set(value, size)
    }
    return size
  }
}

function rulesOf(schema: Schema): readonly Rule[] {
  return Object.entries(schema)
    .filter(([keyword]) => isChecked(keyword))
    .map(([keyword, detail]) => {
      const parts = partsOf(KEYWORDS.get(keyword)?.shape, detail)
      return { keyword, detail, parts, size: sizeOf(schema, keyword, detail) }
    })
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

function isChecked(keyword: string): boolean {
  const row = KEYWORDS.get(keyword)
  return keyword === 'const' || (row !== undefined && row.note !== true)
}

const ITEMS: ReadonlySet<string> = new Set(['items', 'additionalItems', 'unevaluatedItems', 'contains'])

/** The cost depends on the identity of lists and objects and on the length of strings, not on other values. */
function keyOf(value: unknown): unknown {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' ? value : undefined
}

function stringCost(keyword: string, detail: unknown, value: string): number {
  if (keyword === 'minLength' || keyword === 'maxLength') return value.length
  if (keyword !== 'pattern' || typeof detail !== 'string') return 0
  return patternCost(detail, value)
}

function patternCost(pattern: string, text: string): number {
  const verdict = provePattern(pattern)
  return verdict.cost === 'unsafe' ? 1 : 1 + verdict.curve.steps(text.length) / STEPS_OF_PATTERN
}
