import { readableText, storedText } from './stored-text.ts'
import { isBusy } from './sqlite-failure.ts'
import type { Shared, SqliteFile } from './sqlite-file.ts'
import type { TaskIds } from './tasks-sqlite-ids.ts'

/** How often other processes are looked at, while anybody watches. */
const POLL_MS = 200
/** How many commits are remembered for watchers in other processes. */
const REMEMBERED = 2_000
/** How often older ones are removed. */
const TRIMMED = 500

/** Before the first poll that was not stopped by a lock. */
const UNKNOWN = -1

/** Those who watch tasks in a file. Changes of this process are known; for those of others, the file is polled. */
export class TaskWatchers implements Shared {
  readonly #file: SqliteFile
  readonly #taskIds: TaskIds
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
  /** The stored ids of the tasks that the steps of a transaction change. */
  readonly #ids = new Set<string>()

  constructor(file: SqliteFile, taskIds: TaskIds) {
    this.#file = file
    this.#taskIds = taskIds
    file.share(this)
  }

  add(onChange: (id: string) => void): () => void {
    // Its own function, so that the same one can watch twice.
    const watcher = (id: string): void => onChange(id)
    this.#begin()
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
    for (const id of ids) this.#ids.add(storedText(id))
  }

  begin(): void {
    this.#ids.clear()
  }

  end(): void {
    if (this.#ids.size === 0) return
    const [seq] =
      this.#file.get(
        'INSERT INTO pierhead_task_changes (writer, ids) VALUES (?, ?) RETURNING seq',
        this.#writer,
        JSON.stringify([...this.#ids]),
      ) ?? []
    this.#written = Number(seq)
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
    try {
      this.#file.readNow(() => {
        this.#dataVersion = this.#readDataVersion()
        this.#seen = this.#lastChange()
      })
    } catch (error) {
      if (!isBusy(error)) throw error
      // The first poll after the lock then tells of all changes that are remembered.
      this.#dataVersion = UNKNOWN
      this.#seen = 0
    }
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
      ids = this.#file.readNow(() => this.#news())
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
    const [first] = this.#file.get('SELECT min(seq) FROM pierhead_task_changes') ?? []
    const rows = this.#file.all(
      'SELECT seq, ids FROM pierhead_task_changes WHERE seq > ? AND writer <> ? ORDER BY seq',
      this.#seen,
      this.#writer,
    )
    const lists = rows.map(([, ids]) => idsIn(ids))
    // Too late for some changes, for example after the process was stopped, or one is damaged: any task may have changed.
    const isLate = Number(first ?? 0) > this.#seen + 1 || lists.includes(undefined)
    const all = isLate
      ? this.#file.all('SELECT id FROM pierhead_task_heads').map(([id]) => String(this.#taskIds.shown(id)))
      : []
    this.#dataVersion = version
    this.#seen = Math.max(this.#seen, ...rows.slice(-1).map(([seq]) => Number(seq)))
    return new Set([...all, ...lists.flatMap((ids) => ids ?? [])].map(readableText))
  }

  #readDataVersion(): number {
    return Number(this.#file.get('PRAGMA data_version')?.[0])
  }

  #lastChange(): number {
    return Number(this.#file.get('SELECT max(seq) FROM pierhead_task_changes')?.[0] ?? 0)
  }
}

/** The ids in a row of changes; undefined if it is damaged. */
function idsIn(text: unknown): readonly string[] | undefined {
  try {
    const ids: unknown = JSON.parse(String(text))
    return Array.isArray(ids) ? ids.map(String) : undefined
  } catch {
    return undefined
  }
}
