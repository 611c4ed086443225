import { mkdir, readdir, rename, rmdir, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pause } from '../../base/backoff.ts'
import { mcpError } from '../../errors/error.ts'
import { VAULT_LOCKED, VAULT_UNSAFE } from '../../errors/vault.ts'
import { createOwner, isRunning, readOwner } from './lock-owner.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { checkOwnFolder } from './private-file.ts'

/*
 * A lock between processes. Node has no lock that the system releases when a process ends, so it consists of folders:
 *
 * - A lock is taken if its folder contains a file. The name of the file is that of the owner, which is never used twice.
 * - To take it, a process prepares a folder with such a file and renames it to that of the lock. The system does that at once, and
 *   refuses if the lock has a file.
 * - To release it, the owner removes its file. If the owner was killed, anyone may do so: whoever has been overtaken meanwhile finds no file of
 *   that name and removes nothing. So there is no moment at which two processes can both believe that they have the lock, and none at which being
 *   killed does damage.
 *
 * An owner was killed if its process id does not exist or belongs to a process that started at another time. A process that is slow or stopped
 * keeps its lock. Where ids say nothing (another machine or container that shares the folder, another thread, Windows after an id was used again), the
 * owner must touch its file every second, and loses the lock if somebody who waits sees no touch for ten.
 *
 * Only files with the name of an owner are removed, and folders that are empty. So a folder that was mistaken for a lock keeps its contents.
 */

/** How long things take, in milliseconds. */
export interface LockTimes {
  /** The time between two signs of life of an owner. */
  readonly beat: number
  /** How long somebody waits for a sign of life of an owner whose process cannot be examined. */
  readonly silence: number
  /** How long somebody waits for the lock. */
  readonly patience: number
}

/** How somebody waits for a lock. */
export interface Waiting extends LockTimes {
  /** Ends the wait. A lock that is already held is not given up. */
  readonly signal?: AbortSignal | undefined
}

export const LOCK_TIMES: LockTimes = { beat: 1000, silence: 10_000, patience: 600_000 }

/** The longest time between two attempts. */
const LONGEST_PAUSE = 50
/** An owner that releases the lock explains why it could not be taken, but not so often in a row. */
const MOST_UNEXPLAINED = 100
/** Prepared folders of unknown owners are removed after a day. */
const LONGEST_PREPARED = 86_400_000
/** The errors of renaming a folder to one that has a file: the last three on Windows. */
const TAKEN: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'EBUSY'])

/** The name of a file of an owner that was removed while somebody else had it open, on a network file system. */
const REMOVED = /^\.nfs[0-9a-f]+$/

const queue = new OneAtATime()
const swept = new Set<string>()

/** Runs a function while no other process, and nothing else in this one, has the lock of that name in a folder. */
export function withLock<Result>(
  folder: string,
  name: string,
  run: () => Promise<Result>,
  waiting: Waiting = LOCK_TIMES,
): Promise<Result> {
  const lock = join(folder, name)
  return queue.run(lock, async () => {
    await checkOwnFolder(folder)
    await sweep(folder)
    const owner = await take(folder, name, waiting)
    const file = join(lock, owner)
    const beat = setInterval(() => void touch(file), waiting.beat)
    beat.unref()
    try {
      return await run()
    } finally {
      clearInterval(beat)
      await removeOwner(lock, owner)
    }
  })
}

/** Waits for the lock. Returns the name of its new owner. */
async function take(folder: string, name: string, { signal, ...times }: Waiting): Promise<string> {
  const lock = join(folder, name)
  const owner = await createOwner()
  const prepared = join(folder, `${name}~${owner}`)
  const watch = new Watch(lock, times)
  let unexplained = 0
  try {
    await prepare(prepared, owner)
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const error = await failure(rename(prepared, lock))
      if (error === undefined) return owner
      if (error.code === 'ENOENT') await prepare(prepared, owner)
      else if (!TAKEN.has(error.code)) throw error
      if (await watch.hasEnded()) continue
      unexplained = watch.owner === undefined ? unexplained + 1 : 0
      if (unexplained > MOST_UNEXPLAINED) throw error
      if (watch.waited > times.patience)
        throw mcpError(VAULT_LOCKED, { folder: lock, pid: pidOf(watch.owner) })
      await pause(pauseMs(attempt), ...(signal === undefined ? [] : [signal]))
    }
  } finally {
    await removeOwner(prepared, owner)
  }
}

