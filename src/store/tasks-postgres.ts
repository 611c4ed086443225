import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { hasBytes, rejectionOf, TASK_OVERHEAD, tasksTooLarge } from '../tasks/room.ts'
import type {
  Created,
  OwnTasks,
  TaskChange,
  TaskExcerpt,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskText,
} from '../tasks/store.ts'
import type { Param } from './postgres-client.ts'
import type { PostgresLink, Session } from './postgres-link.ts'
import { firstSecret } from './nodes-postgres.ts'
import { hashed, NOW } from './postgres-schema.ts'
import { PostgresSteps, type CountedTransaction } from './postgres-steps.ts'
import type { Row } from './sqlite-engine.ts'
import { readableText, storedText } from './stored-text.ts'
import {
  assignments,
  changedTexts,
  excerptColumns,
  excerptOf,
  HEAD,
  headOf,
  readRecord,
  recordOf,
  replaceIn,
  valuesOf,
} from './tasks-columns.ts'
import { sizesOf } from './tasks-postgres-sizes.ts'
import { claimSql, INSERT, KEYED, MARKED, RECORD, REMOVE, WITH_TEXTS } from './tasks-postgres-sql.ts'
import { PostgresTaskWatchers } from './tasks-postgres-watch.ts'
import { bytesOf, FORGOTTEN_MS, growth, holderOf, textsOf, whole } from './tasks-sizes.ts'

const REPLACE = replaceIn('pierhead_tasks')

/** Keeps tasks in PostgreSQL. Steps that change sums share transactions; each of the others is one statement. */
export class PostgresTaskStore implements TaskStore {
  readonly leaseMs: number
  readonly #link: PostgresLink
  readonly #steps: PostgresSteps
  readonly #watchers: PostgresTaskWatchers
  readonly #claimSql: string
  /** The marks of claims whose answers are lost, by node: their tasks are those of the node, which does not know. */
  readonly #lostClaims = new Map<string, string>()
  /** The callers whose turn was last, by the tools of a claim. */
  readonly #turns = new Map<string, string>()

  constructor(link: PostgresLink, leaseMs: number) {
    this.leaseMs = leaseMs
    this.#link = link
    this.#steps = new PostgresSteps(link)
    this.#watchers = new PostgresTaskWatchers(link)
    this.#claimSql = claimSql(this.#watchers.notification('claimed.id'))
  }

