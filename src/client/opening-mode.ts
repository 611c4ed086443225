/** How a server opens: by any request, by a handshake, or by one over an older transport. */
export type Verdict = 'request' | 'handshake' | 'older'

/** How servers opened that were met before, so that they need not be asked again. */
const verdicts = new Map<string, Verdict>()
const MAX_KEPT = 1000

export function recall(key: string | undefined): Verdict | undefined {
  return key === undefined ? undefined : verdicts.get(key)
}

export function remember(key: string | undefined, verdict: Verdict): void {
  if (key === undefined) return
  verdicts.delete(key)
  verdicts.set(key, verdict)
  for (const oldest of verdicts.keys()) {
    if (verdicts.size <= MAX_KEPT) break
    verdicts.delete(oldest)
  }
}

export function forget(key: string | undefined): void {
  if (key !== undefined) verdicts.delete(key)
}
