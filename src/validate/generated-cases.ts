import { sizeProblem, type PatternTime } from '../schema/peer-size.ts'
import { toPeerChecker, type Checker } from '../schema/raw-checker.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { workDone } from '../schema/work.ts'
import { boundsOf, countOf } from './sample-scalars.ts'
import { namesIn, Sampler, sampleOf, Unmade, WAYS } from './sample.ts'
import { isObject } from './message.ts'
import { RUN_TIME } from './tool-schema.ts'

type Schema = Readonly<Record<string, unknown>>
type Input = Readonly<Record<string, unknown>>

/** A case that was made from the schema of a tool. */
export interface GeneratedCase {
  readonly name: string
  readonly input: Input
  /** Whether the schema rejects it. Others must be answered, well or with an error of the tool itself. */
  readonly isWrong: boolean
}

/** The cases for a tool. */
export interface GeneratedCases {
  readonly cases: readonly GeneratedCase[]
  /** How many inputs that fit could not be made: what was tried did not fit, or was too large. */
  readonly dropped: number
  /** Why there are no cases: the schema cannot be checked. */
  readonly problem?: string | undefined
}

/** The most cases for one tool. */
const MOST = 100
/** The most work of the engine for all cases of one tool, in its units: less than a second. */
const MOST_WORK = 2 ** 26
/** The most items of a list that has too many. */
const MOST_ITEMS = 1000
/** The longest text that is too long. */
const LONGEST = 100_000

/**
 * Cases for a tool from the schema of its input: a smallest and a full input that fit, each required member left out, each member with
 * a wrong type, beyond each bound, and a member too many. The schema engine decides which inputs fit.
 */
export function generateCases(schema: Schema): GeneratedCases {
  const checker = checkerOf(schema)
  if (typeof checker === 'string') return { cases: [], dropped: 0, problem: checker }
  const judge = new Judge(checker)
  const cases: GeneratedCase[] = []
  let dropped = 0
  const full = fittingInput(schema, judge, (sampler, flat) => sampler.membersOf(flat, 0))
  const least = fittingInput(schema, judge, requiredMembers)
  for (const [name, found] of [
    ['the least that it needs', least],
    ['everything that it takes', full],
  ] as const) {
    if (found === undefined) dropped++
    else cases.push({ name, input: found.input, isWrong: false })
  }
  const base = full ?? least
  if (base !== undefined)
    for (const [name, inputs] of wrongInputs(base)) {
      if (cases.length >= MOST || judge.isTired) break
      const input = inputs.find((one) => judge.fits(one) === false)
      if (input !== undefined) cases.push({ name, input, isWrong: true })
    }
  return { cases, dropped }
}

/** An input that fits the schema of a tool, or the best guess if none can be made. */
export function inputFor(schema: Schema): Input {
  const checker = checkerOf(schema, RUN_TIME)
  if (typeof checker !== 'string') {
    const found = fittingInput(schema, new Judge(checker), requiredMembers)
    if (found !== undefined) return found.input
  }
  const guess = sampleOf(schema)
  return isObject(guess) ? guess : {}
}

/** The checker of a schema, or why it cannot be checked. */
function checkerOf(schema: Schema, time?: PatternTime): Checker | string {
  try {
    return sizeProblem(schema, time) ?? toPeerChecker(schema, 'input')
  } catch (error) {
    // A schema that is nested very deep overflows the stack.
    return error instanceof SchemaError ? error.message : 'the schema is nested too deep'
  }
}

/** Says which inputs fit, until that has taken too much work. */
class Judge {
  readonly #checker: Checker
  #work = 0

  constructor(checker: Checker) {
    this.#checker = checker
  }

  get isTired(): boolean {
    return this.#work > MOST_WORK
  }

  /** Whether an input fits; undefined if that cannot be decided. */
  fits(input: Input): boolean | undefined {
    if (this.isTired) return undefined
    try {
      const checked = this.#checker.check(input)
      // Raw schemas are checked synchronously.
      if (checked instanceof Promise) return undefined
      return checked.ok || (checked.undecided === true ? undefined : false)
    } catch {
      // Recursive references can overflow the stack.
      return undefined
    } finally {
      this.#work += workDone()
    }
  }
}

