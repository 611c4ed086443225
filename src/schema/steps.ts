import { weigh } from '../base/weight.ts'
import { multiplies } from './recursion.ts'
import { pairsOfHosts } from './text-pairs.ts'
import { MEMBER, toRules, type Filled, type Rules, type StepRules } from './step-rules.ts'

/** What a checker takes that compares every part of a value with every alternative, or more. */
export interface Estimate {
  readonly steps: number
  /** The bytes of memory that defaults add to the value. */
  readonly bytes: number
}

/** Estimates what checks against a schema take. */
export interface Estimator {
  /** Whether one part may be checked against the same subschema many times, so that steps grow faster than a value. */
  readonly multiplies: boolean
  readonly stepsOf: StepsOf
  /** The most steps and bytes for each part of a value, if it is checked against every subschema once; and `widest`, against one of them. */
  readonly perPart: Estimate & { readonly widest: number }
  /** Estimates what a value takes, in no more steps than `most`; the steps are Infinity if there are more. */
  estimate(value: unknown, most: number): Estimate
}

/** Checking so many characters of a text takes about as long as a step. */
const CHARS_PER_STEP = 200

/** How many steps it takes to check a part alone. */
export type StepsOf = (part: unknown) => number

/** A long text takes more steps. If it has at most `hostChars` characters, it may be a URL with a long host, and if it has at most `digitChars`, a big integer. */
function toStepsOf({ hostChars = 0, digitChars = 0 }: StepRules): StepsOf {
  return (part) => {
    if (typeof part !== 'string') return 1
    let steps = 1 + Math.floor(part.length / CHARS_PER_STEP)
    if (part.length >= SHORT && part.length <= digitChars && DIGITS.test(part))
      steps += Math.floor(part.length ** 2 / DIGIT_PAIRS_PER_STEP)
    const mayBeHost = part.length >= SHORT && part.length <= hostChars
    return mayBeHost ? steps + Math.floor(pairsOfHosts(part) / PAIRS_PER_STEP) : steps
  }
}

/** Hosts in shorter texts take no time. */
const SHORT = 64
/** The pairs of characters of a host that a parser of URLs compares in the time of a step. */
const PAIRS_PER_STEP = 128
/** The same for the digits of a big integer, whose message is written. */
const DIGIT_PAIRS_PER_STEP = 32_768
const DIGITS = /^[-+\s\d]/

/** Estimates the steps of checks by a library from the JSON Schema that it shows. */
export function toEstimator(root: unknown, rules: StepRules = {}): Estimator {
  const isMultiple = multiplies(root)
  const { remembers = false } = rules
  const memory = isMultiple ? { remembers } : undefined
  const stepsOf = toStepsOf(rules)
  const rulesOf = toRules(root, rules, (own, value) => {
    const { steps, bytes } = new Counting(Infinity, memory, stepsOf).run(own, value)
    return { steps, bytes: MEMBER + weigh(value) + bytes }
  })
  const own = rulesOf(root)
  return {
    multiplies: isMultiple && !remembers,
    stepsOf,
    perPart: sumOf(own),
    estimate: (value, most) => new Counting(most, memory, stepsOf).run(own, value),
  }
}

/** More members than this are listed once for all schemas that apply to their object. */
const MANY_NAMES = 256

/** Engines find members so many times slower in objects that all have different names. */
const NEW_SHAPE = 4
/** How many kinds of objects an engine remembers at a place. */
const SHAPES = 4

/** Counts the steps of one value. */
class Counting {
  #left: number
  #bytes = 0
  readonly #stepsOf: StepsOf
  /** By schema and part, if a part may be checked against the same schema many times. */
  readonly #known: Map<Rules, Map<object, number>> | undefined
  /** Whether the library takes no further steps for these. */
  readonly #remembers: boolean
  readonly #names = new Map<object, readonly string[]>()
  /** The names of the last objects, by schema. */
  readonly #shapes = new Map<Rules, (readonly string[])[]>()

  constructor(most: number, memory: { readonly remembers: boolean } | undefined, stepsOf: StepsOf) {
    this.#left = most
    this.#stepsOf = stepsOf
    this.#known = memory && new Map()
    this.#remembers = memory?.remembers === true
  }

