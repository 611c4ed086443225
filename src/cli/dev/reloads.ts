import type { Io } from '../io.ts'
import { isTypeScript } from '../source-file.ts'
import type { DevLog } from './events.ts'
import { watchSources } from './source-watch.ts'
import { TypeCheck } from './type-check.ts'
import type { WorkerOptions } from './worker.ts'

export interface DevOptions extends WorkerOptions {
  readonly io: Io
  readonly log: DevLog
  readonly checksTypes: boolean
  /** More files and folders to watch. */
  readonly watched: readonly string[]
}

/** How a program is run. */
export interface Starter {
  /** Runs the program as it is now, in place of the one before. Resolves when it serves. */
  start(): Promise<void>
  /** Is called with what `start` threw. */
  failed(error: unknown): void
  /** Whether `dev` is about to end. */
  isClosing(): boolean
}

/** Watches the sources of a project, and runs the program and checks its types whenever they change. */
export class Reloads {
  readonly #options: DevOptions
  readonly #starter: Starter
  readonly #types: TypeCheck
  /** Files that changed while a program was starting; undefined while none is. */
  #waiting: Set<string> | undefined
  #unwatch: (() => Promise<void>) | undefined

  constructor(options: DevOptions, starter: Starter) {
    this.#options = options
    this.#starter = starter
    const { log, file } = options
    this.#types = new TypeCheck(file.path, (errors) => log.add({ event: 'types', ...errors }))
  }

  /** Watches the sources, and runs the program for the first time. Resolves when changes are seen. */
  async begin(): Promise<void> {
    const { root, watched, log, file, checksTypes } = this.#options
    this.#unwatch = await watchSources({
      root,
      more: watched,
      onChange: (files) => void this.reload(files),
      onError: (error) => log.add({ event: 'warning', message: `files cannot be watched: ${String(error)}` }),
    })
    if (checksTypes && isTypeScript(file.path) && this.#types.obstacle !== undefined)
      log.add({ event: 'note', message: `types are not checked: ${this.#types.obstacle}` })
    void this.reload([])
  }

  /** Runs the program as it is now. While one starts, changes wait. */
  async reload(files: readonly string[]): Promise<void> {
    if (this.#waiting !== undefined) return files.forEach((file) => this.#waiting?.add(file))
    const { log, checksTypes } = this.#options
    this.#waiting = new Set()
    if (files.length > 0) log.add({ event: 'reloading', files })
    if (checksTypes) this.#types.run()
    try {
      await this.#starter.start()
    } catch (error) {
      if (!this.#starter.isClosing()) this.#starter.failed(error)
    }
    const waiting = [...this.#waiting]
    this.#waiting = undefined
    if (waiting.length > 0 && !this.#starter.isClosing()) await this.reload(waiting)
  }

  stopTypes(): void {
    this.#types.stop()
  }

  async close(): Promise<void> {
    this.#types.stop()
    await this.#unwatch?.()
  }
}
