// Reads the logs of the clients of a crash test. It shares no code with the server, so that it cannot share its errors.

/** One line of a log. Lines of all clients are in the order in which they were written. */
export type CrashLine =
  /** The server was killed. */
  | { readonly event: 'kill' }
  /** A client calls a tool. A call that got no answer is repeated only if it has a key. */
  | { readonly event: 'call'; readonly task: number; readonly tool: string; readonly key?: string }
  /** The server answered with a task. */
  | { readonly event: 'accepted'; readonly task: number; readonly id: string; readonly status: string }
  /** No answer came, so the client knows nothing. */
  | { readonly event: 'unanswered'; readonly task: number }
  /** The server rejected the call. */
  | { readonly event: 'rejected'; readonly task: number; readonly error: string }
  /** The server described the task. `outcome` is the result or the error, as text. */
  | {
      readonly event: 'seen'
      readonly task: number
      readonly id: string
      readonly status: string
      readonly outcome?: string
    }
  /** The server does not know the task. */
  | { readonly event: 'missing'; readonly task: number; readonly id: string }

/** What a log must contain, so that an empty one does not pass. */
export interface CrashExpectations {
  readonly tasks: number
  readonly kills: number
  /** Tasks that were accepted before a kill and ended after it. */
  readonly survivors: number
  /** The tools whose tasks may fail because the server died. */
  readonly fragile: readonly string[]
}

/** The kinds of fault. */
export type CrashFault =
  | 'unreadable'
  | 'too few kills'
  | 'too few tasks'
  | 'too few survivors'
  | 'rejected'
  | 'lost'
  | 'no outcome'
  | 'two outcomes'
  | 'illegal path'
  | 'wrong outcome'
  | 'two tasks for a key'
  | 'shared id'

/** What a log shows. */
export interface CrashReport {
  readonly kills: number
  readonly called: number
  readonly accepted: number
  readonly completed: number
  readonly failed: number
  /** Accepted before a kill, and ended after it. */
  readonly survived: number
  readonly unanswered: number
  readonly faults: readonly { readonly fault: CrashFault; readonly details: string }[]
}

/** The statuses that may follow each status, besides itself. */
const NEXT: ReadonlyMap<string, readonly string[]> = new Map([
  ['working', ['input_required', 'completed', 'failed', 'cancelled']],
  ['input_required', ['working', 'completed', 'failed', 'cancelled']],
  ['completed', []],
  ['failed', []],
  ['cancelled', []],
])

/** A task that so many kills may have hit is allowed to fail, with a message that says so. */
const MOST_CRASHES = 3
const CRASHED = 'ended without notice 3 times'

interface Known {
  readonly tool: string
  /** The number of kills before it was called first. */
  readonly calledAfter: number
  readonly key: string | undefined
  id?: string
  status?: string
  outcome?: string
  /** The number of kills before it was accepted, and before its outcome was seen first. */
  acceptedAfter?: number
  endedAfter?: number
}

/** Checks the log of a crash test. */
export function checkCrashLog(text: string, expected: CrashExpectations): CrashReport {
  const faults: { fault: CrashFault; details: string }[] = []
  const add = (fault: CrashFault, details: string): void => void faults.push({ fault, details })
  const tasks = new Map<number, Known>()
  const owners = new Map<string, number>()
  let [kills, unanswered] = [0, 0]
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue
    const read = readLine(line)
    if (read === undefined) add('unreadable', `line ${index + 1}`)
    else if (read.event === 'kill') kills++
    else if (read.event === 'call') {
      if (!tasks.has(read.task)) tasks.set(read.task, { tool: read.tool, key: read.key, calledAfter: kills })
    } else {
      const known = tasks.get(read.task)
      if (known === undefined) add('unreadable', `line ${index + 1}: task ${read.task} was never called`)
      else if (read.event === 'unanswered') unanswered++
      else {
        const { tool, calledAfter } = known
        const hasCrashed = kills - calledAfter >= MOST_CRASHES
        const mayFail = (outcome: string): boolean =>
          expected.fragile.includes(tool) || (hasCrashed && outcome.includes(CRASHED))
        observe(read, known, owners, mayFail, add)
        if (known.id !== undefined) known.acceptedAfter ??= kills
        if (known.outcome !== undefined) known.endedAfter ??= kills
      }
    }
  }
  const all = [...tasks.values()]
  const accepted = all.filter(({ id }) => id !== undefined)
  for (const [task, { id, outcome }] of tasks)
    if (id !== undefined && outcome === undefined) add('no outcome', `task ${task} (${id})`)
  for (const [task, { id, key }] of tasks)
    if (id === undefined && key !== undefined)
      add('no outcome', `task ${task} has a key and was never accepted`)
  if (kills < expected.kills) add('too few kills', `${kills} of ${expected.kills}`)
  if (accepted.length < expected.tasks)
    add('too few tasks', `${accepted.length} of ${expected.tasks} were accepted`)
  const survived = accepted.filter(
    ({ acceptedAfter = 0, endedAfter = 0 }) => endedAfter > acceptedAfter,
  ).length
  if (survived < expected.survivors) add('too few survivors', `${survived} of ${expected.survivors}`)
  const count = (status: string): number => accepted.filter((one) => one.status === status).length
  return {
    kills,
    called: all.length,
    accepted: accepted.length,
    completed: count('completed'),
    failed: count('failed'),
    survived,
    unanswered,
    faults,
  }
}

/** Takes one answer of the server into account. */
function observe(
  line: Extract<CrashLine, { readonly event: 'accepted' | 'seen' | 'missing' | 'rejected' }>,
  known: Known,
  owners: Map<string, number>,
  mayFail: (outcome: string) => boolean,
  add: (fault: CrashFault, details: string) => void,
): void {
  const where = `task ${line.task}`
  if (line.event === 'rejected') return add('rejected', `${where}: ${line.error}`)
  if (line.event === 'missing') return add('lost', `${where} (${line.id})`)
  const { id, status } = line
  if (known.id !== undefined && known.id !== id) add('two tasks for a key', `${where}: ${known.id} and ${id}`)
  const owner = owners.get(id) ?? line.task
  if (owner !== line.task) add('shared id', `tasks ${owner} and ${line.task} have the id ${id}`)
  owners.set(id, owner)
  known.id = id
  const next = NEXT.get(known.status ?? 'working')
  const isLegal =
    NEXT.has(status) && (known.status === status || status === 'working' || next?.includes(status))
  const isBack = known.status !== undefined && next?.length === 0 && known.status !== status
  if (isLegal !== true || isBack) add('illegal path', `${where}: ${known.status} and then ${status}`)
  known.status = status
  if (line.event === 'accepted' || NEXT.get(status)?.length !== 0) return
  const outcome = `${status} ${line.outcome}`
  if (known.outcome !== undefined && known.outcome !== outcome)
    add('two outcomes', `${where}: ${known.outcome} and ${outcome}`)
  known.outcome ??= outcome
  const isRight =
    status === 'completed'
      ? line.outcome?.startsWith(`${line.task}:`) === true
      : status === 'failed' && mayFail(outcome)
  if (!isRight) add('wrong outcome', `${where} (${known.tool}): ${outcome}`)
}

function readLine(line: string): CrashLine | undefined {
  try {
    const read = JSON.parse(line) as CrashLine
    return typeof read.event === 'string' ? read : undefined
  } catch {
    return undefined
  }
}
