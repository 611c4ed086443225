import { soon } from '../base/soon.ts'
import { claimsOf, type Auth, type Call } from '../rpc/call.ts'
import type { RevocationFacts } from '../rpc/leases.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Soon } from '../tasks/store.ts'
import type { Tasks } from '../tasks/tasks.ts'

/** A caller whose tasks are to be cancelled, and the last time of creation of those. */
interface Meant {
  readonly upTo: number
  concerns(auth: Auth | undefined): boolean
}

/**
 * Cancels the tasks of callers that are revoked: those that run here, and all that the store has. Of a revocation of the past, only the
 * first kind is left: the node that revoked has cancelled the others, and if it died before, their next attempt does.
 */
export class RevokedTasks {
  readonly #tasks: Tasks
  #waiting: Meant[] = []
  #search: Promise<void> | undefined

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** Cancels the tasks that a revocation concerns. Resolves once the store has no more of them, if it has to be searched. */
  cancel(concerns: Meant['concerns'], { at, where }: RevocationFacts): Promise<void> | undefined {
    const tasks = this.#tasks
    // Tasks have the time of their store, which the clock of another node may not show.
    const meant: Meant = { concerns, upTo: where === 'here' ? tasks.clock.now() : at }
    for (const run of tasks.runs.values()) {
      const head = run.head as TaskHead
      const cancel = (): Soon<void> => soon(tasks.cancel(head.id, undefined), () => undefined)
      // The others have not begun their attempt.
      const auth = (run.call as Call | undefined)?.source.auth
      if (isMeant(head, auth, [meant])) void tasks.upkeep.insist(run, cancel)
    }
    if (where === 'past') return undefined
    // A store may have more of them, which wait or run on other nodes.
    this.#waiting.push(meant)
    this.#search ??= this.#cancelAll()
    return this.#search
  }

  /** One search for all callers that were revoked since the last one began, since each reads every unfinished task. */
  async #cancelAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const all = this.#waiting
        this.#waiting = []
        await this.#tasks.cancelAll((head) => isMeant(head, claimsOf(head.owner), all))
      }
    } catch (error) {
      if (!this.#tasks.isClosing) this.#tasks.reportFailure(error)
      throw error
    } finally {
      this.#search = undefined
    }
  }
}

function isMeant({ createdAt }: TaskHead, auth: Auth | undefined, all: readonly Meant[]): boolean {
  return all.some(({ upTo, concerns }) => createdAt <= upTo && concerns(auth))
}
