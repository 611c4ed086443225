// Reads the logs of the clients of a chaos test. It shares no code with the server, so that it cannot share its errors.
import { checkCrashLog, type CrashFault, type CrashLine, type CrashReport } from './crash-checker.ts'
import type { EffectLine, FaultLine, TimedLine } from './chaos-log.ts'
import { SessionHistory } from './chaos-sessions.ts'

/** What the logs must contain, so that empty ones do not pass. */
export interface ChaosExpectations {
  readonly tasks: number
  readonly sessions: number
  /** Processes that were killed. */
  readonly kills: number
  /** Tasks that were accepted before a kill and ended after it. */
  readonly survivors: number
  /** How often clients went on with a stream. */
  readonly resumptions: number
  /** Calls in sessions that were answered. */
  readonly answers: number
}

/** The kinds of fault, besides those of tasks. */
export type SessionFault =
  | 'repeated effect'
  | 'no effect'
  | 'too few sessions'
  | 'too few resumptions'
  | 'too few answers'
  | 'lost session'
  | 'refused'
  | 'no answer'
  | 'two answers'
  | 'wrong client'
  | 'wrong failure'
  | 'lost event'
  | 'duplicated event'
  | 'reordered event'
  | 'lost value'

export type ChaosFault = CrashFault | SessionFault
export type AddFault = (fault: ChaosFault, details: string) => void

/** What the logs show. */
export interface ChaosReport extends Omit<CrashReport, 'faults'> {
  readonly effects: number
  readonly sessions: number
  /** Calls in sessions, and how they ended. */
  readonly calls: number
  readonly answered: number
  readonly failedCalls: number
  readonly abandoned: number
  readonly events: number
  readonly resumptions: number
  /** How often each thing was done to the processes. */
  readonly done: Readonly<Record<FaultLine['kind'], number>>
  readonly faults: readonly { readonly fault: ChaosFault; readonly details: string }[]
}

const TASK_EVENTS: readonly string[] = ['call', 'accepted', 'unanswered', 'rejected', 'seen', 'missing']

/** Tools whose handler must not run twice for one task. */
const FRAGILE = ['fragile']

/** Checks the logs of a chaos test, one for each process that wrote. */
export function checkChaosLogs(texts: readonly string[], expected: ChaosExpectations): ChaosReport {
  const faults: { fault: ChaosFault; details: string }[] = []
  const add: AddFault = (fault, details) => void faults.push({ fault, details })
  const lines = texts.flatMap((text, file) => linesIn(text, file, add)).toSorted((a, b) => a.at - b.at)
  const effects = lines.filter((line): line is EffectLine & TimedLine => line.event === 'effect')
  const done = lines.filter((line): line is FaultLine & TimedLine => line.event === 'fault')
  const ofTasks = lines.flatMap((line): readonly CrashLine[] => {
    if (line.event === 'fault') return line.kind === 'kill' ? [{ event: 'kill' }] : []
    return TASK_EVENTS.includes(line.event) ? [line as CrashLine] : []
  })
  const { faults: faultsOfTasks, ...counts } = checkCrashLog(
    ofTasks.map((line) => JSON.stringify(line)).join('\n'),
    { ...expected, fragile: FRAGILE },
  )
  faults.push(...faultsOfTasks)
  checkEffects(ofTasks, effects, add)
  const sessions = new SessionHistory(done, add)
  for (const line of lines) if ('client' in line) sessions.see(line)
  const seen = sessions.end()
  if (seen.sessions < expected.sessions)
    add('too few sessions', `${seen.sessions} of ${expected.sessions} were opened`)
  if (seen.resumptions < expected.resumptions)
    add('too few resumptions', `${seen.resumptions} of ${expected.resumptions}`)
  if (seen.answered < expected.answers) add('too few answers', `${seen.answered} of ${expected.answers}`)
  const count = (kind: FaultLine['kind']): number => done.filter((line) => line.kind === kind).length
  return {
    ...counts,
    effects: effects.length,
    ...seen,
    done: { kill: count('kill'), stop: count('stop'), redis: count('redis'), postgres: count('postgres') },
    faults,
  }
}

/** Compares the effects of handlers with the outcomes of their tasks. */
function checkEffects(lines: readonly CrashLine[], effects: readonly EffectLine[], add: AddFault): void {
  const runs = new Map<number, Set<string>>()
  for (const { task, tool, run } of effects) {
    const known = runs.get(task) ?? new Set()
    if (FRAGILE.includes(tool) && known.size > 0) add('repeated effect', `task ${task} (${tool})`)
    runs.set(task, known.add(run))
  }
  for (const line of lines) {
    if (line.event !== 'seen' || line.status !== 'completed') continue
    const run = line.outcome?.split(':')[1] ?? ''
    if (runs.get(line.task)?.has(run) !== true) add('no effect', `task ${line.task} has the result ${run}`)
  }
}

function linesIn(text: string, file: number, add: AddFault): readonly TimedLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line === '') return []
    try {
      const read = JSON.parse(line) as TimedLine
      if (typeof read.event === 'string' && typeof read.at === 'number') return [read]
    } catch {
      // It is reported below.
    }
    add('unreadable', `line ${index + 1} of log ${file + 1}`)
    return []
  })
}
