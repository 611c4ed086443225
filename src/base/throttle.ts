const PAUSE_MS = 1000

/** Tells of something at most once a second; `more` says how often it went untold since the last time. */
export function throttle<Fact>(tell: (fact: Fact, more: number) => void): (fact: Fact) => void {
  let told = Number.NEGATIVE_INFINITY
  let more = 0
  return (fact) => {
    const now = performance.now()
    if (now - told < PAUSE_MS) return void more++
    tell(fact, more)
    told = now
    more = 0
  }
}
