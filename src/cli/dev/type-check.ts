import { spawn, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { foreignIn, foreignPackage, nearestFile } from '../project-files.ts'
import { readText } from '../read-text.ts'
import { isTypeScript } from '../source-file.ts'
import { ownerOf } from '../trust.ts'

export interface TypeErrors {
  readonly errors: number
  /** The first of them, one line each. */
  readonly lines: readonly string[]
}

/** How many errors are shown. */
const SHOWN = 10
/** How much of what the compiler prints is read. */
const READ = 1_000_000
const ERROR = /^\S.*\berror TS\d+: /

/** Runs the compiler of a project in the background, with low priority, each time anew. */
export class TypeCheck {
  readonly #compiler: string | undefined
  readonly #config: string | undefined
  readonly #onErrors: (errors: TypeErrors) => void
  #child: ChildProcess | undefined
  #before = 0

  constructor(file: string, onErrors: (errors: TypeErrors) => void) {
    this.#compiler = isTypeScript(file) ? compilerOf(file) : undefined
    const io = { cwd: dirname(file), env: process.env }
    const config = nearestFile('tsconfig.json', io)
    const isForeign = config !== undefined && foreignIn(config, io, ownerOf(file)) !== undefined
    this.#config = isForeign ? undefined : config
    this.#onErrors = onErrors
  }

  /** Why nothing is checked, and what to do about it; undefined if something is. */
  get obstacle(): { readonly reason: string; readonly hint: string } | undefined {
    if (this.#compiler === undefined)
      return { reason: 'typescript is not installed', hint: 'npm install --save-dev typescript' }
    return this.#config === undefined
      ? { reason: 'there is no tsconfig.json', hint: 'npx tsc --init, or --no-types to leave types alone' }
      : undefined
  }

  /** Checks the sources as they are now; a check that runs already ends. */
  run(): void {
    this.stop()
    if (this.#compiler === undefined || this.#config === undefined) return
    const child = spawn(
      process.execPath,
      [this.#compiler, '--noEmit', '--pretty', 'false', '-p', this.#config],
      { cwd: dirname(this.#config), stdio: ['ignore', 'pipe', 'ignore'] },
    )
    this.#child = child
    lowerPriority(child.pid)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(0, READ)
    })
    child.on('error', () => undefined)
    child.on('close', () => {
      if (this.#child !== child) return
      this.#child = undefined
      const errors = text.split('\n').filter((line) => ERROR.test(line))
      if (errors.length > 0 || this.#before > 0)
        this.#onErrors({ errors: errors.length, lines: errors.slice(0, SHOWN) })
      this.#before = errors.length
    })
  }

  stop(): void {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }
}

/** The program of the compiler that a project has installed. */
function compilerOf(file: string): string | undefined {
  try {
    const home = createRequire(file).resolve('typescript/package.json')
    const options = { source: file, env: process.env, also: ownerOf(file) }
    if (foreignPackage('typescript', home, options) !== undefined) return undefined
    const { bin } = JSON.parse(readText(home) ?? '') as { bin?: { tsc?: unknown } }
    return typeof bin?.tsc === 'string' ? join(dirname(home), bin.tsc) : undefined
  } catch {
    return undefined
  }
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It may have ended, or the system does not allow it.
  }
}
