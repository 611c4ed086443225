import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** What a process has used. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** The clock of Linux, where the kernel does not tell more exactly. */
const TICK_MS = 10
const KILOBYTE = 1024

/** Processor time and resident memory of a running process. */
export function usageOf(pid: number): Usage {
  if (!existsSync('/proc/self/stat')) return portable(pid)
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return { cpuMs: cpuMsOf(pid), rssBytes: Number(resident?.[1]) * KILOBYTE }
}

/** To the nanosecond where the kernel counts so, for all threads of the process. */
function cpuMsOf(pid: number): number {
  if (existsSync(`/proc/${pid}/schedstat`))
    return readdirSync(`/proc/${pid}/task`).reduce((total, thread) => total + threadMs(pid, thread), 0)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

function threadMs(pid: number, thread: string): number {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10) / 1e6
  } catch {
    // The thread has ended.
    return 0
  }
}

function portable(pid: number): Usage {
  const said = spawnSync('ps', ['-o', 'rss=,cputime=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  const [rss, time] = said.trim().split(/\s+/)
  const seconds = (time ?? '').split(':').reduce((total, part) => total * 60 + Number(part), 0)
  return { cpuMs: seconds * 1000, rssBytes: Number(rss) * KILOBYTE }
}
