import { Deferred } from '../../src/base/deferred.ts'
import { member, type Message } from '../../src/validate/message.ts'
import type { Quirk } from './client-fault.ts'

/** How long a question takes. */
const WORK_MS = 40
const RELATED = 'io.modelcontextprotocol/related-task'

interface RawTask {
  readonly taskId: string
  readonly createdAt: string
  status: string
  readonly done: Deferred<Message>
  isTold: boolean
}

/** The tasks of the raw client: questions of a server of 2025-11-25. */
export class RawTasks {
  readonly #tasks = new Map<unknown, RawTask>()
  readonly #quirk: Quirk | undefined

  constructor(quirk: Quirk | undefined) {
    this.#quirk = quirk
  }

  /** Begins a task. */
  begin(answer: Message): Message {
    const taskId = crypto.randomUUID()
    const task: RawTask = {
      taskId,
      createdAt: new Date().toISOString(),
      status: 'working',
      done: new Deferred(),
      isTold: false,
    }
    this.#tasks.set(taskId, task)
    // Faults that need a task at work do not depend on how fast the machine is.
    const isSlow =
      this.#quirk === 'does not wait for tasks' ||
      (this.#quirk === 'finishes cancelled tasks' && this.#tasks.size > 1)
    const timer = setTimeout(
      () => {
        if (task.status === 'working') task.status = 'completed'
        task.done.resolve(answer)
      },
      isSlow ? 100 * WORK_MS : WORK_MS,
    )
    timer.unref()
    if (this.#quirk === 'does not wait for tasks') task.done.resolve(answer)
    return { task: shown(task) }
  }

  /** Answers a request about a task; undefined if it cannot be answered. */
  async reply(method: string, params: unknown): Promise<Message | undefined> {
    const task = this.#tasks.get(member(params, 'taskId'))
    if (task === undefined) return undefined
    if (method === 'tasks/result')
      return { ...(await task.done.promise), _meta: { [RELATED]: { taskId: task.taskId } } }
    if (method === 'tasks/cancel') {
      if (task.status !== 'working') return undefined
      task.status = 'cancelled'
    } else if (task.status === 'cancelled' && this.#quirk === 'finishes cancelled tasks')
      task.status = 'completed'
    if (task.isTold && this.#quirk === 'reopens tasks') task.status = 'working'
    task.isTold = task.status === 'completed'
    return shown(task)
  }
}

function shown({ taskId, createdAt, status }: RawTask): Message {
  return { taskId, status, createdAt, lastUpdatedAt: new Date().toISOString(), ttl: 60_000 }
}
