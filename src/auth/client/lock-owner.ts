import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import { lazy } from '../../base/lazy.ts'

/** The process that holds a lock, as far as its name says. */
export interface LockOwner {
  readonly pid: number
  /** When the process started, in a unit of the platform; empty if unknown. With it, a later process with the same id is told apart. */
  readonly started: string
  /** Identifies the machine, since its last start, and the set of process ids: elsewhere the same id is another process. */
  readonly place: string
}

/** A new name for an owner of a lock in this process. It is unique, and fit for a file. */
export async function createOwner(): Promise<string> {
  const { pid, started, place } = await self()
  return [pid, started, place, randomUUID()].join('.')
}

/** Reads the name of an owner; undefined if it is not one. */
export function readOwner(name: string): LockOwner | undefined {
  const [, pid, started, place] = /^(\d{1,10})\.(\d*)\.([0-9a-f]{16})\.[0-9a-f-]{36}$/.exec(name) ?? []
  return place === undefined ? undefined : { pid: Number(pid), started: started as string, place }
}

/**
 * Whether the owner of a lock still runs; undefined if that cannot be known from here. A thread of this process may have ended on its own,
 * so nothing is known about those.
 */
export async function isRunning(owner: LockOwner): Promise<boolean | undefined> {
  const { place } = await self()
  if (owner.place !== place || owner.pid === process.pid) return undefined
  if (!hasProcess(owner.pid)) return false
  const started = await startOf(owner.pid)
  if (started === ENDED) return false
  return started === '' || owner.started === '' ? undefined : started === owner.started
}

const ENDED = 'ended'

const self = lazy(async (): Promise<LockOwner> => {
  const started = await startOf(process.pid)
  return { pid: process.pid, started: started === ENDED ? '' : started, place: placeOf() }
})

function placeOf(): string {
  const parts = [hostname()]
  if (process.platform === 'linux') {
    parts.push(attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')) ?? '')
    parts.push(attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '')
  }
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Any other error means that there is one, which belongs to somebody else.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** When a process started; empty if unknown, `ended` if only its parent has not noticed yet. */
async function startOf(pid: number): Promise<string> {
  if (process.platform === 'linux')
    return startInProc(attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1')))
  return process.platform === 'win32' ? '' : startInPs(await askPs(pid))
}

/** Reads the state and the start of a process from its file `stat` in Linux. */
export function startInProc(text: string | undefined): string {
  // The name of the program, in parentheses, may contain anything.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  if (/^[ZXx]$/.test(fields[0] ?? '')) return ENDED
  return /^\d+$/.exec(fields[19] ?? '')?.[0] ?? ''
}

/** Reads the same from the output of `ps`. */
export function startInPs(text: string): string {
  const [, state, date] = /^\s*(\S+)\s+(\S.*\d{4})\s*$/.exec(text) ?? []
  if (state?.startsWith('Z') === true) return ENDED
  const time = Date.parse(`${date} UTC`)
  return Number.isNaN(time) ? '' : String(time)
}

/** The state and start of a process, as `ps` shows them; empty if it cannot be asked. */
export function askPs(pid: number): Promise<string> {
  return new Promise((resolve) => {
    const env = { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' }
    execFile('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { env, timeout: 5000 }, (error, output) =>
      resolve(error === null ? output : ''),
    )
  })
}

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
