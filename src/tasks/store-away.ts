import { doubledMs } from '../base/backoff.ts'
import { onAbort } from '../base/on-abort.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { STORE_BUSY, STORE_UNREACHABLE } from '../errors/store.ts'
import type { Run } from './run.ts'
import type { Soon } from './store.ts'

/** The pauses before a change is tried again while the store is away. */
const AWAY_PAUSES = { firstMs: 500, maxMs: 5_000 }

/** The errors which say that the store is away, or has no time. */
const PASSING: ReadonlySet<unknown> = new Set([STORE_UNREACHABLE.kind, STORE_BUSY.kind, OVERLOADED.kind])

function isPassing(error: unknown): boolean {
  return PASSING.has((error as { readonly kind?: unknown } | undefined)?.kind)
}

/**
 * Writes what a handler waits for, again and again while the store is away: the work of a task must not be lost because of that. Throws
 * the reason if the attempt is stopped meanwhile.
 */
export async function untilWritten(run: Run, write: () => Soon<boolean>): Promise<boolean> {
  for (let failures = 0; ; failures++)
    try {
      return await write()
    } catch (error) {
      if (!isPassing(error)) throw error
      await pause(run, doubledMs(failures, AWAY_PAUSES))
    }
}

/** Waits; throws the reason once the attempt is stopped. */
export async function pause({ call, tasks }: Run, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = tasks.clock.after(ms, () => {
      forget()
      resolve()
    })
    const forget = onAbort(call.signal, () => {
      tasks.clock.clear(timer)
      resolve()
    })
  })
  call.throwIfAborted()
}
