import { inOneLine, masked, maskedFinding, reportable, type Secrets } from './mask.ts'
import { RULE_OVER, TIME_OVER, type Outcome } from './run.ts'
import type { Place } from './server-run.ts'

/** How a rule that failed counts: broken rules are failures, broken advice are warnings. */
export type Weight = 'failure' | 'warning'

export function weightOf({ level, isStrict }: Pick<Outcome, 'level' | 'isStrict'>): Weight {
  return level === 'must' || isStrict === true ? 'failure' : 'warning'
}

/** The counts of a run. A rule counts once for each revision and transport. */
export interface Counts {
  readonly passed: number
  readonly failures: number
  readonly warnings: number
  /** Failures and warnings that the caller knows and ignores. */
  readonly ignored: number
  readonly absent: number
  readonly unchecked: number
}

/** The result of a run, as reports show it. */
export interface Report {
  readonly target: string
  readonly at: string
  readonly places: readonly Place[]
  /** 0 to 100: the share of the checked rules that hold; a rule that must hold counts three times. Undefined if less than half was checked. */
  readonly score?: number | undefined
  /** Whether the time of the run, and that of each rule, was enough. */
  readonly isComplete: boolean
  /** Why nothing was checked, if nothing was. */
  readonly problem?: string | undefined
  readonly counts: Counts
  readonly outcomes: readonly Outcome[]
}

export interface ReportOptions {
  /** What to hide. Default: nothing. */
  readonly secrets?: Secrets | undefined
  /** The ids of rules whose failures are known. Default: none. */
  readonly ignored?: readonly string[] | undefined
  /** Whether warnings count as failures. Default: `false`. */
  readonly isStrict?: boolean | undefined
  /** Why nothing was checked. */
  readonly problem?: string | undefined
}

/** Counts the outcomes of a run, and hides the secrets of the caller in them. */
export function reportOf(
  target: string,
  all: readonly Outcome[],
  places: readonly Place[],
  { secrets = { values: [], headers: [] }, ignored = [], isStrict = false, problem: why }: ReportOptions = {},
): Report {
  const mask = masked(secrets.values)
  const maskFinding = maskedFinding(secrets.values)
  const outcomes = all.map((one) => ({
    ...reportable(one, secrets),
    ...(one.is === 'failed' && ignored.includes(one.id) && { isIgnored: true as const }),
    ...(one.is === 'failed' && isStrict && one.level !== 'must' && { isStrict: true as const }),
  }))
  const counts = countsOf(outcomes)
  const score = scoreOf(outcomes, counts)
  const isLate = places.some(isLatePlace)
  return {
    target: mask(target),
    at: new Date().toISOString(),
    places: places.map(({ problem, ...place }) => ({
      ...place,
      ...(problem !== undefined && { problem: inOneLine(maskFinding(problem)) }),
    })),
    ...(score !== undefined && { score }),
    isComplete: !isLate && !outcomes.some(isLeft),
    ...(why !== undefined && { problem: inOneLine(maskFinding(why)) }),
    counts,
    outcomes,
  }
}

/** Whether an outcome is a failure or a warning that counts. */
export function isBroken({ is, isIgnored }: Outcome): boolean {
  return is === 'failed' && isIgnored !== true
}

function countsOf(outcomes: readonly Outcome[]): Counts {
  const count = (is: (one: Outcome) => boolean): number => outcomes.filter(is).length
  return {
    passed: count(({ is }) => is === 'passed'),
    failures: count((one) => isBroken(one) && weightOf(one) === 'failure'),
    warnings: count((one) => isBroken(one) && weightOf(one) === 'warning'),
    ignored: count(({ isIgnored }) => isIgnored === true),
    absent: count(({ is }) => is === 'absent'),
    unchecked: count(({ is }) => is === 'unchecked'),
  }
}

