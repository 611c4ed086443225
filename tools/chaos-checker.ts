// Reads the logs of the clients of a chaos test. It shares no code with the server, so that it cannot share its errors.
import { checkCrashLog, type CrashFault, type CrashLine, type CrashReport } from './crash-checker.ts'
import { Incidents, isAboutTarget } from './chaos-incidents.ts'
import type { DroppedLine, EffectLine, FaultLine, TimedLine } from './chaos-log.ts'
import { SessionHistory } from './chaos-sessions.ts'

/** What the logs must contain, so that empty ones do not pass. */
export interface ChaosExpectations {
  readonly tasks: number
  readonly sessions: number
  /** Processes that were killed: all, nodes whose clock was right, and workers. */
  readonly kills: number
  readonly nodeKills: number
  readonly workerKills: number
  /** Processes that were stopped, and went on. */
  readonly stops: number
  /** How often each store was restarted. */
  readonly restarts: number
  /** Workers that ran handlers. */
  readonly workers: number
  /** Requests of each kind whose connection the client broke. */
  readonly drops: number
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
  | 'false kill'
  | 'too few node kills'
  | 'too few worker kills'
  | 'too few stops'
  | 'too few restarts'
  | 'too few workers'
  | 'too few drops'
  | 'too few sessions'
  | 'too few resumptions'
  | 'too few answers'
  | 'lost session'
  | 'refused'
  | 'no answer'
  | 'two answers'
  | 'wrong client'
  | 'wrong id'
  | 'wrong stream'
  | 'wrong questions'
  | 'wrong failure'
  | 'too many lost calls'
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
  /** How often each thing was done to the processes, and undone. */
  readonly done: Readonly<Record<FaultLine['kind'], number>>
  readonly nodeKills: number
  readonly workerKills: number
  /** The handlers that each process ran. */
  readonly ran: Readonly<Record<string, number>>
  readonly drops: Readonly<Record<DroppedLine['what'], number>>
  readonly faults: readonly { readonly fault: ChaosFault; readonly details: string }[]
}

const TASK_EVENTS: readonly string[] = ['call', 'accepted', 'unanswered', 'rejected', 'seen', 'missing']

const KINDS: readonly FaultLine['kind'][] = ['kill', 'stop', 'redis', 'postgres']

/** Tools whose handler must not run twice for one task. */
const FRAGILE = ['fragile']

/** Checks the logs of a chaos test, one for each process that wrote. */
export function checkChaosLogs(texts: readonly string[], expected: ChaosExpectations): ChaosReport {
  const faults: { fault: ChaosFault; details: string }[] = []
  const add: AddFault = (fault, details) => void faults.push({ fault, details })
  const lines = texts.flatMap((text, file) => linesIn(text, file, add)).toSorted((a, b) => a.at - b.at)
  const effects = lines.filter((line): line is EffectLine & TimedLine => line.event === 'effect')
  const incidents = new Incidents(add)
  const ofTasks = lines.flatMap((line): readonly CrashLine[] => {
    if (isAboutTarget(line)) return incidents.see(line) ? [{ event: 'kill' }] : []
    return TASK_EVENTS.includes(line.event) ? [line as CrashLine] : []
  })
  const { faults: faultsOfTasks, ...counts } = checkCrashLog(
    ofTasks.map((line) => JSON.stringify(line)).join('\n'),
    { ...expected, fragile: FRAGILE },
  )
  faults.push(...faultsOfTasks)
  checkEffects(ofTasks, effects, add)
  const sessions = new SessionHistory(incidents, add)
  for (const line of lines) if ('client' in line) sessions.see(line)
  const seen = sessions.end()
  const done = Object.fromEntries(KINDS.map((kind) => [kind, incidents.count(kind)])) as ChaosReport['done']
  const { nodes: nodeKills, workers: workerKills } = incidents.kills
  const ran: Record<string, number> = {}
  for (const { by } of effects) ran[by] = (ran[by] ?? 0) + 1
  const dropped = (what: DroppedLine['what']): number =>
    lines.filter((line) => line.event === 'dropped' && line.what === what).length
  const drops = { task: dropped('task'), post: dropped('post') }
  const workers = Object.keys(ran).filter((name) => name.startsWith('worker')).length
  const atLeast = (fault: ChaosFault, least: number, count: number): void => {
    if (count < least) add(fault, `${count} of ${least}`)
  }
  atLeast('too few node kills', expected.nodeKills, nodeKills)
  atLeast('too few worker kills', expected.workerKills, workerKills)
  atLeast('too few stops', expected.stops, done.stop)
  atLeast('too few restarts', expected.restarts, Math.min(done.redis, done.postgres))
  atLeast('too few workers', expected.workers, workers)
  atLeast('too few drops', expected.drops, Math.min(drops.task, drops.post))
  atLeast('too few sessions', expected.sessions, seen.sessions)
  atLeast('too few resumptions', expected.resumptions, seen.resumptions)
  atLeast('too few answers', expected.answers, seen.answered)
  return { ...counts, effects: effects.length, ...seen, done, nodeKills, workerKills, ran, drops, faults }
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
