import type { TaskSum, TaskSums } from '../tasks/store.ts'
import type { Session } from './postgres-link.ts'
import { digest } from './postgres-schema.ts'
import { ALL, namesOf, networkName, scopeName, type StoredHolder } from './tasks-counts.ts'

const NOTHING: TaskSum = { tasks: 0, bytes: 0 }

const READ = `
  SELECT named.name, tasks, bytes FROM unnest(?::text[]) AS named (name)
  JOIN pierhead_task_sums AS sums ON sums.name = ${digest('named.name')}`

const WRITE = `
  INSERT INTO pierhead_task_sums
  SELECT ${digest('name')}, tasks, bytes
  FROM unnest(?::text[], ?::float8[], ?::float8[]) AS sums (name, tasks, bytes)
  ON CONFLICT (name) DO UPDATE SET tasks = excluded.tasks, bytes = excluded.bytes`

/** The sums of tasks inside a transaction that holds their lock. Each is read and written at most once. */
export class PostgresTaskCounts {
  readonly #session: Session
  readonly #sums = new Map<string, TaskSum>()
  readonly #changed = new Set<string>()

  constructor(session: Session) {
    this.#session = session
  }

  /** Reads the sums of several holders at once. */
  load(holders: readonly StoredHolder[]): Promise<void> {
    return this.#read([...new Set(holders.flatMap(namesOf))])
  }

  /** The sums that decide whether a holder has room. */
  async of(holder: StoredHolder): Promise<TaskSums> {
    await this.#read(namesOf(holder))
    const { scope, network } = holder
    const sum = (name: string): TaskSum => this.#sums.get(name) ?? NOTHING
    return { all: sum(ALL), scope: sum(scopeName(scope)), network: sum(networkName(network)) }
  }

  /** Counts what was added for a holder, or removed. */
  async add(holder: StoredHolder, tasks: 1 | 0 | -1, bytes: number): Promise<void> {
    const names = namesOf(holder)
    await this.#read(names)
    for (const name of names) {
      const before = this.#sums.get(name) ?? NOTHING
      this.#sums.set(name, { tasks: before.tasks + tasks, bytes: Math.max(0, before.bytes + bytes) })
      this.#changed.add(name)
    }
  }

  /** Writes the sums that have changed; those of no task are removed. */
  async write(): Promise<void> {
    const changed = [...this.#changed].map((name) => ({ name, ...(this.#sums.get(name) ?? NOTHING) }))
    const left = changed.filter(({ tasks }) => tasks > 0)
    const gone = changed.filter(({ tasks }) => tasks <= 0).map(({ name }) => name)
    const column = <Key extends 'name' | 'tasks' | 'bytes'>(key: Key): (typeof left)[number][Key][] =>
      left.map((sum) => sum[key])
    if (left.length > 0) await this.#session.query(WRITE, column('name'), column('tasks'), column('bytes'))
    if (gone.length > 0) await this.#session.query(DELETE, gone)
  }

  async #read(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => !this.#sums.has(name))
    if (unknown.length === 0) return
    for (const name of unknown) this.#sums.set(name, NOTHING)
    for (const [name, tasks, bytes] of await this.#session.query(READ, unknown))
      this.#sums.set(String(name), { tasks: Number(tasks), bytes: Number(bytes) })
  }
}

const DELETE = `
  DELETE FROM pierhead_task_sums
  WHERE name IN (SELECT ${digest('name')} FROM unnest(?::text[]) AS gone (name))`
