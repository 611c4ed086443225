/** Milliseconds after which others get a turn. */
const SLICE_MS = 20

/**
 * Does something with each item, in order. If that takes long, it pauses between items, so that no number of items keeps
 * the process from other work; otherwise it stays synchronous.
 */
export function inTurns<In, Out>(items: readonly In[], take: (item: In) => Out): Out[] | Promise<Out[]> {
  const outs: Out[] = []
  return proceed()

  function proceed(): Out[] | Promise<Out[]> {
    const end = performance.now() + SLICE_MS
    while (outs.length < items.length) {
      const out = take(items[outs.length]!)
      // A promise may be rejected during a pause, before the caller can look at it.
      if (out instanceof Promise) out.catch(() => undefined)
      outs.push(out)
      if (outs.length < items.length && performance.now() > end) return pause().then(proceed)
    }
    return outs
  }
}

function pause(): Promise<void> {
  // Browsers do not have setImmediate.
  const later = globalThis.setImmediate ?? setTimeout
  return new Promise((resolve) => void later(resolve))
}