/** Prepares the folder that becomes the lock, and again if somebody removed it with the folder around it. */
async function prepare(prepared: string, owner: string): Promise<void> {
  await mkdir(prepared, { recursive: true, mode: 0o700 })
  await writeFile(join(prepared, owner), '', { mode: 0o600 })
}

/** Observes the owner of a lock that is taken. */
class Watch {
  /** The owner at the last look; undefined if there was none. */
  owner: string | undefined
  /** How long it has been observed. */
  waited = 0
  readonly #lock: string
  readonly #times: LockTimes
  #touched = 0
  #silence = 0
  #looked: number = performance.now()

  constructor(lock: string, times: LockTimes) {
    this.#lock = lock
    this.#times = times
  }

  /** Whether the lock can be taken now. If its owner was killed, it is released first. */
  async hasEnded(): Promise<boolean> {
    const owner = ownerIn(this.#lock, await readdir(this.#lock).catch(() => []))
    if (owner === undefined) {
      this.owner = undefined
      // Windows does not rename folders to one that exists, even if it is empty.
      return (await failure(rmdir(this.#lock))) === undefined
    }
    const elapsed = this.#elapsed()
    if (owner !== this.owner) this.#silence = 0
    this.owner = owner
    const known = readOwner(owner)
    const runs = known && (await isRunning(known))
    if (runs === true || (runs === undefined && !(await this.#isSilent(owner, elapsed)))) return false
    await removeOwner(this.#lock, owner)
    return true
  }

  /** Whether an owner gave no sign of life for too long. The clocks of two machines may differ, so only changes count. */
  async #isSilent(owner: string, elapsed: number): Promise<boolean> {
    const touched = (await stat(join(this.#lock, owner)).catch(() => undefined))?.mtimeMs
    if (touched === undefined) return false
    this.#silence = touched === this.#touched ? this.#silence + elapsed : 0
    this.#touched = touched
    return this.#silence > this.#times.silence
  }

  /** The time since the last look. If this process was stopped or the machine slept, so may have the owner: that does not count. */
  #elapsed(): number {
    const now = performance.now()
    const elapsed = Math.min(now - this.#looked, 4 * LONGEST_PAUSE)
    this.#looked = now
    this.waited += elapsed
    return elapsed
  }
}

/** The owner among the files of a lock; undefined if there are none. It throws if there are only others. */
function ownerIn(lock: string, files: readonly string[]): string | undefined {
  const owner = files.find((file) => readOwner(file) !== undefined || REMOVED.test(file))
  const [other] = files
  if (owner !== undefined || other === undefined) return owner
  const shown = JSON.stringify(other.slice(0, 64))
  throw mcpError(VAULT_UNSAFE, {
    path: lock,
    reason: `it contains ${shown}, which is not part of a lock; move it`,
  })
}

async function removeOwner(lock: string, owner: string): Promise<void> {
  await unlink(join(lock, owner)).catch(ignore)
  // This fails if somebody else has the lock by now.
  await rmdir(lock).catch(ignore)
}

/** Removes what killed processes prepared, once in each process. */
async function sweep(folder: string): Promise<void> {
  if (swept.has(folder)) return
  swept.add(folder)
  for (const name of await readdir(folder).catch(() => [])) {
    const prepared = name.slice(name.indexOf('~') + 1)
    const owner = readOwner(prepared)
    if (owner === undefined || !name.includes('~')) continue
    const path = join(folder, name)
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now())
    const runs = await isRunning(owner)
    if (runs === false || (runs === undefined && age > LONGEST_PREPARED)) await removeOwner(path, prepared)
  }
}

function pidOf(owner: string | undefined): string {
  return String((owner === undefined ? undefined : readOwner(owner))?.pid ?? 'unknown')
}

async function touch(file: string): Promise<void> {
  const now = new Date()
  await utimes(file, now, now).catch(ignore)
}

/** The time to the next attempt: a little longer each time, since most locks are held for milliseconds, and not as long as that of others who wait. */
function pauseMs(attempt: number): number {
  const longest = Math.min(1 + attempt / 8, LONGEST_PAUSE)
  return longest * (0.5 + Math.random() / 2)
}

async function failure(action: Promise<void>): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await action
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function ignore(): void {}
