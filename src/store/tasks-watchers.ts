import { originalText, storedText } from './sqlite-text.ts'
import type { SqliteFile } from './sqlite-file.ts'

/** How often other processes are looked at, while anybody watches. */
const POLL_MS = 200
/** How many commits are remembered for watchers in other processes. */
const REMEMBERED = 10_000
/** How often older ones are removed. */
const TRIMMED = 500

/** Those who watch tasks in a file. Changes of this process are known; for those of others, the file is polled. */
export class TaskWatchers {
  readonly #file: SqliteFile
  readonly #watchers = new Set<(id: string) => void>()
  /** Tells the changes of this process from those of others. */
  readonly #writer: string = crypto.randomUUID()
  #timer: ReturnType<typeof setInterval> | undefined
  /** Changes whenever another connection commits. */
  #dataVersion = 0
  /** The last change that was read. */
  #seen = 0
  /** The last change of this process, and the last that was committed. */
  #written = 0
  #committed = 0
  #recorded = 0

  constructor(file: SqliteFile) {
    this.#file = file
  }

  add(onChange: (id: string) => void): () => void {
    // Its own function, so that the same one can watch twice.
    const watcher = (id: string): void => onChange(id)
    this.#file.read(() => this.#begin())
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#end()
    }
  }

  /** Calls the watchers of this process. */
  notify(ids: readonly string[]): void {
    this.#committed = this.#written
    for (const id of ids) this.#call(id)
  }

  /** Records changes for the watchers of other processes, inside a step. */
  record(ids: readonly string[]): void {
    if (ids.length === 0) return
    const row = this.#file.get(
      'INSERT INTO pierhead_task_changes (writer, ids) VALUES (?, ?) RETURNING seq',
      this.#writer,
      JSON.stringify(ids.map(storedText)),
    )
    this.#written = Number(row?.['seq'])
    if (++this.#recorded % TRIMMED === 0)
      this.#file.run('DELETE FROM pierhead_task_changes WHERE seq <= ?', this.#written - REMEMBERED)
  }

  close(): void {
    this.#watchers.clear()
    this.#end()
  }

  #call(id: string): void {
    for (const watcher of this.#watchers) watcher(id)
  }

  #begin(): void {
    if (this.#timer !== undefined) return
    this.#dataVersion = this.#readDataVersion()
    this.#seen = this.#lastChange()
    this.#timer = setInterval(() => this.#poll(), POLL_MS)
    this.#timer.unref()
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #poll(): void {
    let ids: ReadonlySet<string>
    try {
      ids = this.#file.read(() => this.#news())
    } catch {
      // The file is locked or broken at the moment. The next poll sees the same changes.
      return
    }
    for (const id of ids) this.#call(id)
  }

  #news(): ReadonlySet<string> {
    const version = this.#readDataVersion()
    if (version === this.#dataVersion) {
      // Nobody else wrote, so all changes up to here are our own.
      this.#seen = Math.max(this.#seen, this.#committed)
      return new Set()
    }
    const first = Number(this.#file.get('SELECT min(seq) AS seq FROM pierhead_task_changes')?.['seq'] ?? 0)
    const rows = this.#file.all(
      'SELECT seq, ids FROM pierhead_task_changes WHERE seq > ? AND writer <> ? ORDER BY seq',
      this.#seen,
      this.#writer,
    )
    // Too late for some changes, for example after the process was stopped: any task may have changed.
    const isLate = first > this.#seen + 1
    const ids = rows.flatMap((row) => JSON.parse(String(row['ids'])) as string[])
    const all = isLate ? this.#file.all('SELECT id FROM pierhead_tasks').map(({ id }) => String(id)) : []
    this.#dataVersion = version
    this.#seen = Math.max(this.#seen, ...rows.slice(-1).map(({ seq }) => Number(seq)))
    return new Set([...all, ...ids].map(originalText))
  }

  #readDataVersion(): number {
    return Number(this.#file.get('PRAGMA data_version')?.['data_version'])
  }

  #lastChange(): number {
    return Number(this.#file.get('SELECT max(seq) AS seq FROM pierhead_task_changes')?.['seq'] ?? 0)
  }
}
