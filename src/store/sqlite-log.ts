import { textBytes } from '../base/weight.ts'
import type { NewEvent, StoredEvent } from '../rpc/event-store.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { originalText, storedText } from './stored-text.ts'
import type { LogRoom } from './text-log.ts'
import { wholeMs } from './times.ts'

/** The session of the bus; sessions of clients begin with a mark. */
const BUS_SESSION = ''
const MARK = '='

/** How many logs that have ended are removed before a new one is opened. */
const SWEPT = 20

/** The last time that is kept, for logs that never end. */
const NEVER = Number.MAX_SAFE_INTEGER

/** A log: a stream of a session, or the bus. */
export interface LogName {
  readonly session: string
  readonly stream: string
}

/** The log of the bus. */
export const BUS_LOG: LogName = { session: BUS_SESSION, stream: '' }

/** The log of a stream. */
export function logOf(session: string, stream: string): LogName {
  return { session: `${MARK}${storedText(session)}`, stream: storedText(stream) }
}

/** What is known of a log. */
interface LogHead {
  readonly id: number
  readonly writer: string
  readonly next: number
  readonly first: number
  readonly bytes: number
  readonly isOver: boolean
  readonly position: number | undefined
}

/** What happened to the streams of a file. */
export interface LogChanges {
  /** The number of the last change. */
  readonly last: number
  /** The streams that changed; undefined if there were too many changes to remember all. */
  readonly streams: readonly { readonly session: string; readonly stream: string }[] | undefined
}

/** A part of a log. */
interface LogPage extends LogHead {
  readonly events: readonly StoredEvent[]
}

