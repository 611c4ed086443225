import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { initialize } from '../http/messages.ts'
import { bundle } from '../harness/bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-stdio-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The file of the server. */
export const SERVER: string = bundle(new URL('server.ts', import.meta.url), join(folder, 'server.mjs'))

/** A server in a process of its own. */
export class Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Every line of stdout, whether a message or not. */
  readonly lines: string[] = []
  stderr = ''
  /** Resolves with the exit code, or the name of the signal, and how long it took from now on. */
  readonly exited: Promise<number | string | null>
  readonly #waiting = new Set<() => void>()
  #rest = ''
  #over = false

  constructor(flags: readonly string[] = []) {
    this.process = spawn(process.execPath, [SERVER, ...flags])
    this.process.stdin.on('error', () => undefined)
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.#rest += chunk.toString('utf8')
      const lines = this.#rest.split('\n')
      this.#rest = lines.pop() as string
      this.lines.push(...lines)
      this.#wake()
    })
    this.process.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8')
      this.#wake()
    })
    this.exited = new Promise((resolve) => {
      this.process.once('close', (code, signal) => {
        this.#over = true
        this.#wake()
        resolve(code ?? signal)
      })
    })
    onTestFinished(() => void this.process.kill('SIGKILL'))
  }

  /** The messages that came so far; throws when a line is none. */
  get messages(): readonly JsonObject[] {
    return this.lines.map((line) => JSON.parse(line) as JsonObject)
  }

  /** What stdout held after its last line break. */
  get rest(): string {
    return this.#rest
  }

  write(...texts: readonly (string | Uint8Array)[]): this {
    for (const text of texts) this.process.stdin.write(text)
    return this
  }

  /** Sends messages, one a line. */
  send(...messages: readonly string[]): this {
    return this.write(messages.map((message) => `${message}\n`).join(''))
  }

  async until(holds: (child: Child) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.#over)
        throw new Error(`the server is gone: ${this.lines.join('\n').slice(-500)} ${this.stderr.slice(-500)}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
    return this
  }

  /** Waits for so many lines. */
  async count(lines: number): Promise<readonly JsonObject[]> {
    await this.until((child) => child.lines.length >= lines)
    return this.messages
  }

  /** Waits for the reply to an id. */
  async reply(id: number): Promise<JsonObject> {
    let seen = 0
    let found: JsonObject | undefined
    await this.until(({ lines }) => {
      while (found === undefined && seen < lines.length) {
        const message = JSON.parse(lines[seen++] as string) as JsonObject
        if (message['id'] === id && !('method' in message)) found = message
      }
      return found !== undefined
    })
    return found as unknown as JsonObject
  }

  /** The memory that the process holds, in bytes. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }

  /** The time of the processor that it used, in ticks of 10 ms. */
  get ticks(): number {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** Starts a server and does the handshake. */
export async function opened(flags: readonly string[] = [], capabilities: JsonObject = {}): Promise<Child> {
  const child = new Child(flags).send(initialize('2025-11-25', capabilities))
  await child.count(1)
  return child
}
