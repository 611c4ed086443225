/** How a server opens: by any request, by a handshake, or by one over an older transport. */
export type OpeningMode = 'request' | 'handshake' | 'older'

/** How servers opened that were met before, so that they need not be asked again. */
const modes = new Map<string, OpeningMode>()
const MAX_KEPT = 1000

export function recallMode(key: string | undefined): OpeningMode | undefined {
  return key === undefined ? undefined : modes.get(key)
}

export function rememberMode(key: string | undefined, mode: OpeningMode): void {
  if (key === undefined) return
  modes.delete(key)
  modes.set(key, mode)
  for (const oldest of modes.keys()) {
    if (modes.size <= MAX_KEPT) break
    modes.delete(oldest)
  }
}

export function forgetMode(key: string | undefined): void {
  if (key !== undefined) modes.delete(key)
}
