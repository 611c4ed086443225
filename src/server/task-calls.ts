import { nextTask } from '../base/next-task.ts'
import { orElse, soon } from '../base/soon.ts'
import { mcpError } from '../errors/error.ts'
import { MISSING_CAPABILITY } from '../errors/server.ts'
import { TASK_CANCELLED, TASK_FORBIDDEN, TASK_REQUIRED } from '../errors/tasks.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Call, Peer, RequestSource } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Checked } from '../schema/checker.ts'
import { TaskLink } from '../tasks/link.ts'
import { isReserved } from '../tasks/key.ts'
import { readOutcome } from '../tasks/outcome.ts'
import type { TaskPlan } from '../tasks/plan.ts'
import type { TaskHead } from '../tasks/record.ts'
import { Run } from '../tasks/run.ts'
import type { Begun, TaskDraft } from '../tasks/host.ts'
import type { Soon } from '../tasks/store.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { callOf, partsOf, roundsOf, type Context } from './context.ts'
import type { ToolDefinition } from './definitions.ts'
import { knownMembers, rememberMembers } from './outcome-texts.ts'
import { progressToken } from './progress.ts'
import { digestOf } from './state.ts'
import { callerOf, hasScope } from './task-caller.ts'
import { sendOfTask, tellStatus } from './task-messages.ts'
import { checkSame, lastingSource, requestOf, withSame, withToken } from './task-request.ts'
import { toTask } from './task-shape.ts'
import type { ToolCall } from './tools.ts'

/** Whether a client declared the extension on its request. */
function declaresTasks({ capabilities }: Peer): boolean {
  const { extensions } = capabilities
  return (
    isObject(extensions) &&
    Object.hasOwn(extensions, TASKS_EXTENSION) &&
    isObject(extensions[TASKS_EXTENSION])
  )
}

/** Throws if a client at a revision with the extension did not declare it. */
export function requireTasks(call: Call): 'asked' | 'extension' {
  const style = call.peer.dialect.tasks as 'asked' | 'extension'
  if (style === 'extension' && !declaresTasks(call.peer)) throw undeclared()
  return style
}

function undeclared(): Error {
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } }
  return mcpError(MISSING_CAPABILITY, { capability: `extensions["${TASKS_EXTENSION}"]` }, { data })
}

/** Answers a call of a server with tasks: with a result, or with a task. */
export function callAsTask(tasks: Tasks, ways: ToolCall): Result | Promise<Result> {
  const { tool, context } = ways
  const call = callOf(context)
  const plan = tool.task
  if (call.task !== undefined) return again(call.task as Run, ways)
  const wish = wishOf(call, tool)
  if (wish === 'never' || plan === undefined) return ways.now()
  const isScoped = hasScope(call)
  if (plan.key !== undefined && !isScoped) warnOfKey(tool, context)
  const run = newRun(tasks, tool, plan, call)
  if (wish === 'wait' && (plan.key === undefined || !isScoped || mayBeAsked(call))) return waiting(run, ways)
  if (wish !== 'maybe' && wish !== 'wait')
    return soon(ways.check(), (input) => atOnce(run, context, ways, input, wish))
  if (plan.key === undefined || !isScoped) return later(run, context, ways)
  return soon(ways.check(), (input) =>
    soon(keyOf(tool.key, plan, input, context), (key) =>
      input.ok && key !== ''
        ? keyed(run, context, ways, input, { key, afterMs: wish === 'wait' ? Infinity : plan.afterMs })
        : wish === 'wait'
          ? waiting(run, ways)
          : later(run, context, ways),
    ),
  )
}

/** Whether handlers can ask the client of a call, which only a call that is no task can do at every revision. */
function mayBeAsked({ peer: { capabilities } }: Call): boolean {
  return ['elicitation', 'sampling', 'roots'].some((name) => isObject(capabilities[name]))
}

/** Runs a further attempt of a task. */
function again(run: Run, ways: ToolCall): Result | Promise<Result> {
  return run.tasks.gates.enter(run, () =>
    soon(ways.check(), (input) => {
      run.tasks.holdMore(run, copyOf(input, run.call))
      return ways.run(input)
    }),
  )
}

