import { Deferred } from '../base/deferred.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Rule, Transport, Verdict } from './rule.ts'
import { unchecked } from './rule.ts'
import type { ServerSubject } from './server-subject.ts'
import type { Entry } from './trace.ts'

/** What a rule came to at one revision on one transport. */
export interface Outcome {
  readonly id: string
  readonly level: Rule<unknown>['level']
  readonly role: 'server' | 'client'
  readonly revision: Revision
  readonly transport: Transport
  readonly rule: string
  readonly how: string
  readonly fix: string
  readonly is: Verdict['is']
  /** Whether the caller knows the failure, and ignores it. */
  readonly isIgnored?: true | undefined
  /** Whether a warning counts as a failure, because the caller wants it so. */
  readonly isStrict?: true | undefined
  /** What the peer did wrong, why the rule was not checked, or what was measured. */
  readonly found?: string | undefined
  /** The exchange that shows a failure. */
  readonly entries?: readonly Entry[] | undefined
  readonly ms: number
}

export interface RunOptions {
  /** Only the rules with these ids. Default: all that apply. */
  readonly only?: readonly string[] | undefined
  /** When to stop, by `performance.now()`. Rules that are left are not checked. */
  readonly until: number
  readonly signal: AbortSignal
  onOutcome?(outcome: Outcome, done: number, all: number): void
}

/** The most time for one rule. */
const RULE_MS = 15_000
/** Why rules are left at the end, and why one is left that the server holds up. */
export const TIME_OVER = 'the time for the run was over'
export const RULE_OVER: string = `the check took longer than ${RULE_MS / 1000} s`
/** A server that leaves so many rules in a row without any answer has stopped. */
const MOST_SILENT = 4

/** Checks a server by all rules that apply to it. */
export async function checkServer(
  rules: readonly Rule<ServerSubject>[],
  subject: ServerSubject,
  { only, until, signal, onOutcome }: RunOptions,
): Promise<readonly Outcome[]> {
  const { revision, transport, trace } = subject
  const applying = rules.filter(
    (rule) =>
      rule.revisions.includes(revision) &&
      rule.transports.includes(transport) &&
      (only === undefined || only.includes(rule.id)),
  )
  const ordered = [...applying.filter(({ isLast }) => !isLast), ...applying.filter(({ isLast }) => isLast)]
  const outcomes: Outcome[] = []
  let silent = 0
  for (const rule of ordered) {
    const from = trace.mark
    const before = { ...trace.counts }
    const began = performance.now()
    const why = signal.aborted
      ? 'the run was stopped'
      : began > until
        ? TIME_OVER
        : silent >= MOST_SILENT && !rule.isLast
          ? 'the server stopped answering'
          : undefined
    const verdict = why === undefined ? await checkRule(rule, subject, { until, signal }) : unchecked(why)
    // Some checks only look at what came before, so they send nothing.
    if (trace.counts.peer - trace.counts.noise > before.peer - before.noise) silent = 0
    else if (trace.counts.validator > before.validator) silent++
    const outcome = outcomeOf(rule, {
      verdict,
      ms: performance.now() - began,
      role: 'server',
      place: subject,
      entries: trace.between(from),
    })
    outcomes.push(outcome)
    onOutcome?.(outcome, outcomes.length, ordered.length)
  }
  return outcomes
}

async function checkRule(
  rule: Rule<ServerSubject>,
  subject: ServerSubject,
  { until, signal }: Pick<RunOptions, 'until' | 'signal'>,
): Promise<Verdict> {
  if (rule.calls === true && !subject.mayCall)
    return unchecked('it needs a call of a tool; --allow-calls permits that')
  const late = new Deferred<Verdict>()
  const left = until - performance.now()
  const why = left < RULE_MS ? TIME_OVER : RULE_OVER
  const timer = setTimeout(() => late.resolve(unchecked(why)), Math.min(left, RULE_MS))
  const stop = (): void => late.resolve(unchecked('the run was stopped'))
  signal.addEventListener('abort', stop)
  try {
    return await Promise.race([Promise.resolve(rule.check(subject)), late.promise])
  } catch (error) {
    return unchecked(error instanceof Error ? error.message : String(error))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    await subject.closeOpened()
  }
}

interface OutcomeParts {
  readonly verdict: Verdict
  readonly ms: number
  readonly role: Outcome['role']
  readonly place: { readonly revision: Revision; readonly transport: Transport }
  /** What shows a failure, unless the check says it. */
  readonly entries?: readonly Entry[] | undefined
}

/** What a verdict means at one revision on one transport. */
export function outcomeOf(
  { id, level, rule, how, fix }: Omit<Rule<never>, 'check'>,
  { verdict, ms, role, place: { revision, transport }, entries: usual }: OutcomeParts,
): Outcome {
  const found = verdict.is === 'failed' ? verdict.found : verdict.is === 'passed' ? verdict.note : verdict.why
  const entries = verdict.is === 'failed' ? (verdict.entries ?? usual) : undefined
  return {
    id,
    level,
    role,
    revision,
    transport,
    rule,
    how,
    fix,
    is: verdict.is,
    ms: Math.round(ms),
    ...(found !== undefined && { found }),
    ...(entries !== undefined && { entries }),
  }
}
