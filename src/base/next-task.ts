/** The number of items, and the milliseconds, after which others get a turn, where items follow each other without a pause. */
export const TURN = 1024
const TURN_MS = 20

/** Counts the items of a loop that waits for nothing else, and the time that they take: a peer chooses how large they are. */
export class Turns {
  #items = 0
  // Workers stop this clock while they compute, and have only the items.
  #end = performance.now() + TURN_MS

  /** Counts an item. Returns whether it is time to wait for the `next` turn. */
  isOver(): boolean {
    return ++this.#items >= TURN || performance.now() > this.#end
  }

  async next(): Promise<void> {
    await nextTask()
    this.#items = 0
    this.#end = performance.now() + TURN_MS
  }
}

/** Resolves in a task of its own. Callers share none, because a Worker ends the timers of a request together with it. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    // Browsers do not have setImmediate, and Workers only with a flag.
    const { setImmediate } = globalThis as { setImmediate?: (act: () => void) => unknown }
    if (setImmediate !== undefined || !('document' in globalThis))
      return void (setImmediate ?? setTimeout)(resolve)
    // Browsers delay the timers of pages, above all of those in the background.
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(0)
  })
}
