import { soon } from '../base/soon.ts'
import { withStored } from '../base/stored-member.ts'
import { mcpError } from '../errors/error.ts'
import { toErrorObject } from '../errors/reply.ts'
import { ASK_REFUSED, BAD_CURSOR, CURSOR_TOO_LONG } from '../errors/server.ts'
import { TASK_CANCELLED, TASK_FINAL, UNKNOWN_TASK } from '../errors/tasks.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, isWide, MAX_MEMBERS, type JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal, MOST_TASK_ID_CHARS } from '../protocol/task-status.ts'
import type { Peer } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Load } from '../rpc/load.ts'
import { storedHolder } from '../tasks/bytes.ts'
import { textOfQuestions } from '../tasks/attempt-state.ts'
import { readOutcome } from '../tasks/outcome.ts'
import type { TaskCaller } from '../tasks/plan.ts'
import type { TaskHead } from '../tasks/record.ts'
import { isOver } from '../tasks/states.ts'
import type { Soon } from '../tasks/store.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { callOf, partsOf, type Context } from './context.ts'
import { knownMembers, knownResult, rememberMembers, rememberValid } from './outcome-texts.ts'
import { callerOf, taskOwnerOf } from './task-caller.ts'
import { requireTasks } from './task-calls.ts'
import { carry } from './task-carriers.ts'
import { related } from './task-messages.ts'
import { toTask } from './task-shape.ts'

/** Questions whose text is shorter are written again each time. */
const LONG_CHARS = 1024

/** `tasks/get` */
export function getTask(tasks: Tasks, context: Context): Soon<Result> {
  const call = callOf(context)
  const style = requireTasks(call)
  const id = readId(context)
  return soon(tasks.find(id, taskOwnerOf(call)), (head) => {
    if (head === undefined) throw unknownTask(id)
    return style === 'asked' ? toTask(head, call.peer) : detailed(tasks, head, call.peer)
  })
}

/** A task with what goes with its status: questions, result or error. */
export function detailed(tasks: Tasks, head: TaskHead, peer: Pick<Peer, 'dialect'>): Soon<Result> {
  if (head.status === 'working' || head.status === 'cancelled') return toTask(head, peer)
  if (head.status === 'input_required')
    return soon(tasks.questions.of(head), (questions) => {
      if (questions === undefined) throw unknownTask(head.id)
      for (const [name, { method }] of questions) giveUpLate(tasks, head, name, method)
      const task = toTask(head, peer)
      const value = (): JsonObject => Object.fromEntries(questions)
      const text = textOfQuestions(questions)
      // A client asks every second or so, and a question may be long.
      return text === undefined || text.length < LONG_CHARS
        ? { ...task, inputRequests: value() }
        : withStored(task, { name: 'inputRequests', text, value })
    })
  return soon(tasks.reads.of(head, 'outcome'), (ended) => {
    if (ended === undefined) throw unknownTask(head.id)
    const { text } = ended
    const task = toTask(ended.head, peer)
    if (text === '') return task
    const known = knownResult(tasks, head.id, text)
    const withType = (result: JsonObject): JsonObject => ({ resultType: 'complete', ...result })
    const value = (): unknown => knownMembers(tasks, head.id, text, withType) ?? JSON.parse(known ?? '')
    if (known !== undefined) return withStored(task, { name: 'result', text: known, value })
    const outcome = readOutcome(text)
    if ('error' in outcome) return { ...task, error: toErrorObject(outcome.error, peer.dialect) }
    rememberValid(tasks, head.id, text, outcome.result)
    rememberMembers(tasks, head.id, text, outcome.result)
    return { ...task, result: withType(outcome.result) }
  })
}

/** Gives up a question at which clients have looked for too long without an answer. */
function giveUpLate(tasks: Tasks, head: TaskHead, question: string, method: string): void {
  const { id, owner, pollMs } = head
  const { questionMs } = tasks.host.limits
  const { name, network = name } = storedHolder(head)
  const place = `${id} ${question}`
  if (tasks.unanswered.look(network, place, tasks.clock.now(), pollMs) < questionMs) return
  tasks.unanswered.delete(network, place)
  const error = mcpError(ASK_REFUSED, { method, reason: `no answer within ${questionMs} ms` })
  tasks.unawaited(() => tasks.refuse(id, owner, question, error))
}

/** `tasks/cancel` */
export function cancelTask(tasks: Tasks, context: Context): Soon<Result> {
  const call = callOf(context)
  const style = requireTasks(call)
  const id = readId(context)
  return soon(tasks.cancel(id, taskOwnerOf(call)), (cancelled) => {
    if (cancelled === undefined) throw unknownTask(id)
    if (style === 'extension') return {}
    const { head, isDone } = cancelled
    const task = toTask(head, call.peer)
    if (!isDone) throw mcpError(TASK_FINAL, { id, status: String(task['status']) })
    return task
  })
}

