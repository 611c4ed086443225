/** Milliseconds after which others get a turn. */
const SLICE_MS = 20

/** What happens before and after each pause. */
export interface Pauses<In> {
  /** Called with the items that are left. */
  pause(rest: readonly In[]): void
  resume(): void
}

/**
 * Does something with each item, in order. If that takes long, it pauses between items, so that no number of items keeps
 * the process from other work; otherwise it stays synchronous.
 */
export function inTurns<In, Out>(
  items: readonly In[],
  take: (item: In) => Out,
  pauses?: Pauses<In>,
): Out[] | Promise<Out[]> {
  const outs: Out[] = []
  return proceed()

  function proceed(): Out[] | Promise<Out[]> {
    const end = performance.now() + SLICE_MS
    while (outs.length < items.length) {
      const out = take(items[outs.length]!)
      // A promise may be rejected during a pause, before the caller can look at it.
      if (out instanceof Promise) out.catch(() => undefined)
      outs.push(out)
      if (outs.length < items.length && performance.now() > end) return pause()
    }
    return outs
  }

  async function pause(): Promise<Out[]> {
    pauses?.pause(items.slice(outs.length))
    // Browsers do not have setImmediate.
    const later = globalThis.setImmediate ?? setTimeout
    await new Promise((resolve) => void later(resolve))
    pauses?.resume()
    return proceed()
  }
}
