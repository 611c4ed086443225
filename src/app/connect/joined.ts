import { orAborted } from '../../base/backoff.ts'
import { toMs } from '../../base/duration.ts'
import { nextTask } from '../../base/next-task.ts'
import type { CallOptions } from '../../client/options.ts'
import { Deadline } from '../../rpc/deadline.ts'

/** A reading of a list, in which several callers look for something. */
interface Reading {
  /** The items that they look for. None are added once the reading has begun. */
  readonly wanted: Set<string>
  readonly found: Set<string>
  hasBegun: boolean
  /** Undefined unless it failed. */
  error: Error | undefined
  isOver: Promise<void>
  /** Whether it failed because the caller that began it has given up. */
  isUseless: boolean
}

/** Reads the list to its end, or until `add` has been called with everything that is wanted. */
export type Read = (
  wanted: ReadonlySet<string>,
  options: CallOptions,
  add: (found: string) => void,
) => Promise<void>

/** Readings of lists, which callers that need them at the same time share: a server chooses how much a reading costs. */
export class Joined {
  readonly #running = new Map<string, Reading>()

  /**
   * Looks for something in a list. It joins a reading that looks for the same, and otherwise shares the one that follows. Each
   * caller waits within its own limits, which `left` returns; if one gives up, another reads the list again for those that remain.
   */
  async read(
    list: string,
    wanted: readonly string[],
    left: () => CallOptions,
    read: Read,
  ): Promise<Pick<Reading, 'found' | 'error'>> {
    const { timeout } = left()
    const key = JSON.stringify([list, timeout])
    for (;;) {
      const running = this.#running.get(key)
      if (running === undefined) {
        const own = this.#begin(key, wanted, left, read)
        await own.isOver
        return own
      }
      if (!running.hasBegun) for (const one of wanted) running.wanted.add(one)
      const isIncluded = wanted.every((one) => running.wanted.has(one))
      await within(running.isOver, list, left())
      if (isIncluded && !running.isUseless) return running
    }
  }

  #begin(key: string, wanted: readonly string[], left: () => CallOptions, read: Read): Reading {
    const reading: Reading = {
      wanted: new Set(wanted),
      found: new Set(),
      hasBegun: false,
      error: undefined,
      isUseless: false,
      isOver: Promise.resolve(),
    }
    const run = async (): Promise<void> => {
      // Those who ask at the same time share the reading.
      await nextTask()
      reading.hasBegun = true
      try {
        await read(reading.wanted, left(), (one) => reading.found.add(one))
      } catch (error) {
        reading.error = error as Error
        const { signal, total } = left()
        reading.isUseless = signal?.aborted === true || (total !== undefined && toMs(total, 'total') < 1)
      } finally {
        this.#running.delete(key)
      }
    }
    reading.isOver = run()
    this.#running.set(key, reading)
    return reading
  }
}

/** Waits within the limits of a caller. */
async function within(over: Promise<void>, method: string, { total, signal }: CallOptions): Promise<void> {
  const totalMs = total === undefined ? Infinity : toMs(total, 'total')
  const deadline = new Deadline({ method, idleMs: Infinity, totalMs, signal })
  await orAborted(over, deadline.signal).finally(() => deadline.end())
}
