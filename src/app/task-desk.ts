import { badOption, checkOptions } from '../base/options.ts'
import { COUNT, oneOf, TEXT, type KindsOf } from '../base/kinds.ts'
import { mcpError } from '../errors/error.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import { TASK_FINAL, UNKNOWN_TASK } from '../errors/tasks.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ClientInfo } from '../rpc/call.ts'
import type { ServerService } from '../server/service.ts'
import { parsed } from '../tasks/damage.ts'
import { withOwnKey } from '../tasks/key.ts'
import type { TaskHead, TaskRequest, TaskStatus } from '../tasks/record.ts'
import type { Tasks } from '../tasks/tasks.ts'

/** Selects tasks for `app.tasks.list`. */
export interface TaskListOptions {
  /** Only tasks with this status. Default: all. */
  readonly status?: TaskStatus | undefined
  /** Only tasks of this tool. Default: of all. */
  readonly tool?: string | undefined
  /** Only tasks of this caller, as `owner` of its tasks says. Default: of all. */
  readonly owner?: string | undefined
  /** The id of the last task of the page before. Default: the list begins with the oldest task. */
  readonly after?: string | undefined
  /** The most tasks to list. Default: 100. */
  readonly limit?: number | undefined
}

/** A task as operators see it: its record, what was asked of it, and how it ended. */
export interface ShownTask extends TaskHead {
  /** The arguments of the call; empty if these were longer than 4 KB and the task has completed or was cancelled, because nothing needs them any more. */
  readonly arguments: JsonObject
  /** The client that started it, as it calls itself. */
  readonly client: ClientInfo | undefined
  /** `{ result }` or `{ error }`; undefined until it has ended. */
  readonly outcome: JsonObject | undefined
}

const LIST_OPTIONS: KindsOf<TaskListOptions> = {
  status: oneOf('working', 'input_required', 'completed', 'failed', 'cancelled'),
  tool: TEXT,
  owner: TEXT,
  after: TEXT,
  limit: COUNT,
}

/** The tasks of all callers of this server, for operators. */
export class TaskDesk {
  readonly #service: ServerService

  /** @internal */
  constructor(service: ServerService) {
    this.#service = service
  }

  /** Lists tasks, from the oldest to the newest. */
  async list(options: TaskListOptions = {}): Promise<readonly TaskHead[]> {
    checkOptions('tasks.list', options, LIST_OPTIONS)
    const { status, tool, owner, after, limit = 100 } = options
    const tasks = await this.#tasks()
    const heads = await tasks.list({
      limit,
      ...(status === undefined ? {} : { status }),
      ...(tool === undefined ? {} : { tool }),
      // A caller that has an owner has its tasks in a scope of the same name.
      ...(owner === undefined ? {} : { scope: owner }),
      ...(after === undefined ? {} : { after }),
    })
    return heads.map(withOwnKey)
  }

  /** Shows a task with its arguments and outcome; undefined if it does not exist. */
  async show(id: string): Promise<ShownTask | undefined> {
    const record = await (await this.#tasks()).show(checked('show', id))
    if (record === undefined) return undefined
    const { request, state: _, outcome, ...head } = record
    // Either may be damaged.
    const { params, client } = (parsed(request) ?? {}) as Partial<TaskRequest>
    return {
      ...withOwnKey(head),
      arguments: (params?.['arguments'] ?? {}) as JsonObject,
      client,
      outcome: parsed(outcome),
    }
  }

  /** Cancels a task, whoever started it. Throws if it does not exist or has ended. */
  async cancel(id: string): Promise<TaskHead> {
    const cancelled = await (await this.#tasks()).cancel(checked('cancel', id), undefined)
    if (cancelled === undefined) throw mcpError(UNKNOWN_TASK, { id })
    if (!cancelled.isDone) throw mcpError(TASK_FINAL, { id, status: cancelled.head.status })
    return withOwnKey(cancelled.head)
  }

  /** Starts a new task for the same caller and request as one that failed, with the answers and values that it kept. The old one stays failed. It runs where the server listens: here, or in another process that shares the store. Throws if it did not fail. */
  async retry(id: string): Promise<TaskHead> {
    if (this.#service.isClosed) throw mcpError(SHUTTING_DOWN, {})
    const tasks = await this.#tasks()
    const again = await tasks.retry(checked('retry', id))
    if (again === undefined) throw mcpError(UNKNOWN_TASK, { id })
    if (again !== false) return withOwnKey(again)
    throw mcpError(TASK_FINAL, { id, status: (await tasks.store.head(id))?.status ?? 'gone' })
  }

  async #tasks(): Promise<Tasks> {
    return (await this.#service.tasks.load()).tasks
  }
}

function checked(where: string, id: unknown): string {
  if (typeof id !== 'string') throw badOption(`tasks.${where}`, 'pass the id of a task, a string')
  return id
}
