import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { runCli } from '../../src/cli/cli.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import type { Io } from '../../src/cli/io.ts'

/** What a command line printed, and how it ended. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface LineOptions {
  /** Whether stdin, stdout and stderr are a terminal. Default: `false`. */
  readonly terminal?: boolean | undefined
  /** What stdin has. Default: nothing. */
  readonly stdin?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly columns?: number | undefined
  /** Shows login pages. Default: as the command does. */
  readonly openPage?: Io['openPage']
}

/** Runs a command line in this process, with streams of its own. */
export async function line(args: readonly string[], options: LineOptions = {}): Promise<Outcome> {
  const { terminal = false, cwd = process.cwd(), env = {}, signal = new AbortController().signal } = options
  const stdin = new PassThrough()
  stdin.end(options.stdin ?? '')
  const sink = (): { text: string } & Io['stdout'] => ({
    text: '',
    isTTY: terminal,
    columns: options.columns ?? 100,
    write(text, done) {
      this.text += text
      done?.()
      return true
    },
  })
  const [stdout, stderr] = [sink(), sink()]
  const io: Io = {
    stdin: Object.assign(stdin, { isTTY: terminal }),
    stdout,
    stderr,
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', ...env },
    cwd,
    signal,
    openPage: options.openPage,
  }
  const code = await runCli(args, io, COMMANDS)
  return { code, stdout: stdout.text, stderr: stderr.text }
}

/** Node arguments that start the command from its sources. */
export const COMMAND: readonly string[] = [
  '--import',
  pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
  '--conditions=pierhead-source',
  `${import.meta.dirname}/../../src/cli/main.ts`,
]

/** Runs a command line in a process of its own. */
export function spawnLine(args: readonly string[], options: LineOptions = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [...COMMAND, ...args], {
    cwd: options.cwd ?? process.cwd(),
    env: { ...process.env, NO_COLOR: '1', ...options.env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.end(options.stdin ?? '')
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
}
