import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/*
 * A lock between processes for functions that wait without promises. It works like that of the vaults (auth/client/vault-lock.ts): a lock is a folder with a file that has the
 * name of its owner. A process takes it by renaming a folder with such a file to it, which fails while another file is there. Nothing is held for longer than it takes to read and
 * write a small file, so the owner gives no signs of life: it was killed if there is no such process, or if it has the lock for ten seconds.
 */

/** How long somebody waits for the same owner. */
const LONGEST_HELD_MS = 10_000
/** The longest time between two attempts. */
const PAUSE_MS = 10
/** An owner that releases the lock explains why it could not be taken, but not so often in a row. */
const MOST_UNEXPLAINED = 100
/** The errors of renaming a folder to one that has a file: the last three on Windows. */
const TAKEN: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'EBUSY'])

/** Runs a function while no other process has the lock. The function can ask whether that is still so: a process may have been stopped for a long time. */
export function withLock<Result>(
  lock: string,
  run: (isHeld: () => boolean) => Result,
  pause: (ms: number) => void = sleep,
): Result {
  const owner = ownerName(process.pid)
  take(lock, owner, pause)
  try {
    return run(() => existsSync(join(lock, owner)))
  } finally {
    removeOwner(lock, owner)
  }
}

/** A new name for an owner of a lock in a process of this machine. */
export function ownerName(pid: number): string {
  return `${pid}.${placeOf()}.${randomUUID()}`
}

function take(lock: string, owner: string, pause: (ms: number) => void): void {
  const prepared = `${lock}~${owner}`
  let [last, waited, unexplained] = ['', 0, 0]
  try {
    mkdirSync(prepared, { mode: 0o700 })
    writeFileSync(join(prepared, owner), '', { mode: 0o600 })
    for (;;) {
      const error = failure(() => renameSync(prepared, lock))
      if (error === undefined) return
      if (!TAKEN.has(error.code)) throw error
      const current = ownerIn(lock)
      // Windows does not rename folders to one that exists, even if it is empty.
      if (current === undefined) failure(() => rmdirSync(lock))
      unexplained = current === undefined ? unexplained + 1 : 0
      if (unexplained > MOST_UNEXPLAINED) throw error
      waited = current === last ? waited : 0
      last = current ?? ''
      if (current !== undefined && (waited > LONGEST_HELD_MS || hasEnded(current))) removeOwner(lock, current)
      const ms = PAUSE_MS * (0.5 + Math.random() / 2)
      waited += ms
      pause(ms)
    }
  } finally {
    removeOwner(prepared, owner)
  }
}

/** The owner of a lock; undefined if it has none. A folder with something else is not a lock. */
function ownerIn(lock: string): string | undefined {
  let files: readonly string[] = []
  failure(() => void (files = readdirSync(lock)))
  const [other] = files
  const owner = files.find((file) => OWNER.test(file))
  if (owner !== undefined || other === undefined) return owner
  throw new Error(
    `${lock} contains ${JSON.stringify(other.slice(0, 64))}, which is not part of a lock; move it`,
  )
}

const OWNER = /^(\d{1,10})\.([0-9a-f]{16})\.[0-9a-f-]{36}$/

/** Whether the process of an owner has ended, as far as that can be known from here. */
function hasEnded(owner: string): boolean {
  const [, pid, place] = OWNER.exec(owner) ?? []
  if (place !== placeOf()) return false
  return failure(() => void process.kill(Number(pid), 0))?.code === 'ESRCH'
}

/** Identifies the machine and the set of process ids: elsewhere the same id is another process. */
function placeOf(): string {
  let ids = ''
  failure(() => void (ids = readlinkSync('/proc/self/ns/pid')))
  return createHash('sha256').update(`${hostname()}\n${ids}`).digest('hex').slice(0, 16)
}

function removeOwner(lock: string, owner: string): void {
  rmSync(join(lock, owner), { force: true })
  // This fails if somebody else has the lock by now.
  failure(() => rmdirSync(lock))
}

function failure(action: () => void): NodeJS.ErrnoException | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
