const PAUSE_MS = 1000

/**
 * Limits reports to one per second, or per `pauseMs`. `skipped` is the number of reports suppressed since the last one; those before a
 * silence are only counted with the next report.
 */
export function throttle<Fact>(
  report: (fact: Fact, skipped: number) => void,
  pauseMs: number = PAUSE_MS,
): (fact: Fact) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  let skipped = 0
  return (fact) => {
    const now = performance.now()
    if (now - reportedAt < pauseMs) return void skipped++
    report(fact, skipped)
    reportedAt = now
    skipped = 0
  }
}
