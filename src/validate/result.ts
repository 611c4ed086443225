import type { Outcome } from './run.ts'
import type { Place } from './server-run.ts'

/** How a rule that failed counts: broken rules are failures, broken advice are warnings. */
export type Weight = 'failure' | 'warning'

export function weightOf({ level }: Pick<Outcome, 'level'>): Weight {
  return level === 'must' ? 'failure' : 'warning'
}

/** The counts of a run. */
export interface Counts {
  readonly passed: number
  readonly failures: number
  readonly warnings: number
  readonly absent: number
  readonly unchecked: number
}

/** The result of a run, as reports show it. */
export interface Report {
  readonly target: string
  readonly at: string
  readonly places: readonly Place[]
  /** 0 to 100: the share of the checked rules that hold; a rule that must hold counts three times. */
  readonly score: number
  readonly counts: Counts
  readonly outcomes: readonly Outcome[]
}

/** Counts the outcomes of a run. */
export function reportOf(target: string, outcomes: readonly Outcome[], places: readonly Place[]): Report {
  const failed = outcomes.filter(({ is }) => is === 'failed')
  const count = (is: Outcome['is']): number => outcomes.filter((one) => one.is === is).length
  const value = (list: readonly Outcome[]): number =>
    list.reduce((sum, one) => sum + (weightOf(one) === 'failure' ? 3 : 1), 0)
  const good = value(outcomes.filter(({ is }) => is === 'passed'))
  const all = good + value(failed)
  return {
    target,
    at: new Date().toISOString(),
    places,
    // A server with a failure never has the full score.
    score: all === 0 ? 0 : Math.floor((good / all) * 100),
    counts: {
      passed: count('passed'),
      failures: failed.filter((one) => weightOf(one) === 'failure').length,
      warnings: failed.filter((one) => weightOf(one) === 'warning').length,
      absent: count('absent'),
      unchecked: count('unchecked'),
    },
    outcomes,
  }
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
