import { toMs } from '../base/duration.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { DURATION } from '../base/kinds.ts'
import type { McpError } from '../errors/error.ts'
import { mcpError } from '../errors/error.ts'
import { NOT_OFFERED } from '../errors/rpc.ts'
import { UNKNOWN_TASK } from '../errors/tasks.ts'
import { markReceived } from '../errors/where.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import { LATEST } from '../protocol/revisions.ts'
import { Clock } from '../rpc/clock.ts'
import { reportProgress } from '../rpc/report-progress.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Conversation } from './conversation.ts'
import { CoreTask } from './core-task.ts'
import { ExtensionTask } from './task-extension.ts'
import type { Following } from './following.ts'
import type { Agreement } from './negotiate.ts'
import { has } from './offered.ts'
import { CALL_OPTIONS, toRequestOptions, type CallOptions } from './options.ts'
import { finished, RunningTask } from './running-task.ts'
import { TOKEN } from './results.ts'
import type { UnfinishedRequest } from './rounds.ts'
import type { StartOptions, TaskHandle } from './task-handle.ts'
import { badTask, readId } from './task-report.ts'

/** How long to wait for the server to accept that a task is no longer needed. */
const CANCEL_MS = 5000

/** Waits for the result of a call that became a task. If nobody waits any longer, the task is cancelled. */
export async function waitForTask(
  conversation: Conversation,
  { method, options, result }: UnfinishedRequest,
): Promise<JsonObject> {
  const following = await follow(conversation, method, result, options)
  options.onTask?.(following.id)
  const deadline = conversation.connection.deadline(method, { ...options, idleMs: Infinity })
  let last = options.reported?.last
  const off = following.onProgress((next) => {
    // At 2025-11-25 numbers follow.
    const isText = next.progress === undefined
    if (isText && (following instanceof CoreTask || next.message === last?.message)) return
    last = next
    reportProgress(options.onProgress, deadline, last)
  })
  try {
    const outcome = await following.wait(deadline.signal)
    if ('result' in outcome) return outcome.result
    throw markReceived(outcome.error)
  } catch (error) {
    void following.cancel(conversation.connection.closing, CANCEL_MS).catch(() => undefined)
    throw error
  } finally {
    off()
    deadline.end()
  }
}

/** Calls a tool and returns a handle as soon as the server has answered. */
export async function start(
  conversation: Conversation,
  name: string,
  input: unknown,
  given: StartOptions = {},
): Promise<TaskHandle> {
  checkOptions<StartOptions>('start', given, { ...CALL_OPTIONS, ttl: DURATION })
  const { ttl, ...options } = given
  const clock = new Clock()
  const settings = { ...toRequestOptions(options), clock }
  const agreement = await conversation.connection.agreement(settings)
  const task = ttl === undefined ? {} : { ttl: toMs(ttl, 'start ttl') }
  let asTask = {}
  if (has(agreement.capabilities, 'tasks.requests.tools.call') && agreement.revision !== LATEST) {
    if (!conversation.known.has(name)) await conversation.refreshTools(options, clock)
    if (conversation.known.get(name)?.taskSupport !== undefined) asTask = { task }
  }
  const result = await conversation.call(name, input, options, asTask, clock)
  const isTask = result['resultType'] === 'task'
  const following = isTask ? await follow(conversation, 'tools/call', result, settings) : finished(result)
  return new RunningTask(conversation, following, name)
}

/** Continues with a task that this client or another began. */
export async function resume(
  conversation: Conversation,
  id: string,
  options: CallOptions = {},
): Promise<TaskHandle> {
  checkOptions('resume', options, CALL_OPTIONS)
  if (typeof id !== 'string' || id === '')
    throw badOption('resume', 'pass the id of a task, as its handle has it')
  const { connection } = conversation
  const settings = { ...toRequestOptions(options), clock: new Clock() }
  const agreement = await connection.agreement(settings)
  const method = 'tasks/get'
  const capability = agreement.revision === LATEST ? TASKS_EXTENSION : 'tasks'
  if (!offersTasks(agreement)) throw markReceived(mcpError(NOT_OFFERED, { method, capability }))
  const sent: RequestOptions = { ...settings, repeatable: true, undeclared: true }
  const task = await connection.request(method, { taskId: id }, sent).catch((error: unknown) => {
    const isUnknown = (error as McpError).code === -32602
    throw isUnknown ? markReceived(mcpError(UNKNOWN_TASK, { id }, { cause: error })) : error
  })
  const Task = agreement.revision === LATEST ? ExtensionTask : CoreTask
  return new RunningTask(conversation, new Task(conversation, id, task, settings))
}

/** Follows the task that a result of a call describes. */
async function follow(
  conversation: Conversation,
  method: string,
  task: JsonObject,
  options: RequestOptions,
): Promise<Following> {
  const agreement = await conversation.connection.agreement()
  if (method !== 'tools/call') throw badTask(method, 'only calls of tools may be tasks')
  const id = readId(task, method)
  if (agreement.revision !== LATEST) {
    const { [TOKEN]: token } = task as { readonly [TOKEN]?: number }
    if (token === undefined) throw badTask(method, 'it is a task, which nobody asked for')
    return new CoreTask(conversation, id, task, options, token)
  }
  if (!offersTasks(agreement))
    throw badTask(method, `it is a task, but the server did not declare ${TASKS_EXTENSION}`)
  return new ExtensionTask(conversation, id, task, options)
}

function offersTasks({ revision, capabilities }: Agreement): boolean {
  const { tasks, extensions } = capabilities
  return isObject(revision === LATEST ? isObject(extensions) && extensions[TASKS_EXTENSION] : tasks)
}
