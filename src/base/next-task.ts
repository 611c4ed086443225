/** The number of items after which others get a turn, where items follow each other without a pause. */
export const TURN = 1024

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
