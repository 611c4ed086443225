import { toResolver, type Resolve } from '../schema/reference.ts'
import { isObject } from './message.ts'
import { countOf, sampleNumber, sampleText, stepOf } from './sample-scalars.ts'

type Schema = Readonly<Record<string, unknown>>

/** No value can be made: none is known that fits, or it would be too large. */
export class Unmade extends Error {}

/** The most values of one sample. A schema counts as one, too, and so do a hundred characters. */
const MOST_VALUES = 10_000
const CHARACTERS = 100
/** So many characters of a pattern count as one, since they must be read. */
const PATTERN_CHARACTERS = 10
/** How deep schemas may be in each other. */
const DEEPEST = 40
/** Deeper than this, members and items are left out if they may be. */
const FULL_DEPTH = 5

/** Ways to make a value. Some fit where others do not. */
export const WAYS = 6
/** From this way on, defaults and examples are not used, */
const PLAIN_WAY = 1
/** and from this one on, no members are added that may be absent. */
const SPARSE_WAY = 3

/** Makes values that fit a schema, as far as its common keywords say. All parts of one value share a budget. */
export class Sampler {
  readonly #resolve: Resolve
  readonly #way: number
  #left = MOST_VALUES

  constructor(root: unknown, way: number = 0) {
    this.#resolve = toResolver(root)
    this.#way = way
  }

  /** A value that fits, of which `index` says how many others are before it in a list. Throws Unmade. */
  valueOf(schema: unknown, depth: number = 0, index: number = 0): unknown {
    const flat = this.flatten(schema, depth)
    const given = this.#given(flat, index)
    if (given !== undefined) {
      this.#spendValue(given[0])
      return given[0]
    }
    const type = this.#typeOf(flat)
    switch (type) {
      case 'string':
        return this.#text(flat, index)
      case 'integer':
      case 'number':
        return sampleNumber(flat, type === 'integer') + index * (stepOf(flat, type === 'integer') ?? 1)
      case 'boolean':
        return index % 2 === 0
      case 'array':
        return this.#listOf(flat, depth)
      case 'object':
        return Object.fromEntries(this.membersOf(flat, depth))
      case 'null':
        return null
      default:
        return this.#text({}, index)
    }
  }