function scoreOf(outcomes: readonly Outcome[], counts: Counts): number | undefined {
  const value = (list: readonly Outcome[]): number =>
    list.reduce((sum, { level }) => sum + (level === 'must' ? 3 : 1), 0)
  const good = value(outcomes.filter(({ is }) => is === 'passed'))
  const whole = good + value(outcomes.filter(isBroken))
  if (whole === 0 || checkedOf(counts) < counts.unchecked) return undefined
  // A server with a failure never has the full score.
  return Math.floor((good / whole) * 100)
}

function checkedOf({ passed, failures, warnings, ignored }: Counts): number {
  return passed + failures + warnings + ignored
}

/** Whether the time was over before everything was tried on one way to the server. */
function isLatePlace({ left = [], problem }: Place): boolean {
  return left.length > 0 || problem === TIME_OVER
}

/** Whether the time was over before a rule was checked: that of the run, or that of the rule. */
function isLeft({ is, found }: Outcome): boolean {
  return is === 'unchecked' && (found === TIME_OVER || found === RULE_OVER)
}

/** What a run came to, in one line. */
export function summaryOf(report: Report): string {
  const { passed, failures, warnings, ignored, unchecked, absent } = report.counts
  const isMany =
    new Set(report.outcomes.map(({ revision, transport }) => `${revision} ${transport}`)).size > 1
  return [
    `${passed} passed, ${failures} failed, ${several(warnings, 'warning')}, `,
    ignored > 0 ? `${ignored} ignored, ` : '',
    `${unchecked} not checked, ${absent} ${absent === 1 ? 'does' : 'do'} not apply; ${scoreText(report)}`,
    isMany ? ' (a rule counts once for each revision and transport)' : '',
  ].join('')
}

/** The score with its share of the rules, or why there is none. */
export function scoreText({ score, counts }: Report): string {
  if (score !== undefined) return `score ${score} of 100${coverageText(counts)}`
  const checked = checkedOf(counts)
  return `no score: ${checked} of ${several(checked + counts.unchecked, 'rule')} ${checked === 1 ? 'was' : 'were'} checked`
}

/** How many of the rules a score is about; empty if it is about all of them. */
export function coverageText(counts: Counts): string {
  const checked = checkedOf(counts)
  return counts.unchecked === 0
    ? ''
    : ` for the ${checked} of ${checked + counts.unchecked} rules that were checked`
}

/** What a run that is not complete lacks, and how to get it; undefined if it is complete. */
export function incompleteText({ isComplete, outcomes, places }: Report): string | undefined {
  if (isComplete) return undefined
  const held = outcomes.filter(({ found }) => found === RULE_OVER)
  const rules = outcomes.filter(isLeft).length
  if (rules > 0 && rules === held.length && places.every((place) => !isLatePlace(place)))
    return `incomplete: the checks of ${[...new Set(held.map(({ id }) => id))].join(', ')} took too long; find out what the server waits for`
  const left = places.flatMap(({ transport, left: some = [] }) => some.map((one) => `${one} on ${transport}`))
  const what = [...(rules > 0 ? [several(rules, 'rule')] : []), ...left].join(', ') || 'anything'
  const was = rules === 1 && left.length === 0 ? 'was' : 'were'
  return `incomplete: the time was over before ${what} ${what === 'anything' ? 'was' : was} checked; give more time with --total 5m, check one revision with --target, or validate a built file or a URL, which answer sooner`
}

/** A number with its noun. */
export function several(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Outcomes of one rule with the same finding, at several revisions and on several transports. */
export interface Group {
  readonly first: Outcome
  readonly where: readonly string[]
}

/** Groups what is the same, so that people read it once. */
export function groupsOf(outcomes: readonly Outcome[]): readonly Group[] {
  const groups = new Map<string, { first: Outcome; where: string[] }>()
  for (const one of outcomes) {
    const key = `${one.role} ${one.id} ${one.is} ${one.found ?? ''}`
    const group = groups.get(key) ?? { first: one, where: [] }
    group.where.push(`${one.revision} ${one.transport}`)
    groups.set(key, group)
  }
  return [...groups.values()]
}
