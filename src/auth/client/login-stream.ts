import { onAbort } from '../../base/on-abort.ts'
import type { LoginStream } from '../../rpc/logins.ts'

/** Creates a stream. `current` gives the signal that aborts when the current login ends. */
export function createLoginStream(outer: AbortSignal, current: () => AbortSignal): LoginStream {
  const stop = new AbortController()
  let remove: (() => void) | undefined
  return {
    signal: AbortSignal.any([outer, stop.signal]),
    get isFormer() {
      return stop.signal.aborted
    },
    begin() {
      remove?.()
      const login = current()
      remove = onAbort(login, () => stop.abort(login.reason))
    },
    end: () => remove?.(),
  }
}
