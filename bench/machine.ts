import { existsSync, readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { versionOf } from '../tools/run.ts'
import { ALL, type Subject } from './subjects.ts'

/** If other programs use more than this many cores, a row is marked as busy. */
const BUSY_CORES = 0.25
const TICK_MS = 10
const ZOD: Pick<Subject, 'name' | 'package'> = { name: 'zod', package: 'zod' }

/** The machine of a run. */
export interface Machine {
  readonly node: string
  readonly cpu: string
  readonly cores: number
  readonly loadBefore: number
  readonly loadAfter?: number
  /** Millions of steps per second of a fixed loop, which measures the speed of the machine whatever its name. */
  readonly calibration: number
  readonly date: string
  /** The versions of the peers, and of the schema library that all programs use, by name. */
  readonly versions: Readonly<Record<string, string>>
  /** When rows of some works were measured that were added later. */
  readonly added?: Readonly<Record<string, Pick<Machine, 'date' | 'loadBefore' | 'loadAfter'>>>
}

/** Describes the machine in its current state. */
export function describeMachine(): Machine {
  return {
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    loadBefore: loadNow(),
    calibration: calibrate(),
    date: new Date().toISOString().slice(0, 10),
    versions: Object.fromEntries(
      [...ALL, ZOD].flatMap((one) => (one.package ? [[one.name, versionOf(one.package)]] : [])),
    ),
  }
}

/** The load average of the last minute. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100
}

/** Starts to watch the CPUs; the returned function says whether other programs used much of them since then. */
export function watchOtherPrograms(): (ourCpuMs: number) => boolean {
  const start = performance.now()
  const busyBefore = busyMs()
  const ownBefore = process.cpuUsage()
  return (ourCpuMs) => {
    const own = process.cpuUsage(ownBefore)
    const others = busyMs() - busyBefore - ourCpuMs - (own.user + own.system) / 1000
    return others / (performance.now() - start) > BUSY_CORES
  }
}

function busyMs(): number {
  const used = cpus().reduce((total, { times }) => total + times.user + times.nice + times.sys + times.irq, 0)
  return used + stolenMs()
}

/** The time that the host gave to other machines; only Linux tells. */
function stolenMs(): number {
  if (!existsSync('/proc/stat')) return 0
  const [, , , , , , , , steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 9)
  return Number(steal ?? 0) * TICK_MS
}

function calibrate(): number {
  const steps = 50_000_000
  const start = performance.now()
  let state = 1
  for (let step = 0; step < steps; step++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
  const seconds = (performance.now() - start) / 1000
  return state === 0 ? 0 : Math.round(steps / seconds / 1e6)
}