/** Logs in a file of SQLite. All methods run inside `read` or `write` of the file. */
export class SqliteLog {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    this.#file = file
  }

  find({ session, stream }: LogName): LogHead | undefined {
    const row = this.#file.get(
      'SELECT id, writer, next, first, bytes, is_over, position FROM pierhead_logs WHERE session = ? AND name = ? AND ends_at > ?',
      session,
      stream,
      Date.now(),
    )
    if (row === undefined) return undefined
    const [id = 0, , next = 0, first = 0, bytes = 0, over] = row.map(Number)
    const position = row[6] === null ? undefined : Number(row[6])
    return { id, writer: originalText(String(row[1])), next, first, bytes, isOver: over === 1, position }
  }

  /** Creates a log, and removes some that have ended; one that exists gets a new time. Without an idle time, it never ends. */
  open(name: LogName, writer: string, idleMs?: number): void {
    const now = Date.now()
    const ends = idleMs === undefined ? NEVER : now + wholeMs(idleMs)
    const found = this.find(name)
    if (found !== undefined) {
      if (idleMs !== undefined)
        this.#file.run('UPDATE pierhead_logs SET ends_at = ? WHERE id = ?', ends, found.id)
      return
    }
    const ended = 'SELECT id FROM pierhead_logs WHERE ends_at <= ? ORDER BY ends_at LIMIT ?'
    for (const [id] of this.#file.all(ended, now, SWEPT)) this.#remove(Number(id))
    this.forget(name.session, name.stream)
    this.#file.run(
      'INSERT INTO pierhead_logs (session, name, writer, next, first, bytes, is_over, ends_at) VALUES (?, ?, ?, 0, 0, 0, 0, ?)',
      name.session,
      name.stream,
      storedText(writer),
      ends,
    )
  }

  /** Adds a text, and answers its number; undefined if it may not be added. */
  add(name: LogName, event: NewEvent, room: LogRoom & { readonly idleMs?: number }): number | undefined {
    const head = this.find(name)
    if (head === undefined) return undefined
    const { text, isLast = false, position, seq = head.next, requests = [], givesUp = false } = event
    if (seq < head.next) return seq
    if (seq > head.next || head.isOver) return undefined
    if (position !== undefined && position <= (head.position ?? -Infinity)) return undefined
    if (requests.some((one) => this.#isGivenUp(head, one))) return undefined
    if (givesUp) for (const one of requests) this.#giveUp(head, one)
    const size = textBytes(text)
    this.#file.run(
      'INSERT INTO pierhead_log_texts (log, seq, text, bytes) VALUES (?, ?, ?, ?)',
      head.id,
      seq,
      storedText(text),
      size,
    )
    const { first, bytes } = this.#trim(head, seq, head.bytes + size, room)
    const ends = room.idleMs === undefined ? NEVER : Date.now() + wholeMs(room.idleMs)
    this.#file.run(
      'UPDATE pierhead_logs SET next = ?, first = ?, bytes = ?, is_over = ?, position = ?, ends_at = ? WHERE id = ?',
      seq + 1,
      first,
      bytes,
      isLast ? 1 : 0,
      position ?? head.position ?? null,
      ends,
      head.id,
    )
    return seq
  }

  read(name: LogName, after: number, limit: number): LogPage | undefined {
    const head = this.find(name)
    if (head === undefined) return undefined
    const sql = 'SELECT seq, text FROM pierhead_log_texts WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?'
    const rows = this.#file.all(sql, head.id, after, Math.min(limit, Number.MAX_SAFE_INTEGER))
    return {
      ...head,
      events: rows.map(([seq, text]) => ({ seq: Number(seq), text: originalText(String(text)) })),
    }
  }

  /** Removes the texts before a number. */
  trim(name: LogName, before: number): void {
    const head = this.find(name)
    if (head === undefined || before <= head.first) return
    const sql = 'DELETE FROM pierhead_log_texts WHERE log = ? AND seq < ? RETURNING bytes'
    let { bytes } = head
    for (const [size] of this.#file.all(sql, head.id, before)) bytes -= Number(size)
    const first = Math.min(before, head.next)
    this.#file.run('UPDATE pierhead_logs SET first = ?, bytes = ? WHERE id = ?', first, bytes, head.id)
  }

  /** Removes one log, or all of a session, and answers their names. */
  forget(session: string, stream?: string): readonly string[] {
    const rows =
      stream === undefined
        ? this.#file.all('SELECT id, name FROM pierhead_logs WHERE session = ?', session)
        : this.#file.all('SELECT id, name FROM pierhead_logs WHERE session = ? AND name = ?', session, stream)
    for (const [id] of rows) this.#remove(Number(id))
    return rows.map(([, name]) => originalText(String(name)))
  }

  /** The streams that changed after the change with a number. */
  changesAfter(number: number): LogChanges {
    // The change with that number shows that none after it is forgotten.
    const sql = 'SELECT number, session, name FROM pierhead_log_changes WHERE number >= ? ORDER BY number'
    const rows = this.#file.all(sql, number)
    const last = Number(rows.at(-1)?.[0] ?? 0)
    if (last < number || Number(rows[0]?.[0] ?? 0) > number + 1) return { last, streams: undefined }
    const changed = rows.filter((row) => Number(row[0]) > number)
    return {
      last,
      streams: changed.map(([, session, name]) => ({
        session: originalText(String(session).slice(MARK.length)),
        stream: originalText(String(name)),
      })),
    }
  }

  #isGivenUp({ id }: LogHead, request: string): boolean {
    const sql = 'SELECT 1 FROM pierhead_log_given_up WHERE log = ? AND request = ?'
    return this.#file.get(sql, id, storedText(request)) !== undefined
  }

  #giveUp({ id }: LogHead, request: string): void {
    this.#file.run(
      'INSERT OR IGNORE INTO pierhead_log_given_up (log, request) VALUES (?, ?)',
      id,
      storedText(request),
    )
  }

  #remove(id: number): void {
    this.#file.run('DELETE FROM pierhead_logs WHERE id = ?', id)
    this.#file.run('DELETE FROM pierhead_log_texts WHERE log = ?', id)
  }

  /** Removes the oldest texts until the rest has room. */
  #trim(
    { id, first: oldest }: LogHead,
    newest: number,
    size: number,
    room: LogRoom,
  ): { readonly first: number; readonly bytes: number } {
    let [first, bytes] = [oldest, size]
    while (first < newest && (newest - first >= room.events || bytes > room.bytes)) {
      const sql = 'DELETE FROM pierhead_log_texts WHERE log = ? AND seq = ? RETURNING bytes'
      bytes -= Number(this.#file.get(sql, id, first)?.[0] ?? 0)
      first++
    }
    return { first, bytes }
  }
}
