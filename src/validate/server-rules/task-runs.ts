import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, member, type Message } from '../message.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply, Session } from '../session.ts'
import { answersTo, inputOf } from '../survey.ts'
import { requestTool } from '../tool-call.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
/** The states that a task does not leave. */
export const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])
/** The states that a task leaves. */
const OPEN: ReadonlySet<unknown> = new Set(['working', 'input_required'])

/** The most tools that are run as tasks, and the time for all of them. */
const MOST_TOOLS = 16
const ALL_MS = 8_000
/** The least and the most time between two looks at a task. */
const POLL_MS = [50, 300] as const
/** The most rounds of questions before a call becomes a task. */
const MOST_ROUNDS = 3

/** A call that was to become a task. If it did, it was followed to its end. */
export interface TaskRun {
  readonly tool: Message
  readonly created: Reply
  /** The task in the reply; undefined if the call did not become one. */
  readonly task: Message | undefined
  readonly id: string
  /** The answers to `tasks/get`, two of them after the end. */
  readonly gets: readonly Reply[]
  /** The answers to `tasks/update`, at 2026-07-28. */
  readonly updates: readonly Update[]
  /** The answer to `tasks/result`, which was sent at once, and to the `tasks/get` after it, at 2025-11-25. */
  readonly outcome: Reply | undefined
  readonly after: Reply | undefined
  /** The place of the trace after the reply, and after everything. */
  readonly from: number
  readonly to: number
}

export interface Update {
  /** Whether it had an answer that nobody asked for. */
  readonly hasUnknown: boolean
  readonly reply: Reply
}

/** The states of a task that were seen, in the order in which they came. */
export function statesOf({ gets, after }: TaskRun): readonly Message[] {
  return [...gets, ...(after === undefined ? [] : [after])]
    .toSorted((one, other) => (one.received?.at ?? 0) - (other.received?.at ?? 0))
    .flatMap(({ result }) => (result === undefined ? [] : [result]))
}

/** The last state of a task that was seen. */
export function lastOf(run: TaskRun): Message | undefined {
  return statesOf(run).at(-1)
}

/** Whether the server says that it runs tools as tasks. */
export async function hasTasks(subject: ServerSubject): Promise<boolean> {
  const capabilities = await subject.capabilities()
  return subject.isModern
    ? member(capabilities, 'extensions', TASKS) !== undefined
    : member(capabilities, 'tasks', 'requests', 'tools', 'call') !== undefined
}

/** The capabilities of a client that has the extension for tasks. */
export function withTasks({ capabilities }: Session): Message {
  return { ...capabilities, extensions: { [TASKS]: {} } }
}

/** Runs tools as tasks, once for all checks. */
export function taskRuns(subject: ServerSubject): Promise<readonly TaskRun[]> {
  return subject.once('tasks', async () => {
    if (!(await hasTasks(subject))) return []
    const until = performance.now() + ALL_MS
    const tools = subject.isModern ? await likelyTools(subject) : await taskTools(subject)
    const session = await subject.forCalls()
    return Promise.all(tools.slice(0, MOST_TOOLS).map((tool) => runTask(session, tool, until)))
  })
}

/** The runs that became tasks. */
export async function startedRuns(subject: ServerSubject): Promise<readonly TaskRun[]> {
  return (await taskRuns(subject)).filter(({ task, id }) => task !== undefined && id !== '')
}

/** The tools that can run as tasks, at 2025-11-25. */
export async function taskTools(
  subject: ServerSubject,
  supports: readonly string[] = ['optional', 'required'],
): Promise<readonly Message[]> {
  const tools = await subject.callable()
  return tools.filter((tool) => supports.includes(String(member(tool, 'execution', 'taskSupport'))))
}

/** No tool says whether its calls become tasks at 2026-07-28: those that want it, and the slow ones, may. */
async function likelyTools(subject: ServerSubject): Promise<readonly Message[]> {
  const { calls } = await subject.survey()
  const isWanted = ({ error }: Reply): number => (error?.['code'] === -32_021 ? 1 : 0)
  return calls
    .toSorted((one, other) => isWanted(other.reply) - isWanted(one.reply) || other.ms - one.ms)
    .map(({ tool }) => tool)
}

/** Calls a tool so that it becomes a task. */
async function startTask(session: Session, tool: Message): Promise<Reply> {
  const input = inputOf(tool)
  const task = session.isModern ? {} : { task: { ttl: 60_000 } }
  const options = session.isModern
    ? {
        capabilities: withTasks(session),
        meta: {
          progressToken: `task-${session.newId()}`,
          'io.modelcontextprotocol/logLevel': 'debug',
        },
      }
    : {}
  let reply = await requestTool(session, [tool, input, task], options)
  for (let round = 0; round < MOST_ROUNDS && reply.result?.['resultType'] === 'input_required'; round++)
    reply = await requestTool(session, [tool, input, { ...task, ...answersTo(reply) }], options)
  return reply
}

