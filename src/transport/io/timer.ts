import { LONGEST_MS } from '../../base/duration.ts'

/** A running timer; undefined when the limit is off, so that it never comes. */
export type Timer = ReturnType<typeof setTimeout> | undefined

/** Does something after a while. */
export function afterMs(ms: number, act: () => void): Timer {
  return ms > LONGEST_MS ? undefined : setTimeout(act, ms)
}

/** Does something again and again, without keeping the process alive for it. */
export function everyMs(ms: number, act: () => void): Timer {
  if (ms > LONGEST_MS) return undefined
  const timer = setInterval(act, ms)
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

/** Waits for something, but no longer than a while. */
export function within(ms: number, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = afterMs(ms, resolve)
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
