/** Spaces out attempts that keep failing. */
export interface Backoff {
  /** Waits before the next attempt: not at all after a success or the first failure, then longer each time. An abort ends it. */
  wait(signal: AbortSignal): Promise<void>
  /** A server was opened; whether it works shows. */
  worked(): void
  /** The server that was opened answered something. */
  answered(): void
  failed(): void
}

export interface BackoffTimes {
  /** The first wait; each further one is twice as long. */
  readonly firstMs: number
  readonly maxMs: number
}

/** A server that answered nothing and dies sooner than this after it was opened has not worked. */
const STEADY_MS = 5_000

export function createBackoff({ firstMs, maxMs }: BackoffTimes, random: () => number = Math.random): Backoff {
  let failures = 0
  let openedAt = 0
  return {
    async wait(signal) {
      if (openedAt > 0 && performance.now() - openedAt < STEADY_MS) failures++
      else if (openedAt > 0) failures = 0
      openedAt = 0
      if (failures < 2) return
      const ms = Math.min(maxMs, firstMs * 2 ** (failures - 2)) * (1 + random() / 4)
      await pause(ms, signal)
    },
    worked() {
      openedAt = performance.now()
    },
    answered() {
      failures = 0
      openedAt = 0
    },
    failed() {
      failures++
      openedAt = 0
    },
  }
}

/** Waits; an abort ends it early. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (signal.aborted) done()
    else signal.addEventListener('abort', done, { once: true })
  })
}

/** What a promise gives, unless a signal aborts first. */
export function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
