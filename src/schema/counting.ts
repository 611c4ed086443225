import { weigh } from '../base/weight.ts'
import type { Outcome, Run } from './memory.ts'
import type { Validate } from './meter.ts'
import { MAX_ISSUES } from './issue.ts'
import { MEMBER } from './step-rules.ts'
import type { StandardResult, StandardSchema } from './schema.ts'
import { TOO_LONG, TOO_MUCH, TooCostly } from './work.ts'

/** The steps of a check: so many for each byte of the value, but always the least. A library takes a twentieth to an eighth of a microsecond for each. */
const LEAST_STEPS = 500_000
/** The least for a value that may fit a JSON Schema which shows everything: the steps of one that does were estimated before. */
const FEW_STEPS = 250_000
/** The most for it: so many problems take some ten megabytes. */
const MORE_STEPS = 1_000_000
const STEPS_PER_BYTE = 3
const MOST_STEPS = 8_000_000

/** The most bytes that defaults may add to a value. */
const MOST_ADDED = 67_108_864
/** Making so many of them takes a step. */
const BYTES_PER_STEP = 64

/** What a problem costs, in steps, for each schema that it comes out of. */
const PROBLEM = { zod: 32, valibot: 24 } as const
/** What comes back if another alternative fits: zod has not described the problem then. Versions before 4.6 copy problems once for each member. */
const REFUND = 12
const REFUND_SINCE_6 = 24

/** The kinds of zod that replace a missing part. */
const FILLING: ReadonlySet<string> = new Set(['default', 'prefault'])
/** The kinds that describe the problems of what is inside. */
const DESCRIBING: ReadonlySet<string> = new Set(['union', 'catch', 'record', 'map'])
/** The kinds that may accept a part although something inside has a problem. */
const CHOOSING: ReadonlySet<string> = new Set(['union', 'variant', 'catch', 'intersection'])

/** So many problems are enough for a value that is certainly wrong. Each counts once for every schema that it comes out of. */
const ENOUGH = 10_000

/** Marks that a check was given up. */
const GIVEN_UP = '~given-up'
/** Why it was given up, if the value has enough problems. */
const MANY = 'has many problems'

interface Marked {
  readonly code?: unknown
  readonly values?: unknown
  readonly keys?: unknown
  readonly options?: unknown
  readonly path?: unknown
}

/** How many values that were added are compared with the next. */
const MOST_REMEMBERED = 100

/** Counts the steps of one check. */
class Budget {
  #steps: number
  /** Whether the value may take more steps than these. */
  #fits: (() => boolean) | undefined
  #bytes = MOST_ADDED
  /** Why no more is checked. */
  problem: string | undefined
  /** The problems that the library has not described yet. */
  open = 0
  /** How many schemas are running that may accept what others reject. */
  choices = 0
  /** The problems outside of these. */
  #certain = 0
  readonly #added = new Set<unknown>()

  constructor(value: unknown, fits: (() => boolean) | undefined) {
    const [least, most] = fits === undefined ? [LEAST_STEPS, MOST_STEPS] : [FEW_STEPS, MORE_STEPS]
    this.#steps = Math.min(most, least + STEPS_PER_BYTE * weigh(value, most / STEPS_PER_BYTE))
    this.#fits = fits
  }

  spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps >= 0) return
    const fits = this.#fits
    this.#fits = undefined
    if (fits?.() === true) this.#steps += MOST_STEPS
    else this.problem ??= TOO_LONG
  }

  /** Counts a value that the library adds. Of those that may be the same again and again, which takes no memory, the first are remembered. */
  add(value: unknown, isNew = true): void {
    if (!isNew) {
      if (typeof value !== 'object' || this.#added.has(value)) return
      if (this.#added.size < MOST_REMEMBERED) this.#added.add(value)
    }
    // A number needs no closer look.
    const bytes = typeof value === 'number' ? 0 : weigh(value, MOST_ADDED)
    this.spend(1 + bytes / BYTES_PER_STEP)
    this.#bytes -= MEMBER + bytes
    if (this.#bytes < 0) this.problem ??= TOO_MUCH
  }

  /** Begins the check of the value, or of a piece of it. */
  begin(): void {
    this.choices = this.#certain = 0
    if (this.problem === MANY) this.problem = undefined
  }

  /** Counts problems that came out of a schema, and those of its alternatives. */
  addProblems(count: number, inside: number): void {
    this.open += count
    if (this.choices > 0) return
    this.#certain += count + inside
    if (this.#certain > ENOUGH) this.problem ??= MANY
  }

  /** The result, if it is certain. */
  read(result: StandardResult<unknown>): StandardResult<unknown> {
    if (this.problem === undefined) return result
    const issues = certainOf(result.issues ?? [])
    if (issues.length === 0) throw new TooCostly(this.problem === MANY ? TOO_LONG : this.problem)
    return { issues }
  }
}

/**
 * Counts what a copy of a schema does, and gives up when that is too much: the rest of the value has one problem then. To throw
 * would leave parts of the value in a list of zod.
 */
export class Counter {
  readonly #problem: number
  readonly #refund: number
  readonly #budgets = new WeakMap<object, Budget>()
  /** The budget of the check that is running, until the library waits. */
  #current: Budget | undefined

  constructor(schema: StandardSchema) {
    const { _zod } = schema as { readonly _zod?: { readonly version?: { readonly minor?: number } } }
    this.#problem = _zod === undefined ? PROBLEM.valibot : PROBLEM.zod
    this.#refund = (_zod?.version?.minor ?? 0) >= 6 ? REFUND_SINCE_6 : REFUND
  }

  /** Limits the checks of a value and its pieces, all together. `fits` says whether the value fits a JSON Schema that shows everything. */
  limit(validate: Validate, whole: unknown, fits?: () => boolean): Validate {
    const budget = new Budget(whole, fits)
    return (value) => {
      const outer = this.#current
      this.#current = budget
      try {
        const result = validate(value)
        return 'then' in result ? result.then((late) => budget.read(late)) : budget.read(result)
      } finally {
        this.#current = outer
      }
    }
  }

  /** Begins to count. A library passes the same context to all schemas during one check. */
  from(run: Run): Run {
    return (part, context) => {
      if (this.#current !== undefined) this.#budgets.set(context, this.#current)
      this.#current?.begin()
      return run(part, context)
    }
  }

  /** Counts a value that a library adds, while it runs. */
  add(value: unknown, isNew: boolean): void {
    this.#current?.add(value, isNew)
  }

  /** Counts the runs of a schema, of a kind as its library calls it, and the problems that come out of it. */
  count(run: Run, kind: string, steps: number | ((value: unknown) => number)): Run {
    const problem = this.#problem
    const refund = this.#refund
    const isUnion = kind === 'union' || kind === 'variant'
    const describes = DESCRIBING.has(kind)
    const chooses = CHOOSING.has(kind)
    const fills = FILLING.has(kind)
    return (part, context) => {
      const budget = this.#budgets.get(context) ?? this.#current
      if (budget === undefined) return run(part, context)
      budget.spend(typeof steps === 'number' ? steps : steps(part.value))
      if (budget.problem !== undefined) return giveUp(part)
      const { open } = budget
      const isMissing = fills && part.value === undefined
      // A pipe passes on problems that were there before.
      const known = part.issues?.length ?? 0
      if (chooses) budget.choices++
      const outcome = run(part, context)
      return 'then' in outcome
        ? outcome.then((late) => end(late, budget, open, known, isMissing, 0))
        : end(outcome, budget, open, known, isMissing, refund)
    }

    function end(
      outcome: Outcome,
      budget: Budget,
      open: number,
      known: number,
      isMissing: boolean,
      back: number,
    ): Outcome {
      const { issues = [] } = outcome
      if (chooses) budget.choices--
      for (let at = known; at < issues.length; at++) budget.spend(problem + widthOf(issues[at]!))
      const isFine = issues.length <= known
      const inside = budget.open - open
      if (isFine && isUnion) budget.spend(-back * inside)
      if (isFine && (isMissing || (inside > 0 && kind === 'catch'))) budget.add(outcome.value, isMissing)
      if (describes) budget.open = open
      if (!isFine) budget.addProblems(issues.length - known, isUnion ? inside : 0)
      if (budget.problem === undefined || isFine) return outcome
      // Alternatives were not all tried, so that none of them is certainly wrong.
      const certain = isUnion ? [] : certainOf(issues).slice(0, MAX_ISSUES)
      issues.splice(0, Infinity, ...certain)
      return certain.length > 0 ? outcome : giveUp(outcome)
    }
  }
}

/** Leaves a part as it is, with a problem. */
function giveUp(part: Outcome): Outcome {
  const issue = { kind: 'schema', code: GIVEN_UP, message: TOO_LONG } as object
  if (part.issues === undefined) part.issues = [issue]
  else part.issues.push(issue)
  return Object.assign(part, { typed: false })
}

function certainOf<Issue>(issues: readonly Issue[]): readonly Issue[] {
  return issues.filter((issue) => (issue as Marked).code !== GIVEN_UP)
}

/** How many names and constants the message of a new problem has. */
function widthOf({ path, values, keys, options }: Marked): number {
  const listed = path === undefined ? (values ?? keys) : options
  return Array.isArray(listed) ? listed.length : 0
}
