import { soon } from '../base/soon.ts'
import { mcpError } from '../errors/error.ts'
import { STORE_FAILED } from '../errors/store.ts'
import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { hasBytes, rejectionOf, TASK_OVERHEAD, tasksTooLarge } from '../tasks/room.ts'
import type {
  Created,
  OwnTasks,
  Soon,
  TaskChange,
  TaskExcerpt,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskText,
} from '../tasks/store.ts'
import type { Row, Value } from './sqlite-engine.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { readableText, storedText } from './stored-text.ts'
import {
  assignments,
  changedTexts,
  excerptColumns,
  excerptOf,
  HEAD,
  headOf,
  insertInto,
  readRecord,
  recordOf,
  replaceIn,
  valuesOf,
} from './tasks-columns.ts'
import { TaskCounts } from './tasks-counts.ts'
import { bytesOf, FORGOTTEN_MS, growth, holderOf, textsOf, whole } from './tasks-sizes.ts'
import { SqliteTaskClaims } from './tasks-sqlite-claims.ts'
import { SELECT_KEY, TaskIds } from './tasks-sqlite-ids.ts'
import { SqliteTaskTexts } from './tasks-sqlite-texts.ts'
import { TaskWatchers } from './tasks-watchers.ts'

const RECORD = `${HEAD}, coalesce(long.request, contents.request), state, outcome`
const INSERT = insertInto('pierhead_task_heads')
const REPLACE = replaceIn('pierhead_task_heads')
const WITH_CONTENTS = 'pierhead_task_heads LEFT JOIN pierhead_task_contents AS contents USING (seq)'
const WITH_TEXTS = `${WITH_CONTENTS} LEFT JOIN pierhead_task_requests AS long USING (seq)`
const KEYED = `server = ? AND scope = ? AND tool = ? AND key = ? AND scope <> '' AND key <> ''`

/** Each id is found in its index, whatever the number of tasks of the owner. */
const OWNED = `SELECT ${HEAD} FROM pierhead_task_heads WHERE id IN (SELECT value FROM json_each(?)) AND +owner = ?`

/** The size of a task before a change, which SQLite knows without reading the texts. */
const SIZES = `SELECT scope, network, seq, octet_length(request), octet_length(state), octet_length(outcome) FROM ${WITH_CONTENTS} WHERE id = ? AND version = ?`

const EXCERPTS = {
  // The size of a long text is known, but not that of a value that was made of it.
  request: `SELECT ${HEAD}, coalesce(octet_length(long.request), octet_length(contents.request)), CASE WHEN coalesce(octet_length(long.request), octet_length(contents.request)) <= ? THEN coalesce(long.request, contents.request) END FROM ${WITH_TEXTS} WHERE id = ?`,
  state: `SELECT ${HEAD}, ${excerptColumns('state')} FROM ${WITH_CONTENTS} WHERE id = ?`,
  outcome: `SELECT ${HEAD}, ${excerptColumns('outcome')} FROM ${WITH_CONTENTS} WHERE id = ?`,
} as const satisfies Readonly<Record<TaskText, string>>

/** Keeps tasks in a file of SQLite. Reads answer at once; changes once they are on the disk. */
export class SqliteTaskStore implements TaskStore {
  readonly leaseMs: number
  readonly #file: SqliteFile
  readonly #ids: TaskIds
  readonly #watchers: TaskWatchers
  readonly #counts: TaskCounts
  readonly #texts: SqliteTaskTexts
  readonly #claims: SqliteTaskClaims

  constructor(file: SqliteFile, leaseMs: number) {
    this.leaseMs = leaseMs
    this.#file = file
    this.#ids = idsIn(file)
    this.#watchers = new TaskWatchers(file, this.#ids)
    this.#counts = new TaskCounts(file)
    this.#texts = new SqliteTaskTexts(file)
    this.#claims = new SqliteTaskClaims(file)
  }

  open(): string {
    return this.#ids.file
  }

  newId(): string {
    return this.#ids.next()
  }

  create(record: TaskRecord, room: TaskRoom): Promise<Created> {
    const texts = textsOf(record)
    const bytes = bytesOf(texts)
    const holder = holderOf(record)
    return this.#file.write(() => {
      const same = this.#keyed(record)
      if (same !== undefined) return { outcome: 'exists', head: this.#headOf(same) }
      const rejected = rejectionOf(holder, bytes, this.#counts.of(holder), room)
      if (rejected !== undefined) return rejected
      this.#file.run(INSERT, ...this.#valuesOf(record))
      this.#texts.add('last', texts)
      this.#counts.add(holder, 1, bytes)
      return { outcome: 'created' }
    })
  }

