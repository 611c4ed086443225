import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import type { Created, TaskChange, TaskQuery, TaskRoom, TaskStore } from '../tasks/store.ts'
import type { Row, Value } from './sqlite-engine.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { storedText } from './sqlite-text.ts'
import { assignments, HEAD, headOf, INSERT_HEAD, recordOf, valuesOf } from './tasks-columns.ts'
import { UNFINISHED } from './tasks-schema.ts'
import { TaskWatchers } from './tasks-watchers.ts'

const RECORD = `${HEAD}, request, state, outcome`
const WITH_TEXTS = 'pierhead_tasks JOIN pierhead_task_texts USING (seq)'
const KEYED = `scope = ? AND tool = ? AND key = ? AND scope <> '' AND key <> ''`

/** Keeps tasks in a file of SQLite. Reads answer at once; changes once they are on the disk. */
export class SqliteTaskStore implements TaskStore {
  readonly #file: SqliteFile
  readonly #watchers: TaskWatchers

  constructor(file: SqliteFile) {
    this.#file = file
    this.#watchers = new TaskWatchers(file)
  }

  create(record: TaskRecord, room: TaskRoom): Promise<Created> {
    return this.#file.write(() => {
      const same = this.#keyed(record)
      if (same !== undefined) return { outcome: 'exists', head: headOf(same) }
      const scope = storedText(record.scope)
      if (this.#count('') >= room.tasks) return { outcome: 'full' }
      if (scope !== '' && this.#count(scope) >= room.callerTasks) return { outcome: 'caller_full' }
      this.#insert(record)
      this.#addToCounts(scope, 1)
      return { outcome: 'created' }
    })
  }

