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
  /** Ends a program that does not serve yet, so that `start` throws: its sources have changed. */
  abandon(): void
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
  /** Files that changed while a program was starting, if somebody wants another one; undefined while none is. */
  #waiting: { readonly files: Set<string>; isWanted: boolean } | undefined
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
    const { obstacle } = this.#types
    if (checksTypes && isTypeScript(file.path) && obstacle !== undefined)
      log.add({
        event: 'note',
        message: `types are not checked, because ${obstacle.reason}`,
        hint: obstacle.hint,
      })
    void this.reload([])
  }

  /** Runs the program as it is now, because files changed, or somebody asked for it. One that does not serve yet is given up. */
  async reload(files: readonly string[], isAsked: boolean = false): Promise<void> {
    if (this.#waiting !== undefined) {
      for (const file of files) this.#waiting.files.add(file)
      this.#waiting.isWanted ||= isAsked || files.length > 0
      if (this.#waiting.isWanted) this.#starter.abandon()
      return
    }
    const { log, checksTypes } = this.#options
    const waiting = (this.#waiting = { files: new Set<string>(), isWanted: false })
    if (files.length > 0 || isAsked) log.add({ event: 'reloading', files })
    if (checksTypes) this.#types.run()
    try {
      await this.#starter.start()
    } catch (error) {
      // Nobody wants to know what became of a program that was given up.
      if (!this.#starter.isClosing() && !waiting.isWanted) this.#starter.failed(error)
    }
    this.#waiting = undefined
    if (waiting.isWanted && !this.#starter.isClosing()) await this.reload([...waiting.files], true)
  }

  stopTypes(): void {
    this.#types.stop()
  }

  async close(): Promise<void> {
    this.#types.stop()
    await this.#unwatch?.()
  }
}
