import type { TaskChange } from '../tasks/store.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { storedText } from './stored-text.ts'
import { changedTexts } from './tasks-columns.ts'
import { TEXT_BYTES } from './tasks-schema.ts'

/** Longer requests have rows of their own. */
const LONG_CHARS = 4096

const DELETE = `DELETE FROM pierhead_task_contents WHERE seq = ? RETURNING ${TEXT_BYTES}`
const DELETE_LONG = 'DELETE FROM pierhead_task_requests WHERE seq = ? RETURNING octet_length(request)'
const INSERT = 'INSERT INTO pierhead_task_contents (seq, request, state, outcome) VALUES (?, ?, ?, ?)'
/** At the place of the head that was added just now. */
const INSERT_LAST = INSERT.replace('?', 'last_insert_rowid()')
/** At the place of the other texts. */
const INSERT_LONG = 'INSERT INTO pierhead_task_requests (seq, request) VALUES (last_insert_rowid(), ?)'

/** The texts of tasks in a file, as they are stored. Each method is part of a transaction. */
export class SqliteTaskTexts {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    this.#file = file
  }

  /** Adds the request, the state and the outcome of a task at a place, or at that of the last head. */
  add(seq: number | 'last', [request = '', state = '', outcome = '']: readonly string[]): void {
    const isLong = request.length > LONG_CHARS
    const texts = [isLong ? '' : request, state, outcome]
    if (seq === 'last') this.#file.run(INSERT_LAST, ...texts)
    else this.#file.run(INSERT, seq, ...texts)
    if (isLong) this.#file.run(INSERT_LONG, request)
  }

  /** Replaces the texts that a change names. */
  change(seq: number, change: TaskChange): void {
    const texts = changedTexts(change)
    if (texts.length === 0) return
    const sets = texts.map(([name]) => `${name} = ?`).join(', ')
    const stored = texts.map(([, text]) => storedText(text))
    this.#file.run(`UPDATE pierhead_task_contents SET ${sets} WHERE seq = ?`, ...stored, seq)
    if (change.request !== undefined) this.#file.run('DELETE FROM pierhead_task_requests WHERE seq = ?', seq)
  }

  /** The bytes of a long request; undefined if a task has none. */
  longBytes(seq: number): unknown {
    return this.#file.get('SELECT octet_length(request) FROM pierhead_task_requests WHERE seq = ?', seq)?.[0]
  }

  /** Removes the texts of a task. Answers their bytes. */
  delete(seq: number): number {
    const [bytes] = this.#file.get(DELETE, seq) ?? []
    const [long] = this.#file.get(DELETE_LONG, seq) ?? []
    return Number(bytes ?? 0) + Number(long ?? 0)
  }
}
