/** The listeners of each signal that has some. */
const listening = new WeakMap<AbortSignal, Listeners>()

/** The functions to call when a signal aborts. */
class Listeners extends Set<() => void> {
  handleEvent(): void {
    for (const listener of this) listener()
  }
}

/**
 * Calls a function when a signal aborts, at once if it has. Returns a function that removes it. However many there are, the signal
 * has a single listener, because runtimes take many for a leak.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => undefined
  }
  let all = listening.get(signal)
  if (all === undefined) {
    listening.set(signal, (all = new Listeners()))
    signal.addEventListener('abort', all, { once: true })
  }
  all.add(listener)
  return () => {
    if (!all.delete(listener) || all.size > 0) return
    signal.removeEventListener('abort', all)
    if (listening.get(signal) === all) listening.delete(signal)
  }
}
