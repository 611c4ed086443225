import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Behaviour, Line } from './server.ts'

const FILE = fileURLToPath(new URL('server.ts', import.meta.url))
const FLAGS = ['--import', 'tsx', '--conditions=pierhead-source']

type LineAt<At extends Line['at']> = Extract<Line, { readonly at: At }>

/** A server in several processes, and what they wrote. */
export class Many {
  readonly lines: Line[] = []
  readonly errors: string[] = []
  readonly child: ChildProcess
  readonly #exited: Promise<readonly [code: number | null, signal: string | null]>
  readonly #waiting = new Set<() => void>()

  constructor(behaviour: Behaviour) {
    this.child = spawn(process.execPath, [...FLAGS, FILE], {
      env: { ...process.env, BEHAVIOUR: JSON.stringify(behaviour) },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#exited = once(this.child, 'exit') as never
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.lines.push(JSON.parse(line) as Line)
      for (const wake of this.#waiting) wake()
    })
    this.child.stderr?.on('data', (bytes) => void this.errors.push(String(bytes)))
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await this.#exited
      for (const pid of this.pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    })
  }

  /** The pids of all workers that ever listened. */
  get pids(): readonly number[] {
    return this.at('worker').map(({ pid }) => pid)
  }

  at<At extends Line['at']>(at: At): readonly LineAt<At>[] {
    return this.lines.filter((line) => line.at === at) as never
  }

  /** Waits until a predicate is true; fails if the process ends before. */
  async until(isTrue: () => boolean): Promise<void> {
    const [code, signal] = await Promise.race([
      this.#exited.then((how) => [...how, 'ended'] as const),
      new Promise<readonly [undefined, undefined]>((resolve) => {
        const wake = (): void => {
          if (!isTrue()) return
          this.#waiting.delete(wake)
          resolve([undefined, undefined])
        }
        this.#waiting.add(wake)
        wake()
      }),
    ])
    if (isTrue() || (code === undefined && signal === undefined)) return
    throw new Error(
      `ended with ${code ?? signal}: ${this.errors.join('')} ${this.lines.map((line) => JSON.stringify(line)).join('\n')}`,
    )
  }

  /** Waits until the parent says that all listen. */
  async url(): Promise<string> {
    await this.until(() => this.at('parent').length > 0)
    return this.at('parent')[0]?.url as string
  }

  command(command: 'restart' | 'updated' | 'close' | 'garble'): void {
    this.child.stdin?.write(`${command}\n`)
  }

  async exit(): Promise<readonly [code: number | null, signal: string | null]> {
    return this.#exited
  }
}

/** Starts a server in several processes, until the test is over. */
export async function start(
  behaviour: Behaviour = {},
): Promise<Many & { readonly port: number; readonly at0: string }> {
  const many = new Many(behaviour)
  const url = await many.url()
  return Object.assign(many, { port: Number(new URL(url).port), at0: url })
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