  get(id: string): TaskRecord | undefined {
    const row = this.#file.read(() =>
      this.#file.get(`SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE id = ?`, storedText(id)),
    )
    return row === undefined ? undefined : recordOf(row)
  }

  head(id: string): TaskHead | undefined {
    const row = this.#file.read(() => this.#head(id))
    return row === undefined ? undefined : headOf(row)
  }

  async change(id: string, version: number, change: TaskChange): Promise<TaskHead | undefined> {
    const head = await this.#file.write(() => this.#change(id, version, change))
    if (head !== undefined) this.#watchers.notify([id])
    return head
  }

  list({ scope, status, tool, after, limit }: TaskQuery): readonly TaskHead[] {
    const conditions: string[] = []
    const values: Value[] = []
    const where = (condition: string, value: string | number): void => {
      conditions.push(condition)
      values.push(typeof value === 'string' ? storedText(value) : value)
    }
    if (scope !== undefined) where(`scope = ? AND scope <> ''`, scope)
    if (status !== undefined) where('status = ?', status)
    if (tool !== undefined) where('tool = ?', tool)
    return this.#file.read(() => {
      if (after !== undefined) {
        const last = this.#file.get('SELECT seq, scope FROM pierhead_tasks WHERE id = ?', storedText(after))
        if (last === undefined || (scope !== undefined && last['scope'] !== storedText(scope))) return []
        where('seq > ?', Number(last['seq']))
      }
      const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
      const sql = `SELECT ${HEAD} FROM pierhead_tasks ${filter} ORDER BY seq LIMIT ?`
      return this.#file.all(sql, ...values, whole(limit)).map(headOf)
    })
  }

  async expire(now: number, limit: number): Promise<readonly string[]> {
    // Nothing is written, and nobody waits for the disk, while nothing has expired.
    if (this.#file.read(() => this.#expired(now, 1)).length === 0) return []
    const ids = await this.#file.write(() => {
      const rows = this.#expired(now, limit)
      for (const { seq = null, scope } of rows) {
        this.#file.run('DELETE FROM pierhead_tasks WHERE seq = ?', seq)
        this.#file.run('DELETE FROM pierhead_task_texts WHERE seq = ?', seq)
        this.#addToCounts(String(scope), -1)
      }
      const removed = rows.map((row) => String(row['id']))
      this.#watchers.record(removed)
      return removed
    })
    this.#watchers.notify(ids)
    return ids
  }

  async claim(node: string, now: number, limit: number): Promise<readonly TaskRecord[]> {
    if (this.#file.read(() => this.#claimable(node, now, 1)).length === 0) return []
    const records = await this.#file.write(() => {
      const rows = this.#claimable(node, now, limit)
      for (const { seq = null } of rows)
        this.#file.run(
          'UPDATE pierhead_tasks SET node = ?, version = version + 1 WHERE seq = ?',
          storedText(node),
          seq,
        )
      const claimed = rows.map(({ seq = null }) => this.#record(seq))
      this.#watchers.record(claimed.map(({ id }) => id))
      return claimed
    })
    this.#watchers.notify(records.map(({ id }) => id))
    return records
  }

  beat(node: string, until: number): Promise<void> {
    return this.#file.write(() => {
      this.#file.run('INSERT OR REPLACE INTO pierhead_nodes VALUES (?, ?)', storedText(node), until)
      // Nodes have new names after each start; those of the past are forgotten.
      this.#file.run('DELETE FROM pierhead_nodes WHERE until < ?', until - FORGOTTEN_MS)
    })
  }

  watch(onChange: (id: string) => void): () => void {
    return this.#watchers.add(onChange)
  }

  close(): Promise<void> {
    this.#watchers.close()
    return this.#file.close()
  }

  #insert(record: TaskRecord): void {
    const { createdAt, ttlMs, request, state, outcome } = record
    const expiresAt = ttlMs === null ? null : createdAt + ttlMs
    const row = this.#file.get(INSERT_HEAD, ...valuesOf(record), expiresAt)
    this.#file.run(
      'INSERT INTO pierhead_task_texts VALUES (?, ?, ?, ?)',
      row?.['seq'] ?? null,
      storedText(request),
      storedText(state),
      storedText(outcome),
    )
  }

  #change(id: string, version: number, change: TaskChange): TaskHead | undefined {
    const free = this.#withFreeKey(id, change)
    const [sets, values] = assignments(free)
    const sql = `UPDATE pierhead_tasks SET ${sets} WHERE id = ? AND version = ? RETURNING seq, ${HEAD}`
    const row = this.#file.get(sql, ...values, storedText(id), version)
    if (row === undefined) return undefined
    for (const name of ['state', 'outcome'] as const) {
      const text = change[name]
      if (text === undefined) continue
      this.#file.run(
        `UPDATE pierhead_task_texts SET ${name} = ? WHERE seq = ?`,
        storedText(text),
        row['seq'] ?? null,
      )
    }
    this.#watchers.record([id])
    return headOf(row)
  }

  /** The change without its key if another task has that. */
  #withFreeKey(id: string, change: TaskChange): TaskChange {
    if (change.key === undefined || change.key === '') return change
    const row = this.#head(id)
    const holder = row === undefined ? undefined : this.#keyed({ ...headOf(row), key: change.key })
    return holder === undefined || holder['id'] === storedText(id) ? change : { ...change, key: '' }
  }

  #head(id: string): Row | undefined {
    return this.#file.get(`SELECT ${HEAD} FROM pierhead_tasks WHERE id = ?`, storedText(id))
  }

  #record(seq: Value): TaskRecord {
    return recordOf(this.#file.get(`SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE seq = ?`, seq) ?? {})
  }

  #keyed({ scope, tool, key }: TaskHead): Row | undefined {
    if (scope === '' || key === '') return undefined
    const values = [scope, tool, key].map(storedText)
    return this.#file.get(`SELECT ${HEAD} FROM pierhead_tasks WHERE ${KEYED}`, ...values)
  }

  #count(scope: string): number {
    return Number(
      this.#file.get('SELECT tasks FROM pierhead_task_counts WHERE scope = ?', scope)?.['tasks'] ?? 0,
    )
  }

  #addToCounts(scope: string, change: 1 | -1): void {
    for (const name of new Set(['', scope])) {
      this.#file.run(
        'INSERT INTO pierhead_task_counts VALUES (?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks',
        name,
        change,
      )
      if (change < 0) this.#file.run('DELETE FROM pierhead_task_counts WHERE scope = ? AND tasks <= 0', name)
    }
  }

  #expired(now: number, limit: number): readonly Row[] {
    const sql =
      'SELECT seq, id, scope FROM pierhead_tasks WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?'
    return this.#file.all(sql, now, whole(limit))
  }

  /** Tasks that `node` may claim: those of dead nodes first. It asks once for each node, whatever the number of tasks. */
  #claimable(node: string, now: number, limit: number): readonly Row[] {
    const rows: Row[] = []
    const find = (name: Value): readonly Row[] =>
      this.#file.all(
        `SELECT seq FROM pierhead_tasks WHERE node = ? AND due_at <= ? AND ${UNFINISHED} ORDER BY due_at LIMIT ?`,
        name,
        now,
        whole(limit - rows.length),
      )
    const next = `SELECT node FROM pierhead_tasks WHERE node > ? AND ${UNFINISHED} ORDER BY node LIMIT 1`
    for (
      let row = this.#file.get(next, '');
      row !== undefined;
      row = this.#file.get(next, row['node'] ?? null)
    ) {
      const { node: name = null } = row
      const until = Number(
        this.#file.get('SELECT until FROM pierhead_nodes WHERE node = ?', name)?.['until'] ?? 0,
      )
      // The node that asks is alive.
      if (name !== storedText(node) && until <= now) rows.push(...find(name))
    }
    rows.push(...find(''))
    return rows
  }
}

/** Long past the end of any lease. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000

/** SQLite has no limit without an end. */
function whole(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}
