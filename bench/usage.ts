import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** What a process has used. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** Clock ticks and page size of Linux on every machine that Node supports by default. */
const TICK_MS = 10
const KILOBYTE = 1024

/** Processor time and resident memory of a running process. */
export function usageOf(pid: number): Usage {
  if (!existsSync('/proc/self/stat')) return portable(pid)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rssBytes: Number(resident?.[1]) * KILOBYTE,
  }
}

function portable(pid: number): Usage {
  const said = spawnSync('ps', ['-o', 'rss=,cputime=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  const [rss, time] = said.trim().split(/\s+/)
  const seconds = (time ?? '').split(':').reduce((total, part) => total * 60 + Number(part), 0)
  return { cpuMs: seconds * 1000, rssBytes: Number(rss) * KILOBYTE }
}
