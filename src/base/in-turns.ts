import { endOfTurn, inTurn } from './turn.ts'

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
    const end = endOfTurn()
    while (outs.length < items.length) {
      const out = take(items[outs.length]!)
      // A promise may be rejected during a pause, before the caller can look at it.
      if (out instanceof Promise) out.catch(() => undefined)
      outs.push(out)
      if (outs.length < items.length && performance.now() > end) return pause()
    }
    return outs
  }

  function pause(): Promise<Out[]> {
    pauses?.pause(items.slice(outs.length))
    return inTurn(() => {
      pauses?.resume()
      return proceed()
    })
  }
}
