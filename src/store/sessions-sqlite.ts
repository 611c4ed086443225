import { hasFarFewer } from '../base/share.ts'
import {
  MOST_CHANGES,
  MOST_NAME_BYTES,
  type EvictedSession,
  type FieldChanges,
  type NewSession,
  type SessionFields,
  type SessionRoom,
  type SessionStore,
  type StoredSession,
} from '../rpc/session-store.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { Soon } from '../rpc/soon.ts'
import type { Row } from './sqlite-engine.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { originalText, storedBytes, storedText } from './stored-text.ts'
import { lateMs, lifeMs, wholeMs } from './times.ts'

/** How many sessions that have ended are removed before a new one is added. */
const SWEPT = 100

/** Keeps sessions in a file of SQLite. Uses that follow each other closely are not written. */
export class SqliteSessionStore implements SessionStore {
  readonly nodes: NodeStore
  readonly #file: SqliteFile

  constructor(file: SqliteFile, nodes: NodeStore) {
    this.nodes = nodes
    this.#file = file
  }

  create(
    session: NewSession,
    { sessions, freshMs }: SessionRoom,
  ): Promise<'created' | 'full' | EvictedSession> {
    return this.#file.write(() => {
      const now = Date.now()
      const ended = 'SELECT id FROM pierhead_sessions WHERE ends_at <= ? ORDER BY ends_at LIMIT ?'
      for (const [id] of this.#file.all(ended, now, SWEPT)) this.#remove(String(id))
      this.#remove(storedText(session.id))
      if (this.#count() < sessions) {
        this.#add(session, now)
        return 'created'
      }
      const fresh = freshMs > 0 ? freshMs + lateMs(Infinity) : 0
      const id = this.#evictable(storedText(session.countedFor), now - fresh)
      if (id === undefined) return 'full'
      this.#remove(id)
      this.#add(session, now)
      return { evicted: originalText(id) }
    })
  }

  use(
    id: string,
    known: number | undefined,
    idleMs: number,
    expected: FieldChanges = new Map(),
  ): Soon<StoredSession | undefined> {
    return this.#file.read(() => {
      const now = Date.now()
      const row = this.#find(id, now)
      if (row === undefined) return undefined
      for (const [name, text] of expected) if (this.#field(id, name) !== text) return undefined
      const [version, usedAt, idle] = row.map(Number)
      // The request need not wait for the disk. If it fails, the next use follows soon.
      if (now - (usedAt ?? 0) >= lateMs(idleMs) || idle !== wholeMs(idleMs))
        this.#file.write(() => this.#touch(id, idleMs)).catch(() => {})
      return this.#since(id, version ?? 0, known)
    })
  }

  change(id: string, fields: FieldChanges): Promise<number | undefined> {
    return this.#file.write(() => {
      const row = this.#find(id, Date.now())
      if (row === undefined) return undefined
      for (const [name, text] of fields) this.#set(storedText(id), name, text)
      const version = Number(row[0]) + 1
      this.#file.run('UPDATE pierhead_sessions SET version = ? WHERE id = ?', version, storedText(id))
      this.#note(storedText(id), version, [...fields.keys()])
      return version
    })
  }

  end(id: string): Promise<boolean> {
    return this.#file.write(() => {
      const isAlive = this.#find(id, Date.now()) !== undefined
      this.#remove(storedText(id))
      return isAlive
    })
  }

  count(): Soon<number> {
    return this.#file.read(() => {
      const ended = 'SELECT count(*) FROM pierhead_sessions WHERE ends_at <= ?'
      return this.#count() - Number(this.#file.get(ended, Date.now())?.[0] ?? 0)
    })
  }

  #count(): number {
    const [count] = this.#file.get('SELECT sessions FROM pierhead_session_counts WHERE owner IS NULL') ?? []
    return Number(count ?? 0)
  }

  /** The version, the last use and the idle time of a session that has not ended. */
  #find(id: string, now: number): Row | undefined {
    const sql = 'SELECT version, used_at, idle_ms FROM pierhead_sessions WHERE id = ? AND ends_at > ?'
    return this.#file.get(sql, storedText(id), now)
  }

  #fields(id: string): SessionFields {
    const rows = this.#file.all('SELECT name, text FROM pierhead_session_fields WHERE id = ?', storedText(id))
    return new Map(rows.map(([name, text]) => [originalText(String(name)), originalText(String(text))]))
  }

  #field(id: string, name: string): string | null {
    const sql = 'SELECT text FROM pierhead_session_fields WHERE id = ? AND name = ?'
    const row = this.#file.get(sql, storedText(id), storedText(name))
    return row === undefined ? null : originalText(String(row[0]))
  }

  /** What is new for a node that knows a version. */
  #since(id: string, version: number, known: number | undefined): StoredSession {
    if (version === known) return { version, fields: undefined }
    const names = known === undefined ? undefined : this.#namesSince(id, version, known)
    if (names === undefined) return { version, fields: this.#fields(id) }
    const changes = new Map([...names].map((name) => [name, this.#field(id, name)]))
    return { version, fields: undefined, changes }
  }

  /** The names that the changes after a version concerned; undefined if some are not known. */
  #namesSince(id: string, version: number, known: number): ReadonlySet<string> | undefined {
    const count = version - known
    if (count < 0 || count > MOST_CHANGES) return undefined
    const sql = 'SELECT names FROM pierhead_session_changes WHERE id = ? AND version > ? AND version <= ?'
    const rows = this.#file.all(sql, storedText(id), known, version)
    if (rows.length < count) return undefined
    return new Set(rows.flatMap(([names]) => JSON.parse(String(names)) as readonly string[]))
  }

  /** Remembers the names of a change, and forgets those of the oldest ones. */
  #note(key: string, version: number, names: readonly string[]): void {
    const text = JSON.stringify(names)
    const all = 'SELECT version, bytes FROM pierhead_session_changes WHERE id = ? ORDER BY version DESC'
    let bytes = storedBytes(text)
    const kept: number[] = []
    if (bytes <= MOST_NAME_BYTES) {
      const add = 'INSERT INTO pierhead_session_changes (id, version, bytes, names) VALUES (?, ?, ?, ?)'
      this.#file.run(add, key, version, bytes, text)
      kept.push(version)
    }
    for (const [before, size] of this.#file.all(all, key)) {
      if (Number(before) === version) continue
      bytes += Number(size)
      if (bytes > MOST_NAME_BYTES || Number(before) <= version - MOST_CHANGES) break
      kept.push(Number(before))
    }
    const gone = 'DELETE FROM pierhead_session_changes WHERE id = ? AND version < ?'
    this.#file.run(gone, key, kept.at(-1) ?? version)
  }

  /** The session that makes room for one of `newcomer`. Those used after `freshAfter` are fresh. */
  #evictable(newcomer: string, freshAfter: number): string | undefined {
    const most =
      'SELECT owner, sessions FROM pierhead_session_counts WHERE owner IS NOT NULL ORDER BY sessions DESC LIMIT 1'
    const [owner, count] = this.#file.get(most) ?? []
    if (typeof owner !== 'string') return undefined
    const oldest = 'SELECT id, used_at FROM pierhead_sessions WHERE owner = ? ORDER BY used_at LIMIT 1'
    const [id, usedAt] = this.#file.get(oldest, owner) ?? []
    if (typeof id !== 'string') return undefined
    const ofOwner = 'SELECT sessions FROM pierhead_session_counts WHERE owner = ?'
    const [own] = this.#file.get(ofOwner, newcomer) ?? []
    return Number(usedAt) <= freshAfter || hasFarFewer(Number(own ?? 0), Number(count)) ? id : undefined
  }

  #add({ id, countedFor, fields, idleMs }: NewSession, now: number): void {
    const [key, owner, idle] = [storedText(id), storedText(countedFor), wholeMs(idleMs)]
    const ends = now + lifeMs(idleMs)
    this.#file.run(
      'INSERT INTO pierhead_sessions (id, owner, version, used_at, idle_ms, ends_at) VALUES (?, ?, 1, ?, ?, ?)',
      key,
      owner,
      now,
      idle,
      ends,
    )
    for (const [name, text] of fields) this.#set(key, name, text)
    const count =
      'INSERT INTO pierhead_session_counts (owner, sessions) VALUES (?, 1) ON CONFLICT (owner) DO UPDATE SET sessions = sessions + 1'
    this.#file.run(count, owner)
    this.#file.run('UPDATE pierhead_session_counts SET sessions = sessions + 1 WHERE owner IS NULL')
  }

  /** Sets a field of a session, or removes it. */
  #set(key: string, name: string, text: string | null): void {
    if (text === null)
      this.#file.run('DELETE FROM pierhead_session_fields WHERE id = ? AND name = ?', key, storedText(name))
    else
      this.#file.run(
        'INSERT OR REPLACE INTO pierhead_session_fields (id, name, text) VALUES (?, ?, ?)',
        key,
        storedText(name),
        storedText(text),
      )
  }

  #touch(id: string, idleMs: number): void {
    const now = Date.now()
    const ends = now + lifeMs(idleMs)
    const sql =
      'UPDATE pierhead_sessions SET used_at = ?, idle_ms = ?, ends_at = ? WHERE id = ? AND ends_at > ?'
    this.#file.run(sql, now, wholeMs(idleMs), ends, storedText(id), now)
  }

  #remove(key: string): void {
    const [owner] = this.#file.get('DELETE FROM pierhead_sessions WHERE id = ? RETURNING owner', key) ?? []
    if (typeof owner !== 'string') return
    this.#file.run('DELETE FROM pierhead_session_fields WHERE id = ?', key)
    this.#file.run(
      'UPDATE pierhead_session_counts SET sessions = sessions - 1 WHERE owner IS NULL OR owner = ?',
      owner,
    )
    this.#file.run('DELETE FROM pierhead_session_counts WHERE owner = ? AND sessions <= 0', owner)
  }
}