/** `tasks/update`: takes answers to the questions of a task. */
export function updateTask(tasks: Tasks, context: Context): Soon<Result> {
  const call = callOf(context)
  requireTasks(call)
  const id = readId(context)
  const responses = context.params['inputResponses']
  if (!isObject(responses)) throw invalid(context, 'inputResponses is not an object')
  if (isWide(responses)) throw invalid(context, `inputResponses has more than ${MAX_MEMBERS} members`)
  const answers = Object.entries(responses) as [string, JsonObject][]
  const wrong = answers.find(([, answer]) => !isObject(answer))
  if (wrong !== undefined) throw invalid(context, `the answer to "${wrong[0].slice(0, 64)}" is not an object`)
  return soon(tasks.answer(id, taskOwnerOf(call), answers), (isKnown) => {
    if (!isKnown) throw unknownTask(id)
    return {}
  })
}

/** The most tasks on a page: a store reads far more of each, such as its key, than the page shows. */
const MOST_TASKS = 100

/** `tasks/list`: the tasks of a caller that can be told apart from others. */
export function listTasks(tasks: Tasks, pageSize: number, context: Context): Soon<Result> {
  const { cursor } = context.params
  const { cursorLength } = partsOf(context).limits
  const isFirst = cursor === undefined || cursor === null || cursor === ''
  if (!isFirst && typeof cursor !== 'string') throw mcpError(BAD_CURSOR, {})
  if (!isFirst && cursor.length > cursorLength) throw mcpError(CURSOR_TOO_LONG, { limit: cursorLength })
  return soon(callerOf(callOf(context)), (caller) =>
    pageFor(
      tasks,
      caller,
      { pageSize: Math.min(pageSize, MOST_TASKS), cursor: isFirst ? undefined : cursor },
      context,
    ),
  )
}

/** A page of the tasks of a caller, after a cursor if there is one. */
function pageFor(
  tasks: Tasks,
  { owner, scope }: TaskCaller,
  { pageSize, cursor }: { readonly pageSize: number; readonly cursor: string | undefined },
  context: Context,
): Soon<Result> {
  const { peer } = callOf(context)
  if (scope === '') return { tasks: [] }
  const page = (after?: string): Soon<Result> =>
    soon(tasks.list({ scope, limit: pageSize + 1, ...(after === undefined ? {} : { after }) }), (heads) => {
      const now = tasks.clock.now()
      const isMore = heads.length > pageSize
      const all = heads.slice(0, pageSize)
      const shown = all.filter((head) => !isOver(head, now))
      if (isMore && shown.length === 0) return page(all.at(-1)?.id)
      const more = isMore ? { nextCursor: shown.at(-1)?.id } : {}
      return { tasks: shown.map((head) => toTask(head, peer)), ...more }
    })
  if (cursor === undefined) return page()
  return soon(tasks.find(cursor, owner), (last) => {
    if (last === undefined || last.scope !== scope) throw mcpError(BAD_CURSOR, {})
    return page(cursor)
  })
}

/** `tasks/result`: waits for the end of a task and answers as its request would have. Carries the questions of the task meanwhile. */
export function taskResult(tasks: Tasks, load: Load, context: Context): Soon<Result> {
  const call = callOf(context)
  const id = readId(context)
  const owner = taskOwnerOf(call)
  return soon(tasks.find(id, owner), (head) => {
    // Nothing is reserved for an id that does not exist.
    if (head === undefined) throw unknownTask(id)
    if (isFinal(head.status)) return resultOf(tasks, id, owner)
    const { allInFlight } = partsOf(context).limits
    return load
      .whileAsking(call, allInFlight, () => carry(tasks, head, call))
      .then(() => resultOf(tasks, id, owner))
  })
}

/** The result of a task that has ended. */
function resultOf(tasks: Tasks, id: string, owner: string): Soon<Result> {
  return soon(tasks.ended(id, owner), (ended) => {
    if (ended === undefined) throw unknownTask(id)
    const { text } = ended
    if (text === '') throw mcpError(TASK_CANCELLED, {})
    const withTask = (result: JsonObject): JsonObject => ({ ...result, _meta: related(id, result['_meta']) })
    const known = knownMembers(tasks, id, text, withTask)
    if (known !== undefined) return known
    const outcome = readOutcome(text)
    if ('error' in outcome) throw outcome.error
    rememberMembers(tasks, id, text, outcome.result)
    return withTask(outcome.result)
  })
}

function readId(context: Context): string {
  const id = context.params['taskId']
  if (typeof id !== 'string') throw invalid(context, 'taskId is not a string')
  if (id.length > MOST_TASK_ID_CHARS) throw unknownTask(id)
  return id
}

function invalid(context: Context, reason: string): Error {
  return mcpError(BAD_PARAMS, { method: context.method, reason })
}

function unknownTask(id: string): Error {
  return mcpError(UNKNOWN_TASK, { id: id.slice(0, MOST_TASK_ID_CHARS) })
}
