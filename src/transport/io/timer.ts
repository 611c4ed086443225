import { LONGEST_MS } from '../../base/duration.ts'

/** A running timer; undefined when the limit is off, so it never fires. */
export type Timer = ReturnType<typeof setTimeout> | undefined

/** Calls `act` once after `ms`. */
export function afterMs(ms: number, act: () => void): Timer {
  return ms > LONGEST_MS ? undefined : setTimeout(act, ms)
}

/** Calls `act` every `ms` without keeping the process alive. */
export function everyMs(ms: number, act: () => void): Timer {
  if (ms > LONGEST_MS) return undefined
  const timer = setInterval(act, ms)
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

/** Resolves when `done` is called, or after `ms` at the latest. */
export function within(ms: number, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = afterMs(ms, resolve)
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
