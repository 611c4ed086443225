import { orElse, soon } from '../base/soon.ts'
import { freedKey } from './key.ts'
import type { TaskHead } from './record.ts'
import type { TaskRunner } from './runner.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Soon, TaskChange } from './store.ts'

/** How long the store may take to add a task although its answer was lost, unless it has a lease. */
const LEASE_MS = 15_000

/**
 * Tasks that this process may have created: the store did not answer, but may have added them. Nothing here runs them, and no other node begins
 * them as long as this one lives. Their callers got an error, so they are cancelled, unless another call has found the key of one: then any node begins it.
 */
export class Orphans {
  readonly #tasks: TaskRunner

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** Looks for a task later, when the store has either added it or not, and again if that fails. */
  add(id: string): void {
    const { clock, store } = this.#tasks
    clock.after(store.leaseMs ?? LEASE_MS, () => {
      if (!this.#tasks.isClosing)
        this.#tasks.unawaited(() =>
          orElse(
            () => this.#disown(id),
            (error) => {
              this.add(id)
              throw error
            },
          ),
        )
    })
  }

  #disown(id: string): Soon<void> {
    const { store, node, upkeep } = this.#tasks
    return soon(store.head(id), (head) => {
      if (head === undefined || head.node !== node || isFinal(head.status)) return
      return soon(store.change(id, head.version, this.#changeOf(head)), (next) =>
        next === undefined ? this.#disown(id) : upkeep.due(next.dueAt),
      )
    })
  }

  #changeOf(head: TaskHead): TaskChange {
    const now = this.#tasks.clock.now()
    if (head.isShared) return { node: '', dueAt: Math.max(1, Math.round(now)) }
    const gone = { status: 'cancelled', statusMessage: 'cancelled', key: freedKey(head) } as const
    return { ...gone, updatedAt: now, node: '', state: '', dueAt: 0 }
  }
}
