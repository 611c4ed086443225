import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { win32 } from 'node:path'
import process from 'node:process'

/** A process and its descendants. */
export interface Tree {
  /** Whether any of them is still running. */
  isAlive(): boolean
  signal(name: 'SIGTERM' | 'SIGKILL'): void
  /** Resolves when all have ended, or after `ms`. */
  gone(ms: number): Promise<void>
  /** Kills the rest at once, without waiting. */
  killNow(): void
}

const POLL_MS = 10

/** The tree of a child that was started as the leader of a process group (on Windows, of any child). */
export function createTree(child: ChildProcess): Tree {
  const pid = child.pid as number
  const windows = process.platform === 'win32'
  const leads = (): boolean => child.exitCode === null && child.signalCode === null
  // Once the whole group has ended, the system may reuse its id.
  let ended = false

  const tree: Tree = {
    isAlive() {
      if (!ended && !leads() && (windows || !hasMembers(pid))) ended = true
      return !ended
    },
    signal(name) {
      if (!tree.isAlive()) return
      if (windows) endWindowsTree(pid)
      else signalGroup(pid, name)
    },
    async gone(ms) {
      const deadline = performance.now() + ms
      while (tree.isAlive() && performance.now() < deadline)
        await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS))
    },
    killNow() {
      if (ended) return
      if (windows) spawnSync(taskkill(), taskkillArgs(pid), { windowsHide: true, stdio: 'ignore' })
      else signalGroup(pid, 'SIGKILL')
    },
  }
  return tree
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a group has running members. Signals alone cannot tell: zombies count as members too. */
function hasMembers(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false
  if (process.platform !== 'linux') return true
  try {
    return readdirSync('/proc').some((name) => isRunning(name, pid))
  } catch {
    return true
  }
}

function isRunning(name: string, group: number): boolean {
  if (!/^\d+$/.test(name)) return false
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
    const [state, , member] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(member) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

function endWindowsTree(pid: number): void {
  const killer = spawn(taskkill(), taskkillArgs(pid), { windowsHide: true, stdio: 'ignore' })
  killer.on('error', () => undefined)
  killer.unref()
}

function taskkill(): string {
  return win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe')
}

function taskkillArgs(pid: number): readonly string[] {
  return ['/pid', String(pid), '/t', '/f']
}
