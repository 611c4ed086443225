/** Spaces out attempts that keep failing. */
export interface Backoff {
  /** Waits before the next attempt: not at all after a success or the first failure, then longer each time. An abort ends it. */
  wait(signal: AbortSignal): Promise<void>
  /** A server was opened; whether it works shows. */
  worked(): void
  /** The server that was opened answered something. */
  answered(): void
  failed(): void
  /** The server wants to be left alone for so long. */
  hold(ms: number): void
}

export interface BackoffTimes {
  /** The first wait; each further one is twice as long. */
  readonly firstMs: number
  readonly maxMs: number
}

/** A server that answered nothing and dies sooner than this after it was opened has not worked. */
const STEADY_MS = 5_000

export function createBackoff(times: BackoffTimes, random: () => number = Math.random): Backoff {
  let failures = 0
  let openedAt = 0
  let notBefore = 0
  return {
    async wait(signal) {
      if (openedAt > 0 && performance.now() - openedAt < STEADY_MS) failures++
      else if (openedAt > 0) failures = 0
      openedAt = 0
      const asked = notBefore - performance.now()
      const due = failures < 2 ? 0 : delayOf(failures - 2, times, random)
      if (Math.max(asked, due) > 0) await pause(Math.max(asked, due), signal)
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
    hold(ms) {
      notBefore = Math.max(notBefore, performance.now() + ms)
    },
  }
}

/** How long to wait for the nth time in a row, from 0: twice as long each time, up to a limit, and never quite as others do. */
export function delayOf(nth: number, { firstMs, maxMs }: BackoffTimes, random: () => number): number {
  const ms = firstMs * 2 ** nth
  return ms < maxMs ? Math.min(maxMs, ms * (1 + random() / 4)) : maxMs * (1 - random() / 4)
}

/** Waits; an abort of any signal ends it early. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    for (const signal of signals) {
      if (signal.aborted) return done()
      signal.addEventListener('abort', done, { once: true })
    }
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