  /** The members of an object that fits: required ones first, then those that may be absent. */
  *membersOf(flat: Schema, depth: number): Generator<readonly [name: string, value: unknown]> {
    const properties = isObject(flat['properties']) ? flat['properties'] : {}
    const needed = namesIn(flat['required'])
    if (needed.length > this.#left) throw new Unmade()
    const required = new Set(needed)
    for (const name of required) {
      const other = flat['additionalProperties'] ?? {}
      yield [name, this.#member(name, Object.hasOwn(properties, name) ? properties[name] : other, depth)]
    }
    if (depth > FULL_DEPTH || this.#way >= SPARSE_WAY) return
    for (const [name, schema] of Object.entries(properties)) {
      if (required.has(name)) continue
      let value: unknown
      try {
        value = this.#member(name, schema, depth)
      } catch (error) {
        // It may be absent, so it is.
        if (error instanceof Unmade && this.#left >= 0) continue
        throw error
      }
      yield [name, value]
    }
  }

  #member(name: string, schema: unknown, depth: number): unknown {
    this.#spend(name.length / CHARACTERS)
    return this.valueOf(schema, depth + 1)
  }

  /** A schema without references and alternatives: one of these is chosen. */
  flatten(schema: unknown, depth: number): Schema {
    this.#spend(1)
    if (depth > DEEPEST || schema === false) throw new Unmade()
    if (!isObject(schema)) return {}
    const { $ref, allOf, anyOf, oneOf, ...own } = schema
    const parts: unknown[] = []
    if (typeof $ref === 'string') parts.push(this.#resolve($ref) ?? false)
    if (Array.isArray(allOf)) parts.push(...(allOf as readonly unknown[]))
    for (const list of [anyOf, oneOf] as readonly unknown[])
      if (Array.isArray(list) && list.length > 0) parts.push((list as unknown[])[this.#way % list.length])
    if (parts.length === 0) return schema
    return parts.reduce<Schema>((whole, part) => this.#merge(whole, this.flatten(part, depth + 1)), own)
  }

  #merge(one: Schema, other: Schema): Schema {
    const [mine, theirs] = [one['properties'], other['properties']].map((all) => (isObject(all) ? all : {}))
    const properties: Record<string, unknown> = { ...theirs }
    for (const [name, schema] of Object.entries(mine ?? {}))
      Object.defineProperty(properties, name, {
        value: Object.hasOwn(properties, name) ? { allOf: [schema, properties[name]] } : schema,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    const required = [...new Set([...namesIn(one['required']), ...namesIn(other['required'])])]
    this.#spend((Object.keys(properties).length + required.length) / 10)
    return {
      ...other,
      ...one,
      ...narrower(one, other, ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'], Math.max),
      ...narrower(one, other, ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'], Math.min),
      ...(other['type'] !== undefined && !isNarrow(one['type']) && { type: other['type'] }),
      properties,
      required,
    }
  }

  /** A value that the schema itself names. */
  #given(schema: Schema, index: number): readonly [unknown] | undefined {
    if ('const' in schema) return [schema['const']]
    const { enum: choices, examples } = schema
    const isFirst = this.#way < PLAIN_WAY
    if (isFirst && index === 0 && 'default' in schema) return [schema['default']]
    if (isFirst && Array.isArray(examples) && index < examples.length) return [examples[index]]
    if (!Array.isArray(choices) || choices.length === 0) return undefined
    return [choices[(this.#way + index) % choices.length]]
  }

  #text(schema: Schema, index: number): string {
    const { pattern } = schema
    if (typeof pattern === 'string') this.#spend(pattern.length / PATTERN_CHARACTERS)
    const text = sampleText(schema)
    if (text === undefined) throw new Unmade()
    this.#spend(text.length / CHARACTERS)
    return index === 0 ? text : `${text}${index}`
  }

  #listOf(schema: Schema, depth: number): readonly unknown[] {
    const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as readonly unknown[]) : []
    const usual = depth > FULL_DEPTH || this.#way >= SPARSE_WAY ? 0 : Math.max(1, first.length)
    const least = countOf(schema['minItems'], usual)
    const count = Math.min(least, countOf(schema['maxItems'], Number.POSITIVE_INFINITY))
    this.#spend(count)
    const isUnique = schema['uniqueItems'] === true
    return Array.from({ length: count }, (_, i) =>
      this.valueOf(
        i < first.length ? first[i] : (schema['items'] ?? schema['contains']),
        depth + 1,
        isUnique ? i : 0,
      ),
    )
  }

  #typeOf(schema: Schema): string | undefined {
    const { type } = schema
    if (typeof type === 'string') return type
    if (Array.isArray(type)) {
      const types = type.filter((one): one is string => typeof one === 'string' && one !== 'null')
      return types[this.#way % types.length] ?? 'null'
    }
    if (isObject(schema['properties']) && Object.keys(schema['properties']).length > 0) return 'object'
    return isObject(schema['items']) ? 'array' : undefined
  }

  /** Counts a value that is copied from the schema, as often as it is in the sample. */
  #spendValue(value: unknown): void {
    this.#spend(typeof value === 'string' ? 1 + value.length / CHARACTERS : 1)
    if (typeof value !== 'object' || value === null) return
    for (const [name, part] of Object.entries(value)) {
      this.#spend(name.length / CHARACTERS)
      this.#spendValue(part)
    }
  }

  #spend(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new Unmade()
  }
}

/** A value for a schema: one that fits as far as its keywords say, or nothing much if none can be made. */
export function sampleOf(schema: Schema): unknown {
  for (let way = 0; way < WAYS; way++) {
    try {
      return new Sampler(schema, way).valueOf(schema)
    } catch (error) {
      if (!(error instanceof Unmade)) throw error
    }
  }
  return {}
}

export function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

/** The bounds that both schemas have, as the narrower of the two. */
function narrower(
  one: Schema,
  other: Schema,
  keywords: readonly string[],
  choose: (a: number, b: number) => number,
): Schema {
  return Object.fromEntries(
    keywords.flatMap((keyword) => {
      const [a, b] = [one[keyword], other[keyword]]
      return typeof a === 'number' && typeof b === 'number' ? [[keyword, choose(a, b)] as const] : []
    }),
  )
}

/** Whether a type cannot become narrower by another. */
function isNarrow(type: unknown): boolean {
  return typeof type === 'string' && type !== 'number'
}
