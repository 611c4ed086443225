import { soon } from '../base/soon.ts'
import { claimsOf, type Auth, type Call } from '../rpc/call.ts'
import type { RevocationFacts } from '../rpc/leases.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Run } from '../tasks/run.ts'
import type { Tasks } from '../tasks/tasks.ts'

/** How many tasks are cancelled at once. A caller may have thousands, and steps of others wait in line behind them. */
const AT_ONCE = 64

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
  /** Attempts whose tasks are still to be cancelled, the next one last. */
  #runs: Run[] = []
  #cancelling = 0
  #search: Promise<void> | undefined

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** Cancels the tasks that a revocation concerns. Resolves once the store has no more of them, if it has to be searched. */
  cancel(concerns: Meant['concerns'], { at, where }: RevocationFacts): Promise<void> | undefined {
    const tasks = this.#tasks
    // Tasks have the time of their store, which the clock of another node may not show.
    const meant: Meant = { concerns, upTo: where === 'here' ? tasks.clock.now() : at }
    const runs = tasks.runs.values().filter(({ head, call }) => {
      // The others have not begun their attempt.
      const auth = (call as Call | undefined)?.source.auth
      return isMeant(head as TaskHead, auth, [meant])
    })
    this.#runs = [...runs.reverse(), ...this.#runs]
    this.#cancelRuns()
    if (where === 'past') return undefined
    // A store may have more of them, which wait or run on other nodes.
    this.#waiting.push(meant)
    this.#search ??= this.#cancelAll()
    return this.#search
  }

  /** Begins to cancel what is left, before the server closes and puts it back for other nodes. */
  hurry(): void {
    this.#cancelRuns(Infinity)
  }

  /** A store in memory has cancelled all when this returns. */
  #cancelRuns(most: number = AT_ONCE): void {
    const { upkeep } = this.#tasks
    while (this.#cancelling < most) {
      const run = this.#runs.pop()
      if (run === undefined) return
      const { id } = run.head as TaskHead
      const done = upkeep.insist(run, () => soon(this.#tasks.cancel(id, undefined), () => undefined))
      if (!(done instanceof Promise)) continue
      this.#cancelling++
      void done.finally(() => {
        this.#cancelling--
        this.#cancelRuns()
      })
    }
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
