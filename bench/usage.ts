import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** The resources that a process has used. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** The clock tick of Linux, for kernels without nanosecond statistics. */
const TICK_MS = 10
const KILOBYTE = 1024

/** CPU time and resident memory of a running process. */
export function usageOf(pid: number): Usage {
  if (!existsSync('/proc/self/stat')) return usageFromPs(pid)
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return { cpuMs: cpuMsOf(pid), rssBytes: Number(resident?.[1]) * KILOBYTE }
}

/** The CPU time of all threads, in nanosecond resolution if the kernel provides it. */
function cpuMsOf(pid: number): number {
  if (existsSync(`/proc/${pid}/schedstat`))
    return readdirSync(`/proc/${pid}/task`).reduce((total, thread) => total + threadMs(pid, thread), 0)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** The CPU time of the processes that this one has started, directly or not, and that have ended. Only Linux tells; elsewhere 0. */
export function endedChildrenMs(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

function threadMs(pid: number, thread: string): number {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10) / 1e6
  } catch {
    // The thread has ended.
    return 0
  }
}

function usageFromPs(pid: number): Usage {
  const output = spawnSync('ps', ['-o', 'rss=,cputime=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  const [rss, time] = output.trim().split(/\s+/)
  const seconds = (time ?? '').split(':').reduce((total, part) => total * 60 + Number(part), 0)
  return { cpuMs: seconds * 1000, rssBytes: Number(rss) * KILOBYTE }
}
