import type { TaskSum, TaskSums } from '../tasks/store.ts'
import type { Shared, SqliteFile } from './sqlite-file.ts'

/** Those who share the limits of a task, as stored texts. */
export interface StoredHolder {
  readonly scope: string
  readonly network: string
}

const NOTHING: TaskSum = { tasks: 0, bytes: 0 }

/** The name of the sum of all tasks. */
export const ALL = ''
/** The name of the sum of a scope. */
export const scopeName = (scope: string): string => `scope ${scope}`
/** The name of the sum of a network. */
export const networkName = (network: string): string => `network ${network}`

/** The names of the sums that count the tasks of a holder. */
export function namesOf({ scope, network }: StoredHolder): readonly string[] {
  const names = [ALL]
  if (scope !== '') names.push(scopeName(scope))
  if (network !== '') names.push(networkName(network))
  return names
}

/** The sums of tasks: of each scope, of each network and of all. Inside a transaction, each is read and written at most once. */
export class TaskCounts implements Shared {
  readonly #file: SqliteFile
  readonly #sums = new Map<string, TaskSum>()
  readonly #changed = new Set<string>()

  constructor(file: SqliteFile) {
    this.#file = file
    file.share(this)
  }

  /** The sums that decide whether a holder has room. */
  of({ scope, network }: StoredHolder): TaskSums {
    return {
      all: this.#sum(ALL),
      scope: scope === '' ? NOTHING : this.#sum(scopeName(scope)),
      network: network === '' ? NOTHING : this.#sum(networkName(network)),
    }
  }

  /** Counts what was added for a holder, or removed. */
  add(holder: StoredHolder, tasks: 1 | 0 | -1, bytes: number): void {
    for (const name of namesOf(holder)) {
      const before = this.#sum(name)
      this.#sums.set(name, { tasks: before.tasks + tasks, bytes: Math.max(0, before.bytes + bytes) })
      this.#changed.add(name)
    }
  }

  begin(): void {
    this.#sums.clear()
    this.#changed.clear()
  }

  end(): void {
    for (const name of this.#changed) {
      const { tasks, bytes } = this.#sum(name)
      if (tasks > 0)
        this.#file.run(
          'INSERT OR REPLACE INTO pierhead_task_sums (name, tasks, bytes) VALUES (?, ?, ?)',
          name,
          tasks,
          bytes,
        )
      else this.#file.run('DELETE FROM pierhead_task_sums WHERE name = ?', name)
    }
  }

  #sum(name: string): TaskSum {
    const known = this.#sums.get(name)
    if (known !== undefined) return known
    const [tasks, bytes] =
      this.#file.get('SELECT tasks, bytes FROM pierhead_task_sums WHERE name = ?', name) ?? []
    const sum = { tasks: Number(tasks ?? 0), bytes: Number(bytes ?? 0) }
    this.#sums.set(name, sum)
    return sum
  }
}