/** The task in the reply to a call; undefined if there is none. */
function taskIn(session: Session, { result }: Reply): Message | undefined {
  if (session.isModern) return result?.['resultType'] === 'task' ? result : undefined
  const task = result?.['task']
  return isObject(task) ? task : undefined
}

async function runTask(session: Session, tool: Message, until: number): Promise<TaskRun> {
  const created = await startTask(session, tool)
  const from = session.wire.trace.mark
  const task = taskIn(session, created)
  const id = typeof task?.['taskId'] === 'string' ? task['taskId'] : ''
  const nothing = { gets: [], updates: [], outcome: undefined, after: undefined }
  if (id === '') return { tool, created, task, id, ...nothing, from, to: from }
  const end = { isThere: false }
  const [followed, ended] = await Promise.all([
    follow(session, id, until, end),
    session.isModern ? undefined : waitForOutcome(session, id, until).finally(() => (end.isThere = true)),
  ])
  const parts = { ...nothing, ...followed, ...ended }
  return { tool, created, task, id, ...parts, from, to: session.wire.trace.mark }
}

/** Asks for the outcome of a task, which must come at its end, and for its state then. */
async function waitForOutcome(
  session: Session,
  taskId: string,
  until: number,
): Promise<Pick<TaskRun, 'outcome' | 'after'>> {
  const ms = Math.max(1, until - performance.now())
  const outcome = await session.request('tasks/result', { taskId }, { ms })
  return { outcome, after: await session.request('tasks/get', { taskId }) }
}

/** Looks at a task until it has ended, and twice more. At 2026-07-28, answers its questions. */
async function follow(
  session: Session,
  taskId: string,
  until: number,
  end: { readonly isThere: boolean },
): Promise<Pick<TaskRun, 'gets' | 'updates'>> {
  const gets: Reply[] = []
  const updates: Update[] = []
  const answered = new Set<string>()
  const options = session.isModern ? { capabilities: withTasks(session) } : {}
  const get = async (): Promise<Message | undefined> => {
    const reply = await session.request('tasks/get', { taskId }, options)
    gets.push(reply)
    return reply.result
  }
  for (;;) {
    const state = await get()
    if (state === undefined || performance.now() > until) return { gets, updates }
    // The outcome may say that the task has ended, and a wrong server may have states of its own.
    if (end.isThere || !OPEN.has(state['status'])) break
    if (session.isModern && state['status'] === 'input_required')
      updates.push(...(await answer(session, taskId, gets.at(-1) as Reply, answered)))
    await sleep(pollMs(state))
  }
  await get()
  await get()
  return { gets, updates }
}

/** Answers the questions of a task that were not answered yet, and one that was not asked. */
async function answer(
  session: Session,
  taskId: string,
  asked: Reply,
  answered: Set<string>,
): Promise<readonly Update[]> {
  const all = Object.entries(answersTo(asked)['inputResponses'] as Message)
  const open = all.filter(([key]) => !answered.has(key))
  if (open.length === 0) return []
  for (const [key] of open) answered.add(key)
  const options = { capabilities: withTasks(session) }
  const answers = Object.fromEntries(open)
  const more = { ...answers, 'validator-unknown': { action: 'accept', content: {} } }
  const first = await session.request('tasks/update', { taskId, inputResponses: more }, options)
  if (first.error === undefined) return [{ hasUnknown: true, reply: first }]
  const second = await session.request('tasks/update', { taskId, inputResponses: answers }, options)
  return [
    { hasUnknown: true, reply: first },
    { hasUnknown: false, reply: second },
  ]
}

function pollMs(state: Message): number {
  const wanted = Number(state['pollIntervalMs'] ?? state['pollInterval'] ?? POLL_MS[1])
  const [least, most] = POLL_MS
  return Number.isFinite(wanted) ? Math.min(most, Math.max(least, wanted)) : most
}

/** A task that was cancelled while it ran. */
export interface CancelledTask {
  /** The answer to `tasks/cancel`. */
  readonly cancelled: Reply
  /** The answers to `tasks/get` afterwards. */
  readonly gets: readonly Reply[]
}

/** Starts a task and cancels it at once, once for all checks; undefined if there is none to cancel. */
export function cancelledTask(subject: ServerSubject): Promise<CancelledTask | undefined> {
  return subject.once('cancelled task', async () => {
    // The tool that asks, or the slowest one, still runs when it is cancelled.
    const run = (await startedRuns(subject)).toSorted((one, other) => other.gets.length - one.gets.length)[0]
    if (run === undefined) return undefined
    const session = await subject.forCalls()
    const options = session.isModern ? { capabilities: withTasks(session) } : {}
    const task = taskIn(session, await startTask(session, run.tool))
    if (typeof task?.['taskId'] !== 'string') return undefined
    const params = { taskId: task['taskId'] }
    const cancelled = await session.request('tasks/cancel', params, options)
    const first = await session.request('tasks/get', params, options)
    await sleep(150)
    return { cancelled, gets: [first, await session.request('tasks/get', params, options)] }
  })
}
