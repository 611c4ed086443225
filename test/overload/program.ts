import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/index.ts'
import { bundle } from '../harness/bundle.ts'

/** What the server tells of itself. */
export interface State {
  readonly running: number
  readonly sessions: number
  readonly unsent: number
  readonly rss: number
  /** Bytes in use after a collection. */
  readonly heap: number
  readonly counts: Readonly<Record<string, number>>
  readonly reports: readonly string[]
  /** The tools whose handlers were told to stop. */
  readonly aborted: readonly string[]
  readonly resources: readonly string[]
}

export interface ProgramOptions {
  readonly limits?: ServerOptions['limits']
  readonly port?: number
  readonly onUncaught?: 'report' | 'exit'
  /** What Node is started with. */
  readonly flags?: readonly string[]
  /** A shell command that runs before, such as `ulimit -n 64`. */
  readonly before?: string
}

const folder = mkdtempSync(join(tmpdir(), 'pierhead-overload-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SERVER = bundle(new URL('server.ts', import.meta.url), join(folder, 'server.mjs'))

/** The server in a process of its own. */
export class Program {
  readonly process: ChildProcess
  readonly port: number
  /** The exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string | null>
  stderr = ''

  private constructor(process: ChildProcess, port: number) {
    this.process = process
    this.port = port
    this.exited = new Promise((resolve) => process.once('exit', (code, signal) => resolve(code ?? signal)))
    process.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString('utf8')))
  }

  static async start(options: ProgramOptions = {}): Promise<Program> {
    const { flags = [], before, ...order } = options
    const line = [...flags, '--expose-gc', SERVER, JSON.stringify(order)]
    const [command, args] =
      before === undefined
        ? [process.execPath, line]
        : ['/bin/sh', ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...line]]
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const url = await new Promise<string>((resolve, reject) => {
      child.once('message', (message) => resolve(message as string))
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
    return new Program(child, Number(new URL(url).port))
  }

  state(): Promise<State> {
    return new Promise((resolve) => {
      this.process.once('message', (message) => resolve(message as State))
      this.process.send('state')
    })
  }

  /** The time of the processor that it used, in milliseconds. */
  get cpuMs(): number {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10
  }
}
