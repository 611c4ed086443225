import { readFileSync } from 'node:fs'

/** Whether a process runs; one that is dead but not collected does not. */
export function isAlive(pid: unknown): boolean {
  try {
    process.kill(pid as number, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