  run(rules: Rules, value: unknown): Estimate {
    const steps = this.#count(rules, value)
    return { steps: this.#left < 0 ? Infinity : steps, bytes: this.#bytes }
  }

  #count(rules: Rules, part: unknown): number {
    this.#bytes += rules.bytes
    if (typeof part !== 'object' || part === null) {
      const steps = this.#stepsOf(part) * rules.scalar
      this.#left -= steps
      return steps
    }
    if (this.#left < 0) return Infinity
    if (this.#known === undefined || isLeaf(rules)) return this.#countInside(rules, part)
    let counts = this.#known.get(rules)
    if (counts === undefined) this.#known.set(rules, (counts = new Map()))
    const known = counts.get(part)
    if (known !== undefined) return known
    // Marks the part while it is being counted: the check of a part that contains itself never ends.
    counts.set(part, Infinity)
    const steps = this.#countInside(rules, part)
    counts.set(part, this.#remembers ? 0 : steps)
    return steps
  }

  #countInside(rules: Rules, part: object): number {
    const own = rules.base + rules.inside
    this.#left -= own
    let steps = own
    for (const each of rules.here) steps += this.#count(each, part)
    if (rules.choice !== undefined) steps += this.#countChoice(rules.choice, part)
    if (Array.isArray(part)) return steps + this.#countItems(rules, part)
    return rules.named.size === 0 && rules.members.length === 0
      ? steps
      : steps + this.#countMembers(rules, part as Readonly<Record<string, unknown>>)
  }

  /** Of alternatives that a member distinguishes, a library checks only one. */
  #countChoice({ name, byValue, size }: NonNullable<Rules['choice']>, part: object): number {
    this.#left -= size
    const value = Object.hasOwn(part, name) ? (part as Readonly<Record<string, unknown>>)[name] : undefined
    const chosen = byValue.get(value)
    return size + (chosen === undefined ? 0 : this.#count(chosen, part))
  }

  #countItems({ named, members, fill }: Rules, list: readonly unknown[]): number {
    let steps = 0
    for (const each of members)
      for (let at = 0; at < list.length && this.#left >= 0; at++) steps += this.#count(each, list[at])
    if (named.size === 0) return steps
    for (const [name, each] of named)
      if (Number(name) < list.length) steps += this.#count(each, list[Number(name)])
    return fill === undefined ? steps : steps + this.#fill(fill, Object.keys(list))
  }

  #countMembers(rules: Rules, part: Readonly<Record<string, unknown>>): number {
    const { named, members, fill } = rules
    const names = this.#namesOf(part)
    let steps = named.size === 0 || this.#isUsual(rules, names) ? 0 : (NEW_SHAPE - 1) * rules.inside
    this.#left -= steps
    if (members.length === 0 && named.size * 4 < names.length) {
      for (const [name, each] of named) if (Object.hasOwn(part, name)) steps += this.#count(each, part[name])
    } else
      for (const name of names) {
        if (this.#left < 0) break
        const own = named.get(name)
        if (own !== undefined) steps += this.#count(own, part[name])
        for (const each of members) steps += this.#count(each, part[name])
      }
    return steps + this.#fill(fill, names)
  }

  /** Whether an object has the same names as one before it. */
  #isUsual(rules: Rules, names: readonly string[]): boolean {
    if (names.length === 0) return true
    let shapes = this.#shapes.get(rules)
    if (shapes === undefined) this.#shapes.set(rules, (shapes = []))
    const isSame = (shape: readonly string[]): boolean =>
      shape.length === names.length && shape.every((name, at) => name === names[at])
    if (shapes.some(isSame)) return true
    // The oldest is forgotten.
    if (shapes.unshift(names) > SHAPES) shapes.pop()
    return shapes.length === 1
  }

  /** Adds the defaults of all that is not among these names. */
  #fill(fill: Rules['fill'], names: readonly string[]): number {
    if (fill === undefined) return 0
    let { steps, bytes } = fill.all
    for (const name of names) {
      const filled = fill.byName.get(name)
      if (filled === undefined) continue
      steps -= filled.steps
      bytes -= filled.bytes
    }
    this.#left -= steps
    this.#bytes += bytes
    return steps
  }

  /** Of many names, `Object.entries` takes much longer. */
  #namesOf(part: object): readonly string[] {
    const known = this.#names.get(part)
    if (known !== undefined) return known
    const names = Object.keys(part)
    if (names.length > MANY_NAMES) this.#names.set(part, names)
    return names
  }
}

/** Whether nothing more is checked than the part itself, so that counting again takes no longer than remembering. */
function isLeaf({ here, choice, named, members }: Rules): boolean {
  return here.length === 0 && choice === undefined && named.size === 0 && members.length === 0
}

/** What one part takes at most, if it is checked against every schema once; and `widest`, against a single one. */
function sumOf(root: Rules): Estimator['perPart'] {
  const sums = new Map<Rules, Filled>()
  let widest = 0
  return { ...sum(root), widest }

  function sum(rules: Rules): Filled {
    const known = sums.get(rules)
    if (known !== undefined) return known
    // A schema that contains itself counts once.
    sums.set(rules, { steps: 0, bytes: 0 })
    const { base, inside, scalar, choice, fill, here, named, members } = rules
    const own = base + NEW_SHAPE * inside + (choice?.size ?? 0) + (fill?.all.steps ?? 0)
    widest = Math.max(widest, own)
    let steps = Math.max(own, scalar)
    let bytes = rules.bytes + (fill?.all.bytes ?? 0)
    for (const each of [...here, ...(choice?.byValue.values() ?? []), ...named.values(), ...members]) {
      const below = sum(each)
      steps += below.steps
      bytes += below.bytes
    }
    const found = { steps, bytes }
    sums.set(rules, found)
    return found
  }
}
