import { orElse, soon } from '../base/soon.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { TASKS_TOO_LARGE, TOO_MANY_CALLER_TASKS, TOO_MANY_TASKS } from '../errors/tasks.ts'
import type { TaskHolder } from './bytes.ts'
import { Orphans } from './orphans.ts'
import type { TaskHead, TaskRecord } from './record.ts'
import type { TaskRunner } from './runner.ts'
import { isOver } from './states.ts'
import type { Created, Rejected, Soon } from './store.ts'

/** What became of a new record. */
export type Admitted =
  | { readonly outcome: 'created' }
  | { readonly outcome: 'exists'; readonly head: TaskHead }
  | { readonly outcome: 'rejected'; readonly error: McpError }

const ERRORS = {
  full: TOO_MANY_TASKS,
  caller_full: TOO_MANY_CALLER_TASKS,
  too_large: TASKS_TOO_LARGE,
} as const satisfies Readonly<Record<Rejected['outcome'], object>>

/** Stores new tasks, if there is room: in the memory of this process, and in the store. */
export class Admission {
  readonly #tasks: TaskRunner
  readonly #orphans: Orphans

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
    this.#orphans = new Orphans(tasks)
  }

  /** Stores a record that takes so many bytes, unless its key is taken. Tasks whose time is over make room before one is rejected. */
  enter(record: TaskRecord, holder: TaskHolder, bytes: number): Soon<Admitted> {
    const again = (): Soon<Admitted> =>
      soon(this.#tasks.upkeep.expire(record.createdAt), (isMore) =>
        soon(this.#try(record, holder, bytes), (admitted) =>
          isMore && mayEnter(admitted, record) ? this.#later(record, holder, bytes) : admitted,
        ),
      )
    return soon(this.#try(record, holder, bytes), (admitted) =>
      mayEnter(admitted, record) ? again() : admitted,
    )
  }

  /** Tries after each step in which tasks are removed, and lets others work in between. */
  async #later(record: TaskRecord, holder: TaskHolder, bytes: number): Promise<Admitted> {
    for (;;) {
      const isMore = await this.#tasks.upkeep.expireSoon(record.createdAt)
      const admitted = await this.#try(record, holder, bytes)
      if (!isMore || !mayEnter(admitted, record)) return admitted
    }
  }

  #try(record: TaskRecord, holder: TaskHolder, bytes: number): Soon<Admitted> {
    const { store, host, bytes: taken } = this.#tasks
    const { limits } = host
    const { id } = record
    if (!taken.set(id, holder, bytes)) return rejected({ outcome: 'too_large', limit: limits.taskBytes })
    const create = (): Soon<Created> => store.create(record, limits)
    const created = orElse(create, (error) => {
      taken.delete(id)
      if (!this.#tasks.isInMemory) this.#orphans.add(id)
      throw error
    })
    return soon(created, (answer) => {
      if (answer.outcome === 'created') return answer
      taken.delete(id)
      return answer.outcome === 'exists' ? answer : rejected(answer)
    })
  }
}

/** Whether a record that was not stored may be, once tasks whose time is over are removed. */
function mayEnter(admitted: Admitted, { createdAt }: TaskRecord): boolean {
  return admitted.outcome === 'exists' ? isOver(admitted.head, createdAt) : admitted.outcome === 'rejected'
}

function rejected({ outcome, limit }: Rejected): Admitted {
  return { outcome: 'rejected', error: mcpError(ERRORS[outcome], { limit }, MUCH_LATER) }
}
