import { soon } from '../base/soon.ts'
import { claimsOf, type Auth, type Call } from '../rpc/call.ts'
import type { Leases } from '../rpc/leases.ts'
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
export function cancelRevoked(leases: Leases, tasks: Tasks): void {
  let waiting: Meant[] = []
  let isAtWork = false
  // One search for all callers that were revoked since the last one began, since each reads every unfinished task.
  const cancelAll = async (): Promise<void> => {
    if (isAtWork) return
    isAtWork = true
    try {
      while (waiting.length > 0) {
        const all = waiting
        waiting = []
        await tasks.cancelAll((head) => isMeant(head, claimsOf(head.owner), all))
      }
    } finally {
      isAtWork = false
    }
  }
  leases.watch((concerns, { at, where }) => {
    // Tasks have the time of their store, which the clock of another node may not show.
    const meant: Meant = { concerns, upTo: where === 'here' ? tasks.clock.now() : at }
    for (const run of tasks.runs.values()) {
      const head = run.head as TaskHead
      const cancel = (): Soon<void> => soon(tasks.cancel(head.id, undefined), () => undefined)
      // The others have not begun their attempt.
      const auth = (run.call as Call | undefined)?.source.auth
      if (isMeant(head, auth, [meant])) void tasks.upkeep.insist(run, cancel)
    }
    if (where === 'past') return
    // A store may have more of them, which wait or run on other nodes.
    waiting.push(meant)
    tasks.unawaited(cancelAll)
  })
}

function isMeant({ createdAt }: TaskHead, auth: Auth | undefined, all: readonly Meant[]): boolean {
  return all.some(({ upTo, concerns }) => createdAt <= upTo && concerns(auth))
}
