import type { SqliteFile } from './sqlite-file.ts'

/** How often other processes are looked at, while anybody watches. */
const POLL_MS = 50

/** Notices that another process changed a file. */
export class SqlitePoll {
  readonly #file: SqliteFile
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  /** Changes whenever another connection commits; undefined if something was changed here. */
  #version: unknown

  constructor(file: SqliteFile, onChange: () => void) {
    this.#file = file
    this.#onChange = onChange
  }

  /** Begins to look, and reports a change at first. */
  start(): void {
    // Throws if the file is closed.
    void this.#file.read(() => {})
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#look(), POLL_MS)
      this.#timer.unref()
    }
    queueMicrotask(() => this.report())
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Reports a change of this process. */
  report(): void {
    this.#version = undefined
    if (this.#timer !== undefined) this.#look()
  }

  #look(): void {
    try {
      const version = this.#file.readNow(() => this.#file.get('PRAGMA data_version')?.[0])
      if (version === this.#version) return
      this.#version = version
      this.#onChange()
    } catch {
      // The file is locked or broken at the moment. The next look sees the same changes.
      this.#version = undefined
    }
  }
}
