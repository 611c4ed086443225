import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import { removeBridge } from './client/bridge.ts'
import type { StartableClient } from './client/program.ts'
import { CLIENT_RULES } from './client-rules.ts'
import { ClientSubject } from './client-subject.ts'
import { unchecked, type Rule, type Transport, type Verdict } from './rule.ts'
import { outcomeOf, TIME_OVER, type Outcome, type RunOptions } from './run.ts'
import { isSpoken, type Place, type ServerRun } from './server-run.ts'

export interface ClientRunOptions extends RunOptions {
  readonly client: StartableClient
  readonly transports: readonly Transport[]
  /** The revisions to check. Default: those that the client supports. */
  readonly revisions?: readonly Revision[] | undefined
  /** Is called when the client is started for a scenario. */
  onVisit?(revision: Revision, transport: Transport, scenario: string): void
}

/** Checks a client on every transport, at every revision that it supports or that was asked for. */
export async function validateClient(options: ClientRunOptions): Promise<ServerRun> {
  const { transports } = options
  const outcomes: Outcome[] = []
  const places: Place[] = []
  const stop = new AbortController()
  const abort = (): void => stop.abort()
  const timer = setTimeout(abort, Math.max(0, options.until - performance.now()))
  options.signal.addEventListener('abort', abort)
  if (options.signal.aborted) abort()
  try {
    for (const transport of transports) {
      const found = await checkTransport(transport, { ...options, signal: stop.signal })
      outcomes.push(...found.outcomes)
      places.push(found.place)
    }
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', abort)
    await removeBridge()
  }
  return { outcomes, places }
}

async function checkTransport(
  transport: Transport,
  options: ClientRunOptions,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly place: Place }> {
  const { client, signal } = options
  const outcomes: Outcome[] = []
  const revisions: Revision[] = []
  const left: Revision[] = []
  let problem: string | undefined
  for (const revision of options.revisions ?? REVISIONS) {
    if (!isSpoken(revision, transport)) continue
    if (signal.aborted) {
      left.push(revision)
      continue
    }
    const subject = new ClientSubject({
      client,
      revision,
      transport,
      signal,
      onVisit: ({ name }) => options.onVisit?.(revision, transport, name),
    })
    try {
      const usual = await subject.usual()
      if (usual.isSpoken) {
        revisions.push(revision)
        outcomes.push(...(await checkClient(CLIENT_RULES, subject, options)))
      } else if (usual.seen.length === 0) problem ??= `the client sent nothing: ${usual.ending}`
    } finally {
      await subject.close()
    }
  }
  if (left.length > 0) problem ??= TIME_OVER
  const why = problem ?? 'the client accepts no revision that was asked for'
  return {
    outcomes,
    place: {
      transport,
      revisions,
      ...(left.length > 0 && { left }),
      ...(revisions.length === 0 && { problem: why }),
    },
  }
}

/** Checks a client by all rules that apply to it. Rules wait for visits, so they are checked at the same time. */
export async function checkClient(
  rules: readonly Rule<ClientSubject>[],
  subject: ClientSubject,
  { only, until, signal, onOutcome }: RunOptions,
): Promise<readonly Outcome[]> {
  const applying = rules.filter(
    ({ id, revisions, transports }) =>
      revisions.includes(subject.revision) &&
      transports.includes(subject.transport) &&
      (only === undefined || only.includes(id)),
  )
  const outcomes = new Map<Rule<ClientSubject>, Outcome>()
  const check = async (rule: Rule<ClientSubject>): Promise<void> => {
    const began = performance.now()
    const verdict = await checkRule(rule, subject, { until, signal })
    const outcome = outcomeOf(rule, {
      verdict,
      ms: performance.now() - began,
      role: 'client',
      place: subject,
    })
    outcomes.set(rule, outcome)
    onOutcome?.(outcome, outcomes.size, applying.length)
  }
  // Rules about everything that the client sent need the visits of the others.
  await Promise.all(applying.filter(({ isLast }) => isLast !== true).map(check))
  await Promise.all(applying.filter(({ isLast }) => isLast === true).map(check))
  return applying.flatMap((rule) => outcomes.get(rule) ?? [])
}

async function checkRule(
  rule: Rule<ClientSubject>,
  subject: ClientSubject,
  { until, signal }: Pick<RunOptions, 'until' | 'signal'>,
): Promise<Verdict> {
  if (signal.aborted) return unchecked(performance.now() >= until ? TIME_OVER : 'the run was stopped')
  const left = until - performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => resolve(unchecked(TIME_OVER)), Math.max(0, left))
  })
  try {
    return await Promise.race([Promise.resolve(rule.check(subject)), late])
  } catch (error) {
    return unchecked(error instanceof Error ? error.message : String(error))
  } finally {
    clearTimeout(timer)
  }
}
