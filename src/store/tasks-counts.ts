import type { Shared, SqliteFile } from './sqlite-file.ts'

/** The numbers of tasks, of each scope and of all. Inside a transaction, each is read and written at most once. */
export class TaskCounts implements Shared {
  readonly #file: SqliteFile
  readonly #counts = new Map<string, number>()
  readonly #changed = new Set<string>()

  constructor(file: SqliteFile) {
    this.#file = file
    file.share(this)
  }

  /** The number of tasks of a scope, by its stored text; the empty one stands for all tasks. */
  of(scope: string): number {
    const known = this.#counts.get(scope)
    if (known !== undefined) return known
    const [tasks] = this.#file.get('SELECT tasks FROM pierhead_task_counts WHERE scope = ?', scope) ?? []
    const count = Number(tasks ?? 0)
    this.#counts.set(scope, count)
    return count
  }

  /** Counts tasks of a scope that were added, or removed. */
  add(scope: string, change: 1 | -1): void {
    for (const name of new Set(['', scope])) {
      this.#counts.set(name, this.of(name) + change)
      this.#changed.add(name)
    }
  }

  begin(): void {
    this.#counts.clear()
    this.#changed.clear()
  }

  end(): void {
    for (const scope of this.#changed) {
      const count = this.of(scope)
      if (count > 0) this.#file.run('INSERT OR REPLACE INTO pierhead_task_counts VALUES (?, ?)', scope, count)
      else this.#file.run('DELETE FROM pierhead_task_counts WHERE scope = ?', scope)
    }
  }
}
