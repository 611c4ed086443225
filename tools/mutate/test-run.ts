import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The tests to run, and how. */
export interface RunOptions {
  /** Test files, by path from the root, in the order in which they run. */
  readonly files: readonly string[]
  /** Runs only the tests whose title matches. */
  readonly only?: string
  /** All files in one process, which is quicker. */
  readonly together?: boolean
  readonly workers: number
  /** A file that runs before each test file. */
  readonly setup?: string
  /** Whether the first failure ends the run. */
  readonly bail: boolean
}

/** The events of a test run. */
export type Event =
  | { readonly type: 'alive' }
  | { readonly type: 'failed'; readonly file: string; readonly title: string }
  | { readonly type: 'file'; readonly file: string; readonly passed: boolean; readonly seconds: number }
  | { readonly type: 'end'; readonly unhandled: readonly string[] }

export interface Outcome {
  /** `hung`: the run was killed because it was silent for too long. `broken`: it exited without a result. */
  readonly state: 'passed' | 'failed' | 'hung' | 'broken'
  /** The first test that failed, and its file. */
  readonly file?: string
  readonly title?: string
  readonly files: readonly (Event & { type: 'file' })[]
}

/** The maximum silence of a run; longer than any single test may take. */
const SILENCE_MS = 90_000

const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url))
const running = new Set<number>()

/** Runs tests in a copy of the repository, and kills every process of the run afterwards. */
export async function runTests(
  folder: string,
  options: RunOptions,
  silenceMs: number = SILENCE_MS,
): Promise<Outcome> {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), RUNNER, JSON.stringify(options)],
    {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, NO_COLOR: '1' },
    },
  )
  const { pid } = child
  if (pid === undefined) throw new Error('the test runner did not start')
  running.add(pid)
  let silent = false
  const timer = setTimeout(() => {
    silent = true
    killGroup(pid)
  }, silenceMs)
  const events: Event[] = []
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('@{')) continue
      timer.refresh()
      const event = JSON.parse(line.slice(1)) as Event
      events.push(event)
      if (options.bail && event.type === 'failed') break
    }
  } finally {
    clearTimeout(timer)
    killGroup(pid)
    running.delete(pid)
  }
  return toOutcome(events, silent)
}

/** Kills every run in progress. */
export function killAll(): void {
  for (const pid of running) killGroup(pid)
}

/** Kills a process and its group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
}

function toOutcome(events: readonly Event[], silent: boolean): Outcome {
  const files = events.filter((event) => event.type === 'file')
  const failed = events.find((event) => event.type === 'failed')
  if (failed) return { state: 'failed', file: failed.file, title: failed.title, files }
  const broken = files.find(({ passed }) => !passed)
  if (broken) return { state: 'failed', file: broken.file, title: '(the file itself)', files }
  if (silent) return { state: 'hung', files }
  const last = events.at(-1)
  if (last?.type !== 'end') return { state: 'broken', files }
  return last.unhandled.length > 0
    ? { state: 'failed', title: `unhandled: ${last.unhandled[0]}`, files }
    : { state: 'passed', files }
}
