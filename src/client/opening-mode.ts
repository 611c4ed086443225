/** How a connection opens: with any request, with a handshake, or with a handshake over the transport of 2024-11-05. */
export type OpeningMode = 'request' | 'handshake' | 'older'

/** The modes of known servers, which save a failed attempt at the next connection. */
const modes = new Map<string, OpeningMode>()
const MAX_MODES = 1000

export function recallMode(key: string | undefined): OpeningMode | undefined {
  return key === undefined ? undefined : modes.get(key)
}

export function rememberMode(key: string | undefined, mode: OpeningMode): void {
  if (key === undefined) return
  modes.delete(key)
  modes.set(key, mode)
  for (const oldest of modes.keys()) {
    if (modes.size <= MAX_MODES) break
    modes.delete(oldest)
  }
}

export function forgetMode(key: string | undefined): void {
  if (key !== undefined) modes.delete(key)
}
