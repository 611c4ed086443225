import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pack } from '../../tools/package.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Sample, type Workload, interleave, median, mostlyBusy } from '../measure.ts'
import { LIMIT, OURS, type Subject } from '../subjects.ts'
import { endedChildrenMs } from '../usage.ts'

/** The titles of the rows. */
export const VERSION_WORK = 'pierhead --version, and a program of Node that does nothing'
export const CREATE_WORK = 'pierhead create with a warm cache'
export const FIRST_CALL_WORK = 'from an empty folder to the first answered call, with a warm cache'

/** How often a project is created. */
const PROJECTS = 3

/** The command: its start, a new project from the packed package, and its first answer. */
export const command: Workload = {
  name: 'command',
  run: async ({ starts }, log) => {
    const version = await interleave([LIMIT, OURS], { rounds: starts }, async (subject) =>
      runVersion(subject),
    )
    const samples = [...version].map(([subject, rounds]): Sample => {
      const value = median(rounds.map(({ ms }) => ms))
      log(`--version: ${subject.name} ${value.toFixed(0)} ms`)
      return { work: VERSION_WORK, subject, value, unit: 'ms', better: 'less', busy: mostlyBusy(rounds) }
    })
    return [...samples, ...createRows(log)]
  },
}

interface Round {
  readonly ms: number
  readonly busy: boolean
}

/** Runs a program to its end. Throws unless it succeeds and prints what it should. */
function timed(program: string, args: readonly string[], cwd: string, printed: string): Round {
  const disturbed = watchOtherPrograms()
  const cpuBefore = endedChildrenMs()
  const begun = performance.now()
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  const ms = performance.now() - begun
  if (status !== 0 || !stdout.includes(printed))
    throw new Error(`${program} ${args.join(' ')} ended with ${String(status)}: ${stdout}${stderr}`)
  return { ms, busy: disturbed(endedChildrenMs() - cpuBefore) }
}

function runVersion({ role }: Subject): Round {
  const args = role === 'limit' ? ['--eval', ''] : ['dist/cli/main.js', '--version']
  return timed(process.execPath, args, '.', '')
}

/** Creates projects as the guide says. The first one only fills the caches of npm. */
function createRows(log: (line: string) => void): readonly Sample[] {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-bench-'))
  try {
    const archive = resolve(pack(join(folder, 'packed')).path)
    const rounds = Array.from({ length: PROJECTS + 1 }, (_, index) => {
      const name = `server-${index}`
      const npx = ['--yes', `--package=${archive}`, 'create-mcp-server', name]
      const first = timed('npx', npx, folder, name)
      const home = join(folder, name)
      const call = timed('npx', ['pierhead', 'call', 'add', 'a=1', 'b=2'], home, '"sum"')
      // The command that the project has, without what npx needs to fetch it.
      const created = timed('npx', ['pierhead', 'create', 'other'], home, 'other')
      rmSync(home, { recursive: true })
      const round = index === 0 ? 'to fill the caches' : `round ${index}`
      log(
        `${round}: create ${secondsText(created)}, first call after ${secondsText({ ms: first.ms + call.ms })}`,
      )
      return { created, call: { ms: first.ms + call.ms, busy: first.busy || call.busy } }
    }).slice(1)
    const row = (work: string, all: readonly Round[]): Sample => {
      const value = median(all.map(({ ms }) => ms)) / 1000
      return { work, subject: OURS, value, unit: 's', better: 'less', busy: mostlyBusy(all) }
    }
    return [
      row(
        CREATE_WORK,
        rounds.map(({ created }) => created),
      ),
      row(
        FIRST_CALL_WORK,
        rounds.map(({ call }) => call),
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function secondsText({ ms }: Pick<Round, 'ms'>): string {
  return `${(ms / 1000).toFixed(1)} s`
}
