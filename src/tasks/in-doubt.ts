import { mcpError } from '../errors/error.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { TaskHead } from './record.ts'
import type { TaskChange } from './store.ts'
import type { Tasks } from './tasks.ts'

/** How long a step that failed may still reach the store: it may have been on its way. */
const LATE_MS = 15_000
/** Milliseconds until the store is asked what became of a creation that failed. */
const ASK_MS = 1000
/** How many creations are remembered. Those beyond are found like tasks of claims. */
const MOST_CREATIONS = 1000
/** How many tasks are read at once. */
const PAGE = 100

/**
 * Steps that failed although the store may have taken them, or may take them yet. It then has tasks of this node that do not run here, and no
 * other node would claim them as long as this one is alive.
 */
export class InDoubt {
  readonly #tasks: Tasks
  /** Tasks whose creation failed, and until when it may still happen, by the time that has elapsed. */
  readonly #created = new Map<string, number>()
  /** The same for claims, and for creations that are not remembered. */
  #until = -Infinity

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** A task could not be created, or withdrawn: its caller does not know it. */
  creation(id: string): void {
    const { clock, isInMemory, upkeep } = this.#tasks
    if (isInMemory) return
    if (this.#created.size < MOST_CREATIONS) this.#created.set(id, clock.elapsed() + LATE_MS)
    else this.claim()
    upkeep.due(clock.now() + ASK_MS)
  }

  /** Tasks could not be claimed, or given back after that. */
  claim(): void {
    if (!this.#tasks.isInMemory) this.#until = this.#tasks.clock.elapsed() + LATE_MS
  }

  /** Asks the store what became of the steps. Fails if it does not answer. */
  async check(): Promise<void> {
    const { clock, upkeep } = this.#tasks
    const elapsed = clock.elapsed()
    const settle = async ([id, until]: readonly [string, number]): Promise<void> => {
      if ((await this.#withdraw(id)) || elapsed >= until) this.#created.delete(id)
    }
    const all = [...this.#created]
    for (let at = 0; at < all.length; at += PAGE)
      await Promise.all(all.slice(at, at + PAGE).map(async (one) => settle(one)))
    if (this.#created.size > 0) upkeep.due(clock.now() + ASK_MS)
    if (this.#until === -Infinity) return
    await this.#giveBackLost()
    if (elapsed >= this.#until) this.#until = -Infinity
  }

  /** Cancels a task that its caller does not know; if another call has found it by its key, any node begins it. False if the store does not have it. */
  async #withdraw(id: string): Promise<boolean> {
    const cancelled = await this.#tasks.cancel(id, undefined, (head) => !head.isShared && this.#isLost(head))
    if (cancelled === undefined) return false
    const { head, isDone } = cancelled
    if (!isDone && this.#isLost(head))
      await this.#change(head, { node: '', dueAt: Math.max(1, head.createdAt) })
    return true
  }

  /** Gives back the tasks of this node that do not run here, as if the node had died. */
  async #giveBackLost(): Promise<void> {
    const { store, host } = this.#tasks
    for (const status of ['working', 'input_required'] as const)
      for (let after: string | undefined; ;) {
        const query = { server: host.server, status, limit: PAGE }
        const heads = await store.list(after === undefined ? query : { ...query, after })
        for (const { id } of heads.filter((head) => this.#isLost(head))) {
          // It may have ended since.
          const head = await store.head(id)
          if (head !== undefined && this.#isLost(head)) await this.#change(head, { node: '' })
        }
        if (heads.length < PAGE) break
        after = heads.at(-1)?.id
      }
  }

  async #change({ id, version }: TaskHead, change: TaskChange): Promise<void> {
    const { store, isClosing } = this.#tasks
    if (isClosing) throw mcpError(SHUTTING_DOWN, {})
    // It can be claimed at once. If another change came first, the next look finds it again.
    if ((await store.change(id, version, change)) === undefined) this.claim()
  }

  /** Whether a task is one of this node, which does not know. One that is being created has its bytes. */
  #isLost({ id, node, status }: TaskHead): boolean {
    const { runs, bytes } = this.#tasks
    return node === this.#tasks.node && !isFinal(status) && runs.get(id) === undefined && !bytes.has(id)
  }
}