  async now(): Promise<number> {
    return Number((await this.#query(`SELECT ${NOW}`))[0]?.[0])
  }

  async open(): Promise<string> {
    return firstSecret(this.#link, '', crypto.randomUUID())
  }

  async create(record: TaskRecord, room: TaskRoom): Promise<Created> {
    await this.#watchers.start()
    const texts = textsOf(record)
    const bytes = bytesOf(texts)
    const holder = holderOf(record)
    const create = async ({ session, counts, isRepeated }: CountedTransaction): Promise<Created> => {
      if (isRepeated && (await head(session, record.id)) !== undefined) return { outcome: 'created' }
      const same = await keyed(session, record)
      if (same !== undefined) return { outcome: 'exists', head: headOf(same) }
      const rejected = rejectionOf(holder, bytes, await counts.of(holder), room)
      if (rejected !== undefined) return rejected
      await session.query(INSERT, ...valuesOf(record), ...texts)
      await counts.add(holder, 1, bytes)
      return { outcome: 'created' }
    }
    return this.#steps.run(create, { holder })
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const [row] = await this.#query(`SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE id = ?`, storedText(id))
    return row === undefined ? undefined : recordOf(row)
  }

  async head(id: string): Promise<TaskHead | undefined> {
    const row = await head({ query: (sql, ...values) => this.#query(sql, ...values) }, id)
    return row === undefined ? undefined : headOf(row)
  }

  async owned(ids: readonly string[], owner: string): Promise<readonly TaskHead[]> {
    const sql = `SELECT ${HEAD} FROM pierhead_tasks WHERE id = ANY(?::text[]) AND owner = ?`
    return (await this.#query(sql, ids.map(storedText), storedText(owner))).map(headOf)
  }

  async read(id: string, text: TaskText, most: number): Promise<TaskExcerpt | undefined> {
    const sql = `SELECT ${HEAD}, ${excerptColumns(text)} FROM ${WITH_TEXTS} WHERE id = ?`
    const [row] = await this.#query(sql, whole(most), storedText(id))
    return row === undefined ? undefined : excerptOf(row, text, most)
  }

  async change(
    id: string,
    version: number,
    change: TaskChange,
    room?: TaskRoom,
  ): Promise<TaskHead | undefined> {
    await this.#watchers.start()
    const mark = crypto.randomUUID()
    const isCounted = changedTexts(change).length > 0 || (change.key ?? '') !== ''
    const changed = isCounted
      ? await this.#steps.run(
          (transaction) => this.#counted(transaction, [id, version, change, room], mark),
          {
            id,
          },
        )
      : await this.#link.step(async (session, isRepeated) => {
          const done = isRepeated ? await marked(session, id, mark) : undefined
          return done ?? this.#change(session, id, version, change, mark)
        })
    if (changed === 'full') throw tasksTooLarge(room as TaskRoom)
    if (changed !== undefined) this.#watchers.notify([id])
    return changed
  }

  async list({ server, scope, status, tool, after, limit }: TaskQuery): Promise<readonly TaskHead[]> {
    const conditions: string[] = []
    const values: Param[] = []
    const where = (condition: string, ...texts: readonly string[]): void => {
      conditions.push(condition)
      values.push(...texts.map(storedText))
    }
    if (scope !== undefined)
      where(`${hashed('scope')} = ${hashed('?')} AND scope = ? AND scope <> ''`, scope, scope)
    if (server !== undefined) where(`server IN (?, '')`, server)
    if (status !== undefined) where('status = ?', status)
    if (tool !== undefined) where('tool = ?', tool)
    if (after !== undefined) {
      const own = scope === undefined ? '' : 'AND scope = ?'
      const texts = scope === undefined ? [after] : [after, scope]
      where(`seq > (SELECT seq FROM pierhead_tasks WHERE id = ? ${own})`, ...texts)
    }
    const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const sql = `SELECT ${HEAD} FROM pierhead_tasks ${filter} ORDER BY seq LIMIT ?`
    return (await this.#query(sql, ...values, whole(limit))).map(headOf)
  }

  async expire(now: number, limit: number): Promise<readonly string[]> {
    // Nobody waits for the lock while nothing has expired.
    const expired = 'SELECT 1 FROM pierhead_tasks WHERE expires_at <= ? ORDER BY expires_at LIMIT 1'
    if (limit === 0 || (await this.#query(expired, now)).length === 0) return []
    const notified = `SELECT ${this.#watchers.notification('id')} FROM unnest(?::text[]) AS removed (id)`
    const ids = await this.#steps.run(async ({ session, counts }) => {
      const rows = await session.query(REMOVE, now, whole(limit))
      for (const [, scope, network, bytes] of rows) {
        const holder = { scope: String(scope), network: String(network) }
        await counts.add(holder, -1, -TASK_OVERHEAD - Number(bytes))
      }
      const removed = rows.map(([id]) => String(id))
      await session.query(notified, removed)
      return removed.map(readableText)
    })
    this.#watchers.notify(ids)
    return ids
  }

  async claim(node: string, now: number, limit: number, own: OwnTasks): Promise<readonly TaskRecord[]> {
    await this.#watchers.start()
    if (limit === 0) return []
    const lost = this.#lostClaims.get(node)
    const mark = lost ?? crypto.randomUUID()
    const servers = [...new Set(['', storedText(own.server)])]
    const tools = own.tools.map(storedText)
    const work = JSON.stringify([servers, tools])
    const values = [servers, storedText(node), now, tools, whole(limit), mark]
    this.#lostClaims.delete(node)
    const claiming = this.#link.step(async (session, isRepeated) => {
      const mayBeDone = isRepeated || lost !== undefined
      const done = mayBeDone ? await session.query(MARKED, servers, storedText(node), mark) : []
      if (done.length > 0) return done
      const rows = await session.query(this.#claimSql, ...values, this.#turns.get(work) ?? '0')
      const turn = rows[0]?.at(-2)
      if (typeof turn === 'string') this.#turns.set(work, turn)
      return rows
    })
    const rows = await claiming.catch((error: unknown) => {
      this.#lostClaims.set(node, mark)
      throw error
    })
    const records = await Promise.all(rows.map(async (row) => this.#readable(row, now)))
    this.#watchers.notify(records.map(({ id }) => id))
    return records
  }

  async beat(node: string, until: number): Promise<void> {
    await this.#query(
      `WITH forgotten AS (DELETE FROM pierhead_nodes WHERE until < ?)
       INSERT INTO pierhead_nodes VALUES (?, ?) ON CONFLICT (node) DO UPDATE SET until = excluded.until`,
      until - FORGOTTEN_MS,
      storedText(node),
      until,
    )
  }

  watch(onChange: (id: string) => void): () => void {
    return this.#watchers.add(onChange)
  }

  close(): Promise<void> {
    this.#watchers.close()
    return this.#link.close()
  }

  async #query(sql: string, ...values: readonly Param[]): Promise<readonly Row[]> {
    await this.#watchers.start()
    return this.#link.query(sql, values)
  }

  /** Changes a task, and counts what that adds to it or removes. `full` if it adds more than there is room for. */
  async #counted(
    { session, counts, isRepeated, sizes }: CountedTransaction,
    [id, version, change, room]: readonly [string, number, TaskChange, TaskRoom | undefined],
    mark: string,
  ): Promise<TaskHead | 'full' | undefined> {
    const done = isRepeated ? await marked(session, id, mark) : undefined
    if (done !== undefined) return done
    const known = sizes.get(id)
    // Another step of the transaction may have changed it.
    const found = known?.version === version ? known : (await sizesOf(session, [id])).get(id)
    if (found?.version !== version) return undefined
    const { holder, texts } = found
    const more = growth(texts, change)
    if (more > 0 && room !== undefined && !hasBytes(holder, more, await counts.of(holder), room))
      return 'full'
    const changed = await this.#change(session, id, version, await withFreeKey(session, id, change), mark)
    if (changed !== undefined && more !== 0) await counts.add(holder, 0, more)
    return changed
  }

  async #change(
    session: Session,
    id: string,
    version: number,
    change: TaskChange,
    mark: string,
  ): Promise<TaskHead | undefined> {
    const [sets, values] = assignments(change)
    const texts = changedTexts(change)
    const replaced = texts.map(([name]) => `${name} = ?`).join(', ')
    const written =
      texts.length === 0
        ? ''
        : `, written AS (UPDATE pierhead_task_texts AS texts SET ${replaced} FROM changed WHERE texts.seq = changed.seq)`
    const rows = await session.query(
      `WITH changed AS (UPDATE pierhead_tasks SET ${sets}, mark = ? WHERE id = ? AND version = ? RETURNING ${HEAD}, seq)${written}
       SELECT ${HEAD}, ${this.#watchers.notification('changed.id')} FROM changed`,
      ...values,
      mark,
      storedText(id),
      version,
      ...texts.map(([, text]) => storedText(text)),
    )
    return rows[0] === undefined ? undefined : headOf(rows[0])
  }

  /** The record of a claimed row. One that cannot be read becomes that of a task that failed. */
  async #readable(row: Row, now: number): Promise<TaskRecord> {
    const seq = Number(row.at(-1))
    const { record, damage } = readRecord(row, { id: `damaged-${seq}`, now })
    if (damage === undefined) return record
    const failed = { ...record, version: record.version + 1 }
    const texts = textsOf(failed)
    await this.#steps.run(async ({ session, counts }) => {
      const sizes = `SELECT octet_length(request) + octet_length(state) + octet_length(outcome) FROM pierhead_task_texts WHERE seq = ?`
      const [bytes] = (await session.query(sizes, seq))[0] ?? [0]
      await session.query(REPLACE, ...valuesOf(failed), seq)
      await session.query('DELETE FROM pierhead_task_texts WHERE seq = ?', seq)
      await session.query('INSERT INTO pierhead_task_texts VALUES (?, ?, ?, ?)', seq, ...texts)
      await counts.add(holderOf(failed), 0, bytesOf(texts) - TASK_OVERHEAD - Number(bytes))
    })
    return failed
  }
}