/** The arguments that a schema has made of those of a call; undefined if they are the same. */
function copyOf(input: Checked<unknown>, { params }: Call): unknown {
  return input.ok && input.value !== params['arguments'] ? input.value : undefined
}

function warnOfKey({ key: name }: ToolDefinition, context: Context): void {
  const problem = `the option key of tool "${name}" has no effect for callers without credentials or a session`
  partsOf(context).warnOnce('key', name, `${problem}, who cannot be told apart; authenticate them`)
}

/** Says once of each tool that its tasks are not kept for as long as it wants. */
function warnOfTtl({ plan, tool }: Run, context: Context): void {
  const { limits, warnOnce } = partsOf(context)
  if (plan === undefined || plan.ttlMs <= limits.taskMs) return
  warnOnce('ttl', tool, `the ttl of tool "${tool}" is cut to limits.taskMs`)
}

/** Whether a call becomes a task: never, not visibly, perhaps after a while, or at once. */
function wishOf(call: Call, { key: name, task: plan }: ToolDefinition): 'never' | 'wait' | 'maybe' | Wish {
  if (call.asTask !== undefined && plan !== undefined) return call.asTask
  if (call.asTask === 'wait') return 'never'
  if (call.asTask !== undefined) throw mcpError(TASK_FORBIDDEN, { name })
  const { tasks: style } = call.peer.dialect
  if (style === 'asked') {
    const asked = call.params['task']
    if (asked !== undefined && plan === undefined) throw mcpError(TASK_FORBIDDEN, { name })
    if (asked !== undefined) return readWish(call, asked)
    if (plan?.mode === 'required') throw mcpError(TASK_REQUIRED, { name })
  }
  if (plan === undefined) return 'never'
  if (style !== 'extension') return 'wait'
  if (!declaresTasks(call.peer)) {
    if (plan.mode === 'required') throw undeclared()
    return 'wait'
  }
  return plan.mode === 'required' ? {} : 'maybe'
}

/** How long a client wants its task to be kept. */
interface Wish {
  readonly ttlMs?: number | null | undefined
}

function readWish(call: Call, asked: unknown): Wish {
  const invalid = (reason: string): Error => mcpError(BAD_PARAMS, { method: call.method, reason })
  if (!isObject(asked)) throw invalid('task is not an object')
  const { ttl } = asked
  if (ttl === undefined || ttl === null) return { ttlMs: ttl }
  if (typeof ttl !== 'number' || !(ttl >= 0)) throw invalid('task.ttl is not a number of milliseconds')
  return { ttlMs: ttl }
}

function newRun(tasks: Tasks, tool: ToolDefinition, plan: TaskPlan, call: Call): Run {
  const run = new Run(tasks, tool.key, plan)
  run.call = call
  return run
}

/** Runs a call that cannot become a task, when there is a place for it. */
function waiting(run: Run, ways: ToolCall): Result | Promise<Result> {
  if (run.plan?.concurrency === Infinity) return ways.now()
  run.call.aside = (wait) => run.aside(wait)
  return untilCancelled(
    run,
    run.tasks.gates.enter(run, () => ways.now()),
  )
}

/** Leaves the queue of a tool when the request is cancelled; a handler that waits for an answer goes on without a place. */
function untilCancelled(run: Run, result: Result | Promise<Result>): Result | Promise<Result> {
  if (!(result instanceof Promise)) return result
  const { signal } = run.call
  const giveUp = (): void => {
    run.giveUp?.()
    run.place?.giveUp()
  }
  signal.addEventListener('abort', giveUp, { once: true })
  return result.finally(() => signal.removeEventListener('abort', giveUp))
}

/** Makes the call a task before it runs; answers with the task. */
function atOnce(
  run: Run,
  context: Context,
  ways: ToolCall,
  input: Checked<unknown>,
  { ttlMs }: Wish,
): Result | Promise<Result> {
  const { call, plan } = run
  // A client that takes any answer gets the error at once. One that asked for an official task expects a task.
  if (!input.ok && (call.asTask !== undefined || call.peer.dialect.tasks === 'extension'))
    return ways.run(input)
  const stored = soon(keyOf(ways.tool.key, plan as TaskPlan, input, context), (key) =>
    store(run, context, input, { key, ttlMs }),
  )
  return soon(stored, (begun) => {
    if (begun.outcome === 'rejected') throw begun.error
    ;(run.tasks as Tasks).waiters.end(begun.head.id)
    if (begun.outcome === 'created') startSoon(run, ways, input)
    return toTask(begun.head, call.peer, 'task')
  })
}