/** An input that fits, and the schema of its kind without references and alternatives. */
interface Fitting {
  readonly input: Input
  readonly flat: Schema
  /** The schema of a member in the same way; undefined if none can be made. */
  readonly flatten: (schema: unknown) => Schema | undefined
}

function fittingInput(
  schema: Schema,
  judge: Judge,
  make: (sampler: Sampler, flat: Schema) => Iterable<readonly [name: string, value: unknown]>,
): Fitting | undefined {
  for (let way = 0; way < WAYS; way++) {
    const flatten = (one: unknown): Schema | undefined =>
      unlessUnmade(() => new Sampler(schema, way).flatten(one, 0))
    const found = unlessUnmade(() => {
      const sampler = new Sampler(schema, way)
      const flat = sampler.flatten(schema, 0)
      return { input: Object.fromEntries(make(sampler, flat)), flat, flatten }
    })
    if (found !== undefined && judge.fits(found.input) === true) return found
  }
  return undefined
}

/** The members that an input needs. They come first. */
function* requiredMembers(sampler: Sampler, flat: Schema): Generator<readonly [string, unknown]> {
  const required = new Set(namesIn(flat['required']))
  for (const member of sampler.membersOf(flat, 0)) {
    if (!required.has(member[0])) return
    yield member
  }
}

function unlessUnmade<Out>(make: () => Out): Out | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof Unmade) return undefined
    throw error
  }
}

/** Inputs of which one is probably wrong, for each thing that can be wrong. */
function* wrongInputs({
  input: full,
  flat,
  flatten,
}: Fitting): Generator<readonly [name: string, inputs: readonly Input[]]> {
  for (const name of namesIn(flat['required'])) {
    if (!Object.hasOwn(full, name)) continue
    const { [name]: _, ...without } = full
    yield [`without ${name}`, [without]]
  }
  const properties = isObject(flat['properties']) ? flat['properties'] : {}
  for (const [name, schema] of Object.entries(properties)) {
    const member = flatten(schema)
    const right = Object.hasOwn(full, name) ? full[name] : undefined
    for (const [about, values] of member === undefined ? [] : wrongValues(member, right))
      yield [`${name} ${about}`, values.map((value) => ({ ...full, [name]: value }))]
  }
  if (flat['additionalProperties'] === false)
    yield ['a member too many', [{ ...full, 'pierhead-unknown': 1 }]]
}

/** Values that probably do not fit a schema, and what is wrong with each. */
function* wrongValues(
  schema: Schema,
  right: unknown,
): Generator<readonly [about: string, values: readonly unknown[]]> {
  yield ['of another type', typeof right === 'string' ? [7, ...OTHERS] : OTHERS]
  if (typeof right === 'number') {
    if (schema['type'] === 'integer') yield ['with a fraction', [right + 0.5]]
    const { low, high, isLowOut, isHighOut } = boundsOf(schema)
    if (Number.isFinite(low)) yield ['below its minimum', [isLowOut ? low : low - 1]]
    if (Number.isFinite(high)) yield ['above its maximum', [isHighOut ? high : high + 1]]
  }
  if (typeof right === 'string') {
    if (countOf(schema['minLength'], 0) > 0) yield ['too short', ['']]
    const most = countOf(schema['maxLength'], LONGEST)
    if (most < LONGEST) yield ['too long', ['x'.repeat(most + 1)]]
    if (typeof schema['pattern'] === 'string') yield ['outside its pattern', ['\u2020', '', ' x']]
  }
  if (Array.isArray(right)) {
    if (right.length > 0 && countOf(schema['minItems'], 0) > 0) yield ['with too few items', [[]]]
    const most = countOf(schema['maxItems'], MOST_ITEMS)
    if (right.length > 0 && most < MOST_ITEMS)
      yield ['with too many items', [Array.from({ length: most + 1 }, () => right[0] as unknown)]]
  }
  if (Array.isArray(schema['enum'])) yield ['outside its choices', ['pierhead-unknown', -987_654_321]]
}

/** Values of every type. */
const OTHERS: readonly unknown[] = ['text', 7, true, null, [], {}]
