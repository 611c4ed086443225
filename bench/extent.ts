/** How long a round of load lasts: for a time, or until so many calls are answered. */
export type Extent = { readonly seconds: number } | { readonly calls: number }

/** Starts a round; the returned function says whether it is over after `count` answers. */
export function startRound(extent: Extent): (count: number) => boolean {
  if ('calls' in extent) return (count) => count >= extent.calls
  const until = performance.now() + extent.seconds * 1000
  return () => performance.now() >= until
}

const STALL_MS = 10_000

/** Rejects if no answer arrives for a while, so that a server that stops answering ends the run. */
export async function failOnStall<Result>(work: Promise<Result>, answers: () => number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const stalled = new Promise<never>((_, fail) => {
    let seen = answers()
    timer = setInterval(() => {
      const now = answers()
      if (now === seen) fail(new Error('an answer timed out'))
      seen = now
    }, STALL_MS)
  })
  try {
    return await Promise.race([work, stalled])
  } finally {
    clearInterval(timer)
  }
}
