import { copyOf } from '../base/copy-of.ts'
import { orAborted } from '../base/backoff.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { CONNECTION_CLOSED, OVERLOADED, UNKNOWN_METHOD } from '../errors/rpc.ts'
import { TASK_CANCELLED, UNKNOWN_TASK } from '../errors/tasks.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Forms } from './forms.ts'
import { QuestionRate } from './question-rate.ts'
import type { QuestionRoom } from './question-room.ts'
import type { Answer } from './questions.ts'
import type { TaskStatus } from './task-handle.ts'

/** The number of tasks that are kept. The oldest that has ended makes room for another. */
const MAX_TASKS = 128
/** How long a task is kept, whatever the server asks for, and usually. */
const SHORTEST_MS = 60_000
const LONGEST_MS = 3_600_000
const USUAL_MS = 600_000
const POLL_MS = 1000
/** How often tasks are listed within a minute: a list is long, and the question for it is short. */
const MAX_LISTS = 300
const STATUS = 'notifications/tasks/status'

interface QuestionTask {
  readonly createdAt: number
  updatedAt: number
  status: TaskStatus
  readonly ttl: number
  /** Settles like the question, or when the task is cancelled. */
  readonly answer: Promise<JsonObject>
  readonly stop: AbortController
  /** The bytes of the answer. */
  bytes: number
}

/** How the client reaches the server that asks. */
export interface QuestionSender {
  readonly forms: Forms
  /** Sends a notification, if the server can be reached. */
  readonly tell?: ((method: string, params: JsonObject) => void) | undefined
}

/** The questions of a server of 2025-11-25 that are answered as tasks. They end with the connection. */
export class QuestionTasks {
  readonly #tasks = new Map<string, QuestionTask>()
  readonly #answer: Answer
  readonly #room: QuestionRoom
  readonly #lists = new QuestionRate(MAX_LISTS)
  /** When tasks were last looked through for old ones. */
  #sweptAt = 0

  constructor(answer: Answer, room: QuestionRoom) {
    this.#answer = answer
    this.#room = room
  }

  /** Answers a question that asks for a task, or a request about tasks. */
  async reply(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    { forms, tell }: QuestionSender,
  ): Promise<JsonObject> {
    this.#sweep()
    // Some servers send `task` in requests about tasks too.
    if (!method.startsWith('tasks/')) return { task: this.#begin(method, params, forms, tell) }
    if (method === 'tasks/list') {
      this.#lists.count(method)
      return { tasks: [...this.#tasks].map(toWire) }
    }
    const taskId = params['taskId'] as string
    const task = this.#tasks.get(taskId)
    if (task === undefined) throw mcpError(UNKNOWN_TASK, { id: untrustedText(taskId).slice(0, 64) })
    if (method === 'tasks/result') {
      const { _meta, ...result } = await orAborted(task.answer, signal)
      return { ...result, _meta: { ...(_meta as JsonObject), [META.relatedTask]: { taskId } } }
    }
    if (method === 'tasks/cancel') {
      if (task.status !== 'working')
        throw mcpError(BAD_PARAMS, { method, reason: `the task is already ${task.status}` })
      finish(task, 'cancelled')
      task.stop.abort(mcpError(TASK_CANCELLED, {}))
    } else if (method !== 'tasks/get')
      throw mcpError(UNKNOWN_METHOD, { method: method.slice(0, 128), revision: 'this client' })
    return toWire([taskId, task])
  }

  #sweep(): void {
    const now = Date.now()
    if (Math.abs(now - this.#sweptAt) < POLL_MS) return
    this.#sweptAt = now
    for (const [id, { createdAt, ttl }] of this.#tasks) if (now > createdAt + ttl) this.#forget(id)
  }

  /** Ends all tasks, because the connection has closed. */
  clear(): void {
    for (const id of this.#tasks.keys()) this.#forget(id)
  }

  #begin(method: string, asked: JsonObject, forms: Forms, tell: QuestionSender['tell']): JsonObject {
    const params = copyOf(asked, 'task')
    const [ended] = [...this.#tasks].find(([, { status }]) => status !== 'working') ?? []
    if (this.#tasks.size === MAX_TASKS && ended !== undefined) this.#forget(ended)
    // The room is taken until the question is answered, even if nobody waits for that.
    const bytes = this.#tasks.size < MAX_TASKS ? this.#room.begin(params) : 0
    if (bytes === 0) throw mcpError(OVERLOADED, {})
    const id = [...crypto.getRandomValues(new Uint32Array(5))].map((part) => part.toString(36)).join('')
    const stop = new AbortController()
    const answer = this.#answer(method, params, stop.signal)
      .then((result) => this.#keep(id, forms.result(method, result)))
      .finally(() => this.#room.end(bytes))
    const createdAt = Date.now()
    const task: QuestionTask = {
      createdAt,
      updatedAt: createdAt,
      status: 'working',
      ttl: ttlOf((asked['task'] as JsonObject)['ttl']),
      answer: orAborted(answer, stop.signal),
      stop,
      bytes: 0,
    }
    const end = (status: TaskStatus): void => {
      if (finish(task, status) && this.#tasks.get(id) === task) tell?.(STATUS, toWire([id, task]))
    }
    task.answer.then(
      () => end('completed'),
      () => end('failed'),
    )
    this.#tasks.set(id, task)
    return toWire([id, task])
  }

  /** Keeps an answer, if there is room for it. */
  #keep(id: string, result: JsonObject): JsonObject {
    const task = this.#tasks.get(id)
    const bytes = weigh(result)
    if (task === undefined || !this.#room.take(bytes)) throw mcpError(OVERLOADED, {})
    task.bytes = bytes
    return result
  }

  #forget(id: string): void {
    const { stop, bytes } = this.#tasks.get(id) as QuestionTask
    this.#tasks.delete(id)
    this.#room.take(-bytes)
    stop.abort(mcpError(CONNECTION_CLOSED, { method: 'a question' }))
  }
}

/** Says whether the task had not ended before. */
function finish(task: QuestionTask, status: TaskStatus): boolean {
  if (task.status !== 'working') return false
  task.status = status
  task.updatedAt = Date.now()
  return true
}

function ttlOf(wanted: unknown): number {
  return typeof wanted === 'number' ? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, wanted)) : USUAL_MS
}

function toWire([taskId, task]: readonly [string, QuestionTask]): JsonObject {
  return {
    taskId,
    status: task.status,
    createdAt: new Date(task.createdAt).toISOString(),
    lastUpdatedAt: new Date(task.updatedAt).toISOString(),
    ttl: task.ttl,
    pollInterval: POLL_MS,
  }
}
