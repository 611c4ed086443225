import { setTimeout as sleep } from 'node:timers/promises'
import { toLaunch, type Command } from '../transport/stdio/launch.ts'
import { startProcess, type ServerProcess } from '../transport/stdio/process.ts'
import type { Trace } from './trace.ts'
import { LineWire } from './wire-lines.ts'

/** How long a program may take to end after its input was closed, before it gets a signal. */
const GRACE_MS = 300
/** The most programs that are about to end while the next one is used. */
const MOST_LEAVING = 3
/** How long to wait for the reason of an end. */
const REASON_MS = 300
const MOST_STDERR = 4_000

/** A program, and the end of what it has printed to stderr so far. */
interface Started {
  readonly process: ServerProcess
  stderr: string
}

/** Programs of one command, each for one connection. The next one starts in advance, and nobody waits for those that end. */
export class Programs {
  readonly #command: Command
  #next: Promise<Started> | undefined
  readonly #leaving = new Set<Promise<void>>()

  constructor(command: Command) {
    this.#command = command
  }

  /** Speaks to a program over its standard input and output. Throws if it cannot be started. */
  async open(trace: Trace): Promise<LineWire> {
    while (this.#leaving.size >= MOST_LEAVING) await Promise.race(this.#leaving)
    const next = this.#next ?? this.#start()
    // Nobody else may take it in the meantime.
    this.#next = undefined
    const started = await next
    const { process } = started
    this.#next ??= this.#start()
    this.#next.catch(() => undefined)
    const ending = async (): Promise<string> => {
      const ended = await Promise.race([process.finished, sleep(REASON_MS, undefined, { ref: false })])
      return `the program ${ended?.how ?? 'closed its output'}${reasonIn(started.stderr)}`
    }
    const streams = { input: process.stdout, output: process.stdin }
    return new LineWire('stdio', streams, async () => this.#leave(process), trace, ending)
  }

  async close(): Promise<void> {
    const next = await this.#next?.catch(() => undefined)
    this.#next = undefined
    if (next !== undefined) this.#leave(next.process)
    await Promise.all(this.#leaving)
  }

  async #start(): Promise<Started> {
    const process = await startProcess(toLaunch(this.#command), 'pipe')
    const started: Started = { process, stderr: '' }
    process.stderr?.on('data', (chunk: Uint8Array) => {
      started.stderr = (started.stderr + Buffer.from(chunk).toString('utf8')).slice(-MOST_STDERR)
    })
    return started
  }

  #leave(process: ServerProcess): void {
    const left = process.stop(GRACE_MS).finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }
}

/** The line of the standard error that most likely says what is wrong, and what to do about it if the program says that. */
function reasonIn(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const line =
    lines.find((one) => /^\s*(?:\w*Error|error)\b[^:]*: /.test(one)) ??
    lines.find((one) => /error/i.test(one)) ??
    lines.at(-1)
  const fix = lines.find((one) => /^\s*fix: /.test(one))
  if (line === undefined) return ''
  return [line, ...(fix === undefined || fix === line ? [] : [fix])]
    .map((one) => one.trim().slice(0, 300))
    .reduce((text, one) => `${text}${text === ': ' ? '' : '; '}${one}`, ': ')
}