/** Runs the handler after the task was answered. */
function startSoon(run: Run, ways: ToolCall, input: Checked<unknown>): void {
  void nextTask().then(() => start(run, ways, input))
}

function start(run: Run, ways: ToolCall, input: Checked<unknown>): void {
  if (run.isOver) return
  run.tasks.work(run, () => ways.run(input))
}

/** Makes the call a task before it runs, since others may join it, and waits a while for its end. */
function keyed(
  run: Run,
  context: Context,
  ways: ToolCall,
  input: Checked<unknown>,
  { key, afterMs }: { readonly key: string; readonly afterMs: number },
): Result | Promise<Result> {
  const { call } = run
  const { channel, peer } = call
  const tasks = run.tasks as Tasks
  return soon(store(run, context, input, { key }), (begun) => {
    // Without a task, the work could run twice.
    if (begun.outcome === 'rejected') throw begun.error
    if (begun.outcome === 'exists') return endOrTask(tasks, begun.head, call, afterMs)
    const unlink = run.link?.add((method, params) => channel.emit(method, params, peer))
    start(run, ways, input)
    return endOrTask(tasks, begun.head, call, afterMs).finally(() => unlink?.())
  })
}

/** The end of a task if it comes in time; otherwise the task. */
async function endOrTask(
  tasks: Tasks,
  { id, owner }: TaskHead,
  call: Call,
  afterMs: number,
): Promise<Result> {
  const giveUp = (): void => {
    if (tasks.waiters.giveUp(id)) tasks.unawaited(() => tasks.cancel(id, owner, ({ isShared }) => !isShared))
  }
  if (call.cancelled) giveUp()
  else call.onCancel = giveUp
  await tasks
    .until(id, owner, (head) => isFinal(head.status), afterMs)
    .finally(() => {
      call.onCancel = undefined
      if (!call.cancelled) tasks.waiters.end(id)
    })
  const ended = await tasks.ended(id, owner)
  if (ended === undefined || ended.head.status === 'cancelled') throw mcpError(TASK_CANCELLED, {})
  if (!isFinal(ended.head.status)) return toTask(ended.head, call.peer, 'task')
  const known = knownMembers(tasks, id, ended.text, (others) => others)
  if (known !== undefined) return known
  const outcome = readOutcome(ended.text)
  if ('error' in outcome) throw outcome.error
  rememberMembers(tasks, id, ended.text, outcome.result)
  return outcome.result
}

/** Runs the call, which becomes a task if it has not finished after a while. */
function later(run: Run, context: Context, ways: ToolCall): Result | Promise<Result> {
  const { tasks, call, plan } = run
  call.task = run
  let input: Checked<unknown> | undefined
  const work = (): Result | Promise<Result> => soon(ways.check(), (checked) => ways.run((input = checked)))
  const result = untilCancelled(run, tasks.gates.enter(run, work))
  if (!(result instanceof Promise)) {
    call.task = undefined
    return result
  }
  return new Promise((resolve, reject) => {
    let timer: unknown = tasks.clock.after((plan as TaskPlan).afterMs, () => {
      timer = undefined
      tasks.unawaited(async () => {
        const task = await promote(run, context, result, input)
        if (task !== undefined) resolve(task)
      })
    })
    const unlessTask = (act: () => void): void => {
      tasks.clock.clear(timer)
      const isTask = run.isTask()
      if (isTask instanceof Promise) void isTask.then((is) => is || act())
      else if (!isTask) act()
    }
    result.then(
      (value) => unlessTask(() => resolve(value)),
      (error: unknown) => unlessTask(() => reject(error as Error)),
    )
  })
}

