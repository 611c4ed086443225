/** How servers opened that were met before, so that they need not be asked again. */
const verdicts = new Map<string, 'request' | 'handshake'>()
const MAX_KEPT = 1000

export function recall(key: string | undefined): 'request' | 'handshake' | undefined {
  return key === undefined ? undefined : verdicts.get(key)
}

export function remember(key: string | undefined, verdict: 'request' | 'handshake'): void {
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
