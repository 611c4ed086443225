import { arktypeProblem } from './arktype-problem.ts'
import { Counter } from './counting.ts'
import { hiddenOf } from './hidden.ts'
import { hidesParts } from './hiding.ts'
import type { SchemaLimits } from './inspect.ts'
import { MAX_ISSUES, type Issue } from './issue.ts'
import { rejectHidden } from './library-patterns.ts'
import { isSlowToMerge, mergesOf, stepRulesOf } from './merges.ts'
import { limitSteps, type Validate } from './meter.ts'
import { endOfTurn, inTurn } from '../base/turn.ts'
import { isLarge, LARGE, partsIn, Pieces, sizesFor, type Sizes } from './pieces.ts'
import { toPlace, type Place } from './place.ts'
import { findReferences, multiplies } from './recursion.ts'
import { toCounting, toRemembering } from './remembering.ts'
import { rawChecker, toFit, unfit, type Checked, type Checker } from './raw-checker.ts'
import type {
  AnySchema,
  JsonSchema,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './schema.ts'
import { isStandard, toShown, type Use } from './shown.ts'
import { readsItself, textsOf } from './texts.ts'
import { copyBytes, isCostlyCopy } from './copies.ts'
import { Cost } from './cost.ts'
import { TOO_LONG, TooCostly } from './work.ts'

export type { Checked, Checker, Unfit } from './raw-checker.ts'

/** Compiles a schema, once per use and limits; throws a SchemaError if the schema is unusable. */
export function toChecker<const S extends AnySchema>(
  schema: S,
  use: Use,
  limits?: SchemaLimits,
): Checker<OutputOf<S>> {
  const made = madeFor(limits)[use]
  const known = made.get(schema)
  if (known !== undefined) return known as Checker<OutputOf<S>>
  const json = toShown(schema, use, limits)
  const checker = isStandard(schema) ? standardChecker(schema, use, json, limits) : rawChecker(json)
  made.set(schema, checker)
  return checker as Checker<OutputOf<S>>
}

type Made = { readonly [Side in Use]: WeakMap<object, Checker> }

const MADE = new Map<string, Made>()

function madeFor(limits: SchemaLimits | undefined): Made {
  const key = limits === undefined ? '' : `${limits.schemaDepth} ${limits.subschemas} ${limits.parsedText}`
  let made = MADE.get(key)
  if (made === undefined) MADE.set(key, (made = { input: new WeakMap(), output: new WeakMap() }))
  return made
}

type Result = StandardResult<unknown>

/**
 * The checker of a schema of a library. Libraries collect every problem of a value, however many there are, so a large value
 * is checked in pieces first. The check ends there if the pieces have more problems than any small value.
 */
function standardChecker(
  schema: StandardSchema,
  use: Use,
  json: JsonSchema,
  limits: SchemaLimits | undefined,
): Checker {
  const { vendor } = schema['~standard']
  const isMultiple = multiplies(json)
  const { validate, counter, hides, remembers, isCounted } = watched(schema, use, isMultiple)
  const fits = toFit(json)
  const raw = rawChecker(json)
  const copies = copiesWhole(schema) || comparesAll(schema, json)
  const merges = mergesOf(schema, json)
  const hidden = hiddenOf(schema, use, json)
  rejectHidden(hidden.patterns)
  const texts = textsOf(schema, use, json, { remembers, isShown: isMultiple, most: limits?.parsedText })
  let place: Place | undefined
  let cost: Cost | undefined
  let sizes: Sizes = { medium: LARGE, large: LARGE }
  return {
    json,
    check(value) {
      if ((copies && isLarge(value, MOST_COPIED)) || isSlowToMerge(value, merges)) return tooCostly(TOO_LONG)
      if (cost === undefined) {
        cost = new Cost(hidden.json, {
          ...stepRulesOf(schema),
          hidden: hidden.defaults,
          remembers,
          hostChars: texts.hostChars,
          digitChars: texts.digitChars,
        })
        sizes = sizesFor(json)
      }
      const tooLong = texts.problemOf?.(value, () => timesOf(value))
      if (tooLong !== undefined) return { ...unfit([tooLong]), undecided: true }
      if (texts.isRepeated?.(value) === true) return tooCostly(TOO_LONG)
      const isCheap = !isLarge(value, Math.min(sizes.medium, cost.cheap))
      const problem = isCheap ? undefined : cost.problemOf(value)
      if (problem !== undefined) return tooCostly(problem)
      if (!cost.multiplies && counter === undefined) return checkWith(validate, value, isCheap)
      const counted = counter?.limit(validate, value, hides ? undefined : () => fits(value)) ?? validate
      const check = cost.multiplies ? limitSteps(counted, cost, value) : counted
      return orTooCostly(
        () => checkWith(check, value, isCheap),
        () => raw.check(value) as Checked,
      )
    },
  }

  /** How often the library checks a value: a large one in pieces and whole, and once more if its reads are counted. */
  function timesOf(value: unknown): number {
    return (isLarge(value, sizes.large) ? 2 : 1) + (cost?.multiplies === true ? 1 : 0)
  }

  /** What is needed to check a value in pieces; undefined for one that is checked whole at once. */
  function inPieces(value: unknown): Large | undefined {
    if (!isLarge(value, sizes.medium)) return undefined
    const isWholeLarge = isLarge(value, sizes.large)
    // A check that is given up still makes a problem for each further part.
    if (isCounted && !isLarge(value, LARGE)) return undefined
    // The alternatives of a tree need all that is in a part, so pieces of one tell little. Arktype ends the check of one early.
    if (isMultiple && !isWholeLarge && vendor === 'arktype') return undefined
    const fitsWhole = !isWholeLarge || (isMultiple && !isLarge(value, LARGE)) ? fits(value) : undefined
    if (fitsWhole === true) return undefined
    return {
      value: value as object,
      isMedium: !isWholeLarge,
      pieces: new Pieces((place ??= toPlace(json)), isWholeLarge ? sizes.large : sizes.medium),
      fits: () => fitsWhole ?? fits(value),
      vendor,
    }
  }

  function checkWith(check: Validate, value: unknown, isCheap: boolean): Checked | Promise<Checked> {
    if (!isCheap) {
      const large = inPieces(value)
      if ((isCounted || large !== undefined) && isCostlyCopy(value)) return tooCostly(TOO_LONG)
      if (large !== undefined) return settled(checkLarge(check, large))
      const result = check(value)
      return 'then' in result
        ? result.then((late) => readLarge(late, value, vendor))
        : readLarge(result, value, vendor)
    }
    const result = check(value)
    return 'then' in result ? result.then((late) => read(late, vendor)) : read(result, vendor)
  }
}

/** How a library checks values, by a copy of a schema that contains itself or hides something. */
interface Watched {
  readonly validate: Validate
  readonly counter: Counter | undefined
  /** Whether the JSON Schema shows less than there is. */
  readonly hides: boolean
  readonly remembers: boolean
  /** Whether the copy counts what it does, so that only very large values need pieces. */
  readonly isCounted: boolean
}

function watched(schema: StandardSchema, use: Use, isMultiple: boolean): Watched {
  const hides = hidesParts(schema, use)
  const counter = isMultiple || hides ? new Counter(schema) : undefined
  const isRepeated = isMultiple || (hides && readsItself(schema, use))
  const remembering = isRepeated ? toRemembering(schema, use, counter) : undefined
  const counting = remembering ?? (counter && toCounting(schema, use, counter))
  const checked = (counting ?? schema)['~standard']
  return {
    validate: (value) => checked.validate(value),
    counter,
    hides,
    remembers: remembering !== undefined,
    isCounted: counting !== undefined && counting !== schema,
  }
}

/** What the check of a large value needs. */
interface Large {
  readonly value: object
  /** Whether the library may check the whole value at once, if pieces of it would take more. */
  readonly isMedium: boolean
  readonly pieces: Pieces
  /** Whether the value fits the JSON Schema. */
  readonly fits: () => boolean
  readonly vendor: string
}

/** So many problems are enough for a value that does not fit its JSON Schema either. */
const MANY = 100

/** How often a part is checked on average. Pieces repeat what is around them, which may be most of a value with many levels. */
const MOST_REPEATED = 8

function* checkLarge(
  check: Validate,
  { value, isMedium, pieces, fits, vendor }: Large,
): Generator<Result | Promise<Result>, Checked, Result> {
  const first: Issue[] = []
  let certain = 0
  let found = 0
  let isFit: boolean | undefined
  let left = MOST_REPEATED * partsIn(value)
  try {
    for (const piece of pieces.of(value)) {
      left -= partsIn(piece)
      if (left < 0) {
        if (isMedium || (isFit ??= fits())) break
        return certain > 0 ? unfit(first) : tooCostly(TOO_LONG)
      }
      const { issues = [] } = yield tried(check, piece)
      for (const issue of issues) {
        const { path, isWhole } = pieces.placeOf(piece, pathOf(issue))
        // A problem of something that lacks members says nothing about the value, unless alternatives failed and nothing fits.
        const count = isWhole ? countOf(issue) : countBelow(issue)
        if (count > 0 && first.length < (isWhole ? MAX_ISSUES : 1))
          first.push({ ...readIssue(issue, vendor), path })
        if (isWhole) certain += count
        found += count
      }
      const isMuch = certain > MANY || found > LARGE
      if (certain > LARGE || (isMuch && !(isFit ??= fits()))) return unfit(first)
    }
    return readLarge(yield check(value), value, vendor)
  } catch (thrown) {
    if (!(thrown instanceof TooCostly) || certain === 0) throw thrown
    return unfit(first)
  }
}

function read(result: Result, vendor: string): Checked {
  if (result.issues === undefined) return { ok: true, value: result.value }
  return unfit(result.issues.slice(0, MAX_ISSUES).map((issue) => readIssue(issue, vendor)))
}

/** Reads the result for a value that may be large, or become so. */
function readLarge(result: Result, given: unknown, vendor: string): Checked {
  const checked = read(result, vendor)
  if (!checked.ok || checked.value === given) return checked
  return { ...checked, bytes: copyBytes(checked.value) }
}

/** Checks a piece. If the library throws, the missing parts may be the cause, so only the whole value decides. */
function tried(check: Validate, piece: unknown): Result | Promise<Result> {
  const nothing = (thrown: unknown): Result => {
    if (thrown instanceof TooCostly) throw thrown
    return { value: undefined }
  }
  try {
    const result = check(piece)
    return 'then' in result ? result.catch(nothing) : result
  } catch (thrown) {
    return nothing(thrown)
  }
}

/** The most parts of a value that a library copies whole: at several microseconds for each, half a second. */
const MOST_COPIED = 50_000

/** Whether the library copies a whole value, however much of it the schema ignores: arktype, before it changes any part. */
function copiesWhole(schema: StandardSchema): boolean {
  const { includesTransform, $ } = schema as {
    readonly includesTransform?: unknown
    readonly $?: { readonly resolvedConfig?: { readonly clone?: unknown } }
  }
  // Other libraries have neither.
  return includesTransform === true && typeof $?.resolvedConfig?.clone === 'function'
}

/** Whether the library looks for each part among those before it, so that 50,000 take half a second, too: arktype, in a schema that contains itself. */
function comparesAll(schema: StandardSchema, json: JsonSchema): boolean {
  return schema['~standard'].vendor === 'arktype' && findReferences()(json)
}

/** The outcome of a check that was given up. */
function tooCostly(problem: string): Checked {
  return { ...unfit([{ path: [], problem }]), undecided: true }
}

/** The outcome of a check. If it was given up, the JSON Schema may say what is wrong with the value. */
function orTooCostly(
  check: () => Checked | Promise<Checked>,
  explain: () => Checked,
): Checked | Promise<Checked> {
  const giveUp = (thrown: unknown): Checked => {
    if (!(thrown instanceof TooCostly)) throw thrown
    const explained = explain()
    return explained.ok ? tooCostly(thrown.message) : { ...explained, undecided: true }
  }
  try {
    const checked = check()
    return 'then' in checked ? checked.catch(giveUp) : checked
  } catch (thrown) {
    return giveUp(thrown)
  }
}

/** The outcome of steps that wait for a library, at once if it never waits and takes no longer than a turn. */
function settled<Out>(
  steps: Generator<Result | Promise<Result>, Out, Result>,
  result?: Result,
  end: number = endOfTurn(),
): Out | Promise<Out> {
  let next = result === undefined ? steps.next() : steps.next(result)
  while (next.done !== true) {
    const { value } = next
    // A promise that is settled already keeps others waiting, too.
    if ('then' in value) return value.then((late) => goOn(late))
    if (performance.now() > end) return goOn(value)
    next = steps.next(value)
  }
  return next.value

  function goOn(known: Result): Out | Promise<Out> {
    if (performance.now() > end) return inTurn(() => settled(steps, known))
    return settled(steps, known, end)
  }
}

/** How many issues a library made for one; not many more than `most`, because they may share what is below. */
function countOf(issue: unknown, most: number = LARGE): number {
  return Math.max(1, countBelow(issue, most))
}

/** The issues of the alternatives that all failed, as zod and arktype or valibot call them. */
function countBelow(issue: unknown, most: number = LARGE): number {
  const { errors, issues } = issue as { readonly errors?: unknown; readonly issues?: unknown }
  const below = errors ?? issues
  if (!Array.isArray(below)) return 0
  let count = 0
  for (const each of (below as readonly unknown[]).flat()) {
    if (count > most) break
    count += countOf(each, most - count)
  }
  return count
}

function pathOf({ path = [] }: StandardIssue): readonly PropertyKey[] {
  // `map` makes a path of arktype, which has the step 0 if it should be empty.
  return Array.from(path, (step) => (typeof step === 'object' ? step.key : step))
}

function readIssue(issue: StandardIssue, vendor: string): Issue {
  const path = pathOf(issue)
  let problem = problemOf(issue, vendor)
  if (vendor !== 'zod') return { path, problem }
  problem = problem.replace(/^Invalid input: /, '')
  const [, expected, came] = /^expected (\w+), received (\w+)$/.exec(problem) ?? []
  if (expected === undefined) return { path, problem }
  const got = came === 'undefined' ? undefined : came
  return { path, problem, expected, got }
}

function problemOf(issue: StandardIssue, vendor: string): string {
  try {
    return vendor === 'arktype' ? arktypeProblem(issue) : issue.message
  } catch {
    // A text that the author of a schema configures as a function may throw.
    return 'is not valid'
  }
}