  get(id: string): Soon<TaskRecord | undefined> {
    const read = (): Row | undefined =>
      this.#file.get(`SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE id = ?`, this.#ids.stored(id))
    return soon(this.#file.read(read), (row) => (row === undefined ? undefined : recordOf(row.with(0, id))))
  }

  head(id: string): Soon<TaskHead | undefined> {
    const read = (): Row | undefined => this.#head(id)
    return soon(this.#file.read(read), (row) => (row === undefined ? undefined : headOf(row.with(0, id))))
  }

  owned(ids: readonly string[], owner: string): Soon<readonly TaskHead[]> {
    const names = JSON.stringify(ids.map((id) => this.#ids.stored(id)))
    return this.#file.read(() =>
      this.#file.all(OWNED, names, storedText(owner)).map((row) => this.#headOf(row)),
    )
  }

  read(id: string, text: TaskText, most: number): Soon<TaskExcerpt | undefined> {
    const read = (): Row | undefined => this.#file.get(EXCERPTS[text], whole(most), this.#ids.stored(id))
    return soon(this.#file.read(read), (row) =>
      row === undefined ? undefined : excerptOf(row.with(0, id), text, most),
    )
  }

  async change(
    id: string,
    version: number,
    change: TaskChange,
    room?: TaskRoom,
  ): Promise<TaskHead | undefined> {
    const head = await this.#file.write(() =>
      this.#grow(id, version, change, room) ? this.#change(id, version, change) : 'full',
    )
    if (head === 'full') throw tasksTooLarge(room as TaskRoom)
    if (head !== undefined) this.#watchers.notify([id])
    return head
  }

  list(query: TaskQuery): Soon<readonly TaskHead[]> {
    return this.#file.read(() => this.#list(query))
  }

  async expire(now: number, limit: number): Promise<readonly string[]> {
    // Nothing is written, and nobody waits for the disk, while nothing has expired.
    if ((await this.#file.read(() => this.#expired(now, 1))).length === 0) return []
    const ids = await this.#file.write(() => {
      const rows = this.#expired(now, limit)
      for (const [seq, , scope, network] of rows) {
        this.#file.run('DELETE FROM pierhead_task_heads WHERE seq = ?', Number(seq))
        const holder = { scope: String(scope), network: String(network) }
        this.#counts.add(holder, -1, -TASK_OVERHEAD - this.#texts.delete(Number(seq)))
      }
      const removed = rows.map(([, id]) => readableText(String(this.#ids.shown(id))))
      this.#watchers.record(removed)
      return removed
    })
    this.#watchers.notify(ids)
    return ids
  }

  async claim(node: string, now: number, limit: number, own: OwnTasks): Promise<readonly TaskRecord[]> {
    if (!(await this.#file.read(() => this.#claims.areThere(node, now, own)))) return []
    const records = await this.#file.write(() => {
      const claimed: TaskRecord[] = []
      this.#claims.each(node, now, limit, own, (seq) => void claimed.push(this.#claim(seq, node, now)))
      this.#watchers.record(claimed.map(({ id }) => id))
      return claimed
    })
    this.#watchers.notify(records.map(({ id }) => id))
    return records
  }

  beat(node: string, until: number): Promise<void> {
    return this.#file.write(() => {
      this.#file.run(
        'INSERT OR REPLACE INTO pierhead_nodes (node, until) VALUES (?, ?)',
        storedText(node),
        until,
      )
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

  #list({ server, scope, status, tool, after, limit }: TaskQuery): readonly TaskHead[] {
    const conditions: string[] = []
    const values: Value[] = []
    const where = (condition: string, value: string | number): void => {
      conditions.push(condition)
      values.push(typeof value === 'string' ? storedText(value) : value)
    }
    if (scope !== undefined) where(`scope = ? AND scope <> ''`, scope)
    if (server !== undefined) where(`server IN (?, '')`, server)
    if (status !== undefined) where('status = ?', status)
    if (tool !== undefined) where('tool = ?', tool)
    if (after !== undefined) {
      const last = this.#file.get(
        'SELECT seq, scope FROM pierhead_task_heads WHERE id = ?',
        this.#ids.stored(after),
      )
      if (last === undefined || (scope !== undefined && last[1] !== storedText(scope))) return []
      where('seq > ?', Number(last[0]))
    }
    const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const sql = `SELECT ${HEAD} FROM pierhead_task_heads ${filter} ORDER BY seq LIMIT ?`
    return this.#file.all(sql, ...values, whole(limit)).map((row) => this.#headOf(row))
  }

  /** Gives a task to a node, or ends it if it cannot be read. */
  #claim(seq: number, node: string, now: number): TaskRecord {
    const row = this.#file.get(`SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE seq = ?`, seq) ?? []
    const { record, damage } = readRecord(this.#shown(row), { id: `damaged-${seq}`, now })
    if (damage !== undefined) return this.#replace(seq, { ...record, version: record.version + 1 })
    const claim = 'UPDATE pierhead_task_heads SET node = ?, version = version + 1 WHERE seq = ?'
    this.#file.run(claim, storedText(node), seq)
    return { ...record, node, version: record.version + 1 }
  }

  #replace(seq: number, record: TaskRecord): TaskRecord {
    this.#file.run(REPLACE, ...this.#valuesOf(record), seq)
    const texts = textsOf(record)
    const before = this.#texts.delete(seq)
    this.#texts.add(seq, texts)
    this.#counts.add(holderOf(record), 0, bytesOf(texts) - TASK_OVERHEAD - before)
    return record
  }

  /** Counts what a change adds to a task, or removes. False if it adds more than there is room for. */
  #grow(id: string, version: number, change: TaskChange, room: TaskRoom | undefined): boolean {
    if (changedTexts(change).length === 0) return true
    const row = this.#file.get(SIZES, this.#ids.stored(id), version)
    if (row === undefined) return true
    const [scope, network, seq, short, state, outcome] = row
    const holder = { scope: String(scope), network: String(network) }
    const request = change.request === undefined ? short : (this.#texts.longBytes(Number(seq)) ?? short)
    const more = growth({ request, state, outcome }, change)
    if (more > 0 && room !== undefined && !hasBytes(holder, more, this.#counts.of(holder), room)) return false
    if (more !== 0) this.#counts.add(holder, 0, more)
    return true
  }

  #change(id: string, version: number, change: TaskChange): TaskHead | undefined {
    const free = this.#withFreeKey(id, change)
    const [sets, values] = assignments(free)
    const sql = `UPDATE pierhead_task_heads SET ${sets} WHERE id = ? AND version = ? RETURNING ${HEAD}, seq`
    const row = this.#file.get(sql, ...values, this.#ids.stored(id), version)
    if (row === undefined) return undefined
    this.#texts.change(Number(row.at(-1)), change)
    this.#watchers.record([id])
    return headOf(row.with(0, id))
  }

  /** The change without its key if another task has that. */
  #withFreeKey(id: string, change: TaskChange): TaskChange {
    if (change.key === undefined || change.key === '') return change
    const row = this.#head(id)
    const holder = row === undefined ? undefined : this.#keyed({ ...headOf(row), key: change.key })
    return holder === undefined || holder[0] === this.#ids.stored(id) ? change : { ...change, key: '' }
  }

  #head(id: string): Row | undefined {
    return this.#file.get(`SELECT ${HEAD} FROM pierhead_task_heads WHERE id = ?`, this.#ids.stored(id))
  }

  /** The head in a row of the file. */
  #headOf(row: Row): TaskHead {
    return headOf(this.#shown(row))
  }

  /** A row with the id that clients see. */
  #shown(row: Row): Row {
    return row.with(0, this.#ids.shown(row[0]))
  }

  #valuesOf(head: TaskHead): readonly Value[] {
    return valuesOf(head).with(0, this.#ids.stored(head.id))
  }

  #keyed({ server, scope, tool, key }: TaskHead): Row | undefined {
    if (scope === '' || key === '') return undefined
    const values = [server, scope, tool, key].map(storedText)
    return this.#file.get(`SELECT ${HEAD} FROM pierhead_task_heads WHERE ${KEYED}`, ...values)
  }

  #expired(now: number, limit: number): readonly Row[] {
    const sql =
      'SELECT seq, id, scope, network FROM pierhead_task_heads WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?'
    return this.#file.all(sql, now, whole(limit))
  }
}

/** The ids of a file. Without its key, no task could be found. */
function idsIn(file: SqliteFile): TaskIds {
  const ids = TaskIds.of(file.insist(() => file.get(SELECT_KEY)?.[0]))
  if (ids !== undefined) return ids
  void file.close()
  const hint = 'Restore the file, or pass sqlite another path.'
  throw mcpError(STORE_FAILED, { path: file.path, reason: 'the key of its task ids is damaged' }, { hint })
}
