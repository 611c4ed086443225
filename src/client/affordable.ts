import { isObject, KEYWORDS, subschemasOf } from '../schema/keywords.ts'
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
 * ends, so the steps are counted first. The result is cached for each pair of a referenced schema and a part of the
 * value.
 */
export function isAffordable(root: Schema, value: unknown): boolean {
  try {
    return new CostCounter(root).cost(root, value) <= MAX_STEPS
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

class CostCounter {
  readonly #resolve: Resolve
  readonly #targets = new Map<string, { readonly schema: unknown; readonly costs: Map<unknown, number> }>()
  readonly #entries = new Map<object, readonly (readonly [string, unknown])[]>()
  readonly #names = new Map<object, readonly string[]>()
  readonly #weights = new Map<object, number>()
  #visitsLeft = MAX_VISITS

  constructor(root: Schema) {
    this.#resolve = toResolver(root)
  }

  /** An upper bound on the steps of a check. Throws a RangeError if counting itself takes too many. */
  cost(schema: unknown, value: unknown): number {
    if (this.#visitsLeft-- <= 0) throw new RangeError('too many steps')
    if (!isObject(schema)) return 1
    let entries = this.#entries.get(schema)
    if (entries === undefined)
      this.#entries.set(schema, (entries = Object.entries(schema).filter(([keyword]) => isChecked(keyword))))
    let sum = 1
    for (const [keyword, detail] of entries) {
      sum += this.#keyword(schema, keyword, detail, value)
      if (sum > MAX_STEPS) throw new RangeError('too many steps')
    }
    return sum
  }

  #reference(reference: string, value: unknown): number {
    let target = this.#targets.get(reference)
    if (target === undefined) {
      target = { schema: this.#resolve(reference), costs: new Map() }
      this.#targets.set(reference, target)
    }
    const key = keyOf(value)
    const cost = target.costs.get(key) ?? this.cost(target.schema, value)
    target.costs.set(key, cost)
    return cost
  }

  #keyword(schema: Schema, keyword: string, detail: unknown, value: unknown): number {
    switch (keyword) {
      case '$ref':
      case '$dynamicRef':
        return this.#reference(String(detail), value)
      case 'enum':
        return Array.isArray(detail) ? detail.length * this.#size(value) : 0
      case 'const':
        return this.#size(value)
    }
    const row = KEYWORDS.get(keyword)
    if (row?.inPlace === true)
      return (
        (row.shape === 'either' ? lengthsOf(detail) : 0) + this.#each(subschemasOf(row.shape, detail), value)
      )
    if (typeof value === 'string') return stringCost(keyword, detail, value)
    if (Array.isArray(value)) return this.#list(keyword, detail, value)
    return isObject(value) ? this.#members(schema, keyword, detail, value) : 0
  }

  #each(schemas: readonly (readonly [string, unknown])[], value: unknown): number {
    return schemas.reduce((sum, [, schema]) => sum + this.cost(schema, value), 0)
  }

  #list(keyword: string, detail: unknown, value: readonly unknown[]): number {
    if (keyword === 'uniqueItems') return this.#size(value) * HASH_COST
    if (keyword === 'prefixItems' || (keyword === 'items' && Array.isArray(detail)))
      return (detail as readonly unknown[]).reduce<number>(
        (sum, schema, at) => sum + (at < value.length ? this.cost(schema, value[at]) : 1),
        0,
      )
    if (!ITEMS.has(keyword)) return 0
    return value.reduce<number>((sum, item) => sum + this.cost(detail, item), 0)
  }

  #members(schema: Schema, keyword: string, detail: unknown, value: Schema): number {
    let names = this.#names.get(value)
    if (names === undefined) this.#names.set(value, (names = Object.keys(value)))
    let sum = 0
    switch (keyword) {
      case 'properties':
        for (const [name, sub] of Object.entries(detail as Schema))
          sum += Object.hasOwn(value, name) ? this.cost(sub, value[name]) : 1
        return sum
      case 'patternProperties':
        for (const [pattern, sub] of Object.entries(detail as Schema))
          for (const name of names) sum += patternCost(pattern, name) + this.cost(sub, value[name])
        return sum
      case 'propertyNames':
        return names.reduce((all, name) => all + this.cost(detail, name), 0)
      case 'additionalProperties':
      case 'unevaluatedProperties':
        sum = names.length * Object.keys((schema['properties'] ?? {}) as Schema).length
        return names.reduce((all, name) => all + this.cost(detail, value[name]), sum)
      case 'required':
        return (detail as readonly unknown[]).length
      case 'minProperties':
      case 'maxProperties':
        return names.length
      case 'dependentRequired':
        return lengthsOf(detail)
      default:
        return 0
    }
  }

  /** The cost of comparing or hashing a value. */
  #size(value: unknown): number {
    if (typeof value === 'string') return 1 + value.length / CHARS_OF_STEP
    if (typeof value !== 'object' || value === null) return 1
    let size = this.#weights.get(value)
    if (size === undefined) this.#weights.set(value, (size = weigh(value) / BYTES_PER_STEP))
    return size
  }
}

function isChecked(keyword: string): boolean {
  const row = KEYWORDS.get(keyword)
  return keyword === 'const' || (row !== undefined && row.note !== true)
}

/** The number of lists in a map, and of names in them. */
function lengthsOf(lists: unknown): number {
  return Object.values(lists as Schema).reduce<number>(
    (sum, list) => sum + 1 + (Array.isArray(list) ? list.length : 0),
    0,
  )
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
