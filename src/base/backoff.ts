import { LONGEST_MS } from './duration.ts'
import { onAbort } from './on-abort.ts'

export interface BackoffTimes {
  /** The first delay; each further one is twice as long. */
  readonly firstMs: number
  readonly maxMs: number
}

/** The nth delay, counted from 0: it doubles each time, up to a limit. */
export function doubledMs(nth: number, { firstMs, maxMs }: BackoffTimes): number {
  return Math.min(maxMs, firstMs * 2 ** nth)
}

/** The nth delay with jitter, so that clients that failed together do not retry together. */
export function delayOf(nth: number, times: BackoffTimes, random: () => number): number {
  const { maxMs } = times
  const ms = doubledMs(nth, times)
  return ms < maxMs ? Math.min(maxMs, ms * (1 + random() / 4)) : maxMs * (1 - random() / 4)
}

/** Waits, or until any of the signals aborts. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      for (const remove of removers) remove()
      resolve()
    }
    const timer = ms > LONGEST_MS ? undefined : setTimeout(done, ms)
    const removers = signals.map((signal) => onAbort(signal, done))
  })
}

/** Settles like a promise, or rejects when a signal aborts first. */
export function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const remove = onAbort(signal, () => reject(signal.reason as Error))
    value.then(resolve, reject).finally(remove)
  })
}