/** The row of a task's head. */
async function head(session: Pick<Session, 'query'>, id: string): Promise<Row | undefined> {
  return (await session.query(`SELECT ${HEAD} FROM pierhead_tasks WHERE id = ?`, storedText(id)))[0]
}

/** The head of a task whose last change has this mark. */
async function marked(session: Session, id: string, mark: string): Promise<TaskHead | undefined> {
  const sql = `SELECT ${HEAD} FROM pierhead_tasks WHERE id = ? AND mark = ?`
  const [row] = await session.query(sql, storedText(id), mark)
  return row === undefined ? undefined : headOf(row)
}

/** The change without its key if another task has that. */
async function withFreeKey(session: Session, id: string, change: TaskChange): Promise<TaskChange> {
  if (change.key === undefined || change.key === '') return change
  const row = await head(session, id)
  const holder = row === undefined ? undefined : await keyed(session, { ...headOf(row), key: change.key })
  return holder === undefined || headOf(holder).id === id ? change : { ...change, key: '' }
}

/** The task that has the key of another one. */
async function keyed(session: Session, { server, scope, tool, key }: TaskHead): Promise<Row | undefined> {
  if (scope === '' || key === '') return undefined
  const values = [scope, key, server, scope, tool, key].map(storedText)
  return (await session.query(KEYED, ...values))[0]
}