/** Makes a running call a task, if there is room and it has not ended with a question. */
async function promote(
  run: Run,
  context: Context,
  result: Promise<Result>,
  input: Checked<unknown> | undefined,
): Promise<Result | undefined> {
  if (run.call.aborted || (roundsOf(context)?.questions.size ?? 0) > 0) return undefined
  const stored = new Promise<Begun>((resolve) => resolve(store(run, context, input, { key: '' })))
  run.storing = stored.then(
    ({ outcome }) => outcome === 'created',
    () => false,
  )
  const begun = await stored.catch((error: unknown) => run.tasks.reportFailure(error))
  if (begun?.outcome !== 'created') return undefined
  run.tasks.settle(run, result)
  return toTask(begun.head, run.call.peer, 'task')
}

/** Stores the call of a run as a task; from then on it outlives its request. Joins the task that has its key instead, if there is one. */
function store(
  run: Run,
  context: Context,
  input: Checked<unknown> | undefined,
  wish: Wish & { readonly key: string },
): Begun | Promise<Begun> {
  const { key, ttlMs } = wish
  const { call } = run
  if (ttlMs === undefined) warnOfTtl(run, context)
  call.task = run
  const plain = requestOf(call)
  const lasting = lastingSource(call.source)
  const { answers, early } = roundsOf(context) ?? {}
  const keeps = [call.id, progressToken(call), input && copyOf(input, call), answers, early, lasting[1]]
  return soon(key === '' ? plain : withSame(plain), (request) =>
    soon(callerOf(call), (caller) => begin(run, { caller, key, ttlMs, request, keeps }, lasting[0])),
  )
}

function begin(run: Run, draft: TaskDraft, source: RequestSource): Begun | Promise<Begun> {
  const { call } = run
  const { key, request } = draft
  const { session } = call.peer
  const tasks = run.tasks as Tasks
  return soon(tasks.begin(run, draft), (begun) => {
    if (begun.outcome === 'exists') {
      const joined = soon(checkSame(tasks, begun.head, request), () => tasks.join(begun.head))
      // One that was cancelled meanwhile has freed its key.
      return soon(joined, (isThere) => (isThere ? begun : begin(run, draft, source)))
    }
    if (begun.outcome !== 'created') return begun
    if (call.aborted) return abandon(tasks, run, begun.head)
    // At once, since those that find its key at the same time join it.
    if (key !== '') tasks.waiters.begin(begun.head.id)
    // Jobs are only polled.
    const isJob = call.asTask !== undefined
    const isAsked = call.peer.dialect.tasks === 'asked' && call.params['task'] !== undefined && !isJob
    const token = isAsked || key !== '' ? progressToken(call) : undefined
    if (session !== undefined && isAsked)
      run.link = new TaskLink(token, sendOfTask(session), session.reachable ? tellStatus(session) : undefined)
    else if (token !== undefined) run.link = new TaskLink(token)
    call.becomeTask(run, withToken(request.params, token), source)
    return begun
  })
}

/** The client left while its task was stored, so nobody knows the id. Another call may have found the key: then any node begins the task. */
function abandon(tasks: Tasks, run: Run, { id }: TaskHead): Soon<Begun> {
  const withdraw = (): Soon<void> =>
    soon(
      tasks.cancel(id, undefined, ({ isShared }) => !isShared),
      (done) => (done?.isDone === false && !run.isOver ? tasks.giveBack(run) : undefined),
    )
  const error = mcpError(TASK_CANCELLED, {})
  const withdrawn = orElse(withdraw, () => {
    tasks.leave(run, error)
    tasks.inDoubt.creation(id)
  })
  return soon(withdrawn, () => ({ outcome: 'rejected', error }))
}

function keyOf(tool: string, { key }: TaskPlan, input: Checked<unknown>, context: Context): Soon<string> {
  if (key === undefined || !input.ok) return ''
  const made: unknown = key(input.value as never, context as never)
  if (made === undefined) {
    const problem = `the option key of tool "${tool}" returned undefined, so that call is a task of its own`
    partsOf(context).warnOnce('undefined key', tool, `${problem}; return a text that identifies the work`)
    return ''
  }
  if (typeof made !== 'string' && typeof made !== 'number')
    throw new TypeError(`the key of a task must be a string; the option key returned ${typeof made}`)
  const text = String(made)
  const isPlain = text.length <= MOST_KEY_CHARS && !isReserved(text)
  return isPlain ? text : digestOf(text).then((digest) => `sha-256 ${digest}`)
}

const MOST_KEY_CHARS = 1024
