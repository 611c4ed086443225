import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { DevEvent } from '../../src/cli/dev/events.ts'
import { COMMAND } from './line.ts'

/** A project in a folder of its own, until the test is over. */
export class Project {
  readonly home: string = mkdtempSync(join(tmpdir(), 'pierhead-dev-'))

  constructor(server: string) {
    onTestFinished(() => rmSync(this.home, { recursive: true, force: true }))
    mkdirSync(join(this.home, 'node_modules'))
    symlinkSync(resolve('.'), join(this.home, 'node_modules/pierhead'))
    for (const name of ['typescript', '@types'])
      symlinkSync(resolve('node_modules', name), join(this.home, 'node_modules', name))
    this.save('package.json', '{ "type": "module", "pierhead": { "server": "server.ts" } }')
    this.save('server.ts', server)
  }

  /** The text of a file; empty if there is none. */
  read(name: string): string {
    const path = join(this.home, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  save(name: string, text: string): void {
    writeFileSync(join(this.home, name), text)
  }
}

/** The source of a server whose tools say which version they are. Its slow tool ends when the file `gate` exists. */
export function versionOf(version: string, more: string = ''): string {
  return `
import { existsSync } from 'node:fs'
import { createServer } from 'pierhead'
const app = createServer({ name: 'reloaded', version: '1.0.0' })
app.tool('version', {}, () => '${version}')
app.tool('pid', {}, () => String(process.pid))
app.tool('slow', {}, async (_, { progress }) => {
  progress(1)
  while (!existsSync('gate')) await new Promise((resolve) => setTimeout(resolve, 10))
  return '${version}'
})
app.tool('exit', {}, () => process.exit(3))
app.prompt('hello', {}, () => 'Hello!')
${more}
export default app
`
}

type EventOf<Name extends DevEvent['event']> = Extract<DevEvent, { readonly event: Name }>

/** A `dev` command in a process of its own, and what it tells. */
export class Dev {
  readonly child: ChildProcess
  readonly events: DevEvent[] = []
  stderr: string = ''
  readonly #exited: Promise<readonly [code: number | null]>
  readonly #waiting = new Set<() => void>()

  constructor(project: Project, args: readonly string[] = []) {
    this.child = spawn(process.execPath, [...COMMAND, 'dev', ...args], {
      cwd: project.home,
      env: { ...process.env, NO_COLOR: '1', PORT: '0' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#exited = once(this.child, 'exit') as never
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.events.push(JSON.parse(line) as DevEvent)
      this.#wake()
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#wake()
    })
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await this.#exited
    })
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Waits for the nth event of a kind, counted from 1; fails if the process ends before. */
  async until<Name extends DevEvent['event']>(name: Name, nth: number = 1): Promise<EventOf<Name>> {
    const found = (): EventOf<Name> | undefined =>
      this.events.filter(({ event }) => event === name)[nth - 1] as EventOf<Name> | undefined
    await this.when(() => found() !== undefined)
    return found() as EventOf<Name>
  }

  /** Waits until a predicate is true; fails if the process ends before. */
  async when(isTrue: () => boolean): Promise<void> {
    const seen = new Promise<'seen'>((done) => {
      const wake = (): void => {
        if (!isTrue()) return
        this.#waiting.delete(wake)
        done('seen')
      }
      this.#waiting.add(wake)
      wake()
    })
    const first = await Promise.race([seen, this.#exited])
    if (first !== 'seen' && !isTrue())
      throw new Error(`ended with ${first[0]}: ${this.stderr}\n${JSON.stringify(this.events)}`)
  }

  async url(): Promise<string> {
    return (await this.until('listening')).url as string
  }

  /** Sends a signal as Ctrl-C does, and waits for the end. */
  async interrupt(): Promise<number | null> {
    this.child.kill('SIGINT')
    return (await this.#exited)[0]
  }

  async exit(): Promise<number | null> {
    return (await this.#exited)[0]
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
