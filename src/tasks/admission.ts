import { orElse, soon } from '../base/soon.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { TASKS_TOO_LARGE, TOO_MANY_CALLER_TASKS, TOO_MANY_TASKS } from '../errors/tasks.ts'
import type { TaskHolder } from './bytes.ts'
import { TaskPlaces } from './places.ts'
import type { TaskHead, TaskRecord } from './record.ts'
import type { TaskRunner } from './runner.ts'
import { isOver } from './states.ts'
import type { Created, Soon } from './store.ts'

/** What became of a new record. */
export type Admitted =
  | { readonly outcome: 'created' }
  | { readonly outcome: 'exists'; readonly head: TaskHead }
  | { readonly outcome: 'rejected'; readonly error: McpError }

/** Stores new tasks, if there is room: places and memory for all callers, for one, and for the anonymous ones of an address. */
export class Admission {
  readonly #tasks: TaskRunner
  readonly #places: TaskPlaces

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
    this.#places = new TaskPlaces(tasks.host.limits.tasks)
  }

  /** Stores a record that takes so many bytes, unless its key is taken. Tasks whose time is over make room before one is rejected. */
  enter(record: TaskRecord, holder: TaskHolder, bytes: number): Soon<Admitted> {
    const again = (): Soon<Admitted> =>
      soon(this.#tasks.upkeep.expire(record.createdAt), () => this.#try(record, holder, bytes))
    return soon(this.#try(record, holder, bytes), (admitted) => {
      const isStale = admitted.outcome === 'exists' && isOver(admitted.head, record.createdAt)
      return isStale || admitted.outcome === 'rejected' ? again() : admitted
    })
  }

  #try(record: TaskRecord, holder: TaskHolder, bytes: number): Soon<Admitted> {
    const { store, host, bytes: taken } = this.#tasks
    const { id, createdAt, ttlMs } = record
    const { network } = holder
    if (!this.#places.hasRoom(network, createdAt))
      return rejected(TOO_MANY_CALLER_TASKS, this.#places.countOf(network as string))
    if (!taken.set(id, holder, bytes)) return rejected(TASKS_TOO_LARGE, host.limits.taskBytes)
    const create = (): Soon<Created> => store.create(record, host.limits)
    const created = orElse(create, (error) => {
      taken.delete(id)
      throw error
    })
    return soon(created, (answer) => {
      if (answer.outcome === 'created') {
        this.#places.add(network, ttlMs === null ? Infinity : createdAt + ttlMs)
        return answer
      }
      taken.delete(id)
      if (answer.outcome === 'exists') return answer
      return answer.outcome === 'full'
        ? rejected(TOO_MANY_TASKS, host.limits.tasks)
        : rejected(TOO_MANY_CALLER_TASKS, host.limits.callerTasks)
    })
  }
}

function rejected(
  row: typeof TOO_MANY_TASKS | typeof TOO_MANY_CALLER_TASKS | typeof TASKS_TOO_LARGE,
  limit: number,
): Admitted {
  return { outcome: 'rejected', error: mcpError(row, { limit }, MUCH_LATER) }
}
