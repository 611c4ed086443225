import { pause } from '../../base/backoff.ts'
import { LoginRefused } from './problem.ts'
import type { PendingLogin, StoredCredentials, Vault } from './vault.ts'

/** How long others wait for a login without a sign of life, and how often it gives one. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** How often others look whether a login is over. */
const POLL_MS = 250

/** A login for which it is somebody's turn. */
export interface TurnOptions<Found> {
  readonly vault: Vault
  /** The entry that gets the result. */
  readonly key: string
  readonly signal: AbortSignal
  /** Stops the clocks of all who wait while somebody else logs in, until the function that it returns is called. */
  pauseClocks?(): () => void
  /** The result of a login of somebody else; undefined if there is none. */
  find(): Promise<Found | undefined>
}

/**
 * Runs a login while nobody else who shares the vault runs the same one, in this or another process. Whoever comes second waits, and takes the
 * result from the vault. The lock of the entry is not held meanwhile: a person may take minutes.
 */
export async function inTurn<Found>(options: TurnOptions<Found>, run: () => Promise<Found>): Promise<Found> {
  const { vault, key, signal } = options
  const id = crypto.randomUUID()
  const awaited = new Set<string>()
  while (!(await begin(options, id, awaited))) {
    const resume = options.pauseClocks?.()
    await pause(POLL_MS, signal)
    resume?.()
    signal.throwIfAborted()
  }
  const change = (next: (current: StoredCredentials) => StoredCredentials | undefined): Promise<unknown> =>
    vault.update(key, async (current) => (current?.pending?.id === id ? next(current) : current))
  let end = withoutPending
  const timer = setInterval(() => {
    // If the vault fails for good, storing the result fails as well.
    change((current) => ({ ...current, pending: pendingOf(id) })).catch(() => undefined)
  }, RENEW_MS)
  try {
    // The login of somebody else may just have ended.
    return (await options.find()) ?? (await run())
  } catch (thrown) {
    if (thrown instanceof LoginRefused) end = (current) => ({ ...withoutPending(current), refused: id })
    throw thrown
  } finally {
    clearInterval(timer)
    // If it fails, the mark ends by itself. After a logout, nobody needs to wait for it.
    const ended = change(end).catch(() => undefined)
    if (!signal.aborted) await ended
  }
}

/** Marks the entry, unless somebody else runs a login. Fails if the person refused one that was waited for. */
async function begin(
  { vault, key, signal }: TurnOptions<unknown>,
  id: string,
  awaited: Set<string>,
): Promise<boolean> {
  const found = await vault.read(key)
  if (found?.refused !== undefined && awaited.has(found.refused))
    throw new LoginRefused('the user refused this login, for which another client or program asked')
  if (isTaken(found)) {
    awaited.add(found!.pending!.id)
    return false
  }
  const stored = await vault.update(
    key,
    async (current) => (isTaken(current) ? current : { ...current, pending: pendingOf(id) }),
    signal,
  )
  return stored?.pending?.id === id
}

function pendingOf(id: string): PendingLogin {
  return { id, until: Date.now() + LEASE_MS }
}

/** Whether somebody runs a login. A time that is too far away comes from a clock that was wrong. */
function isTaken(stored: StoredCredentials | undefined): boolean {
  const left = (stored?.pending?.until ?? 0) - Date.now()
  return left > 0 && left <= LEASE_MS
}

function withoutPending({ pending: _, ...rest }: StoredCredentials): StoredCredentials | undefined {
  return Object.values(rest).every((value) => value === undefined) ? undefined : rest
}
