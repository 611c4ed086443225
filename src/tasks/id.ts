import { MOST_TASK_ID_CHARS } from '../protocol/task-status.ts'

/** The characters of an id, each with 6 random bits: 144 bits, almost. */
const CHARS = 24
/** An id that we could have made, or the store: 122 random bits are 21 such characters or more. */
const POSSIBLE = new RegExp(`^[\\w-]{21,${MOST_TASK_ID_CHARS}}$`)
/** The number of ids made at once, because each request for random bytes costs more than the bytes. */
const AT_ONCE = 64

const CODES = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', (character) =>
  character.charCodeAt(0),
)

const codes = Array.from({ length: CHARS }, () => 0)
let pool = new Uint8Array(0)
let used = 0

/** A new id that nobody can guess: 24 characters that are safe in URLs, headers, file names and command lines. */
export function newTaskId(): string {
  // One that begins with - looks like an option.
  for (let id = anyId(); ; id = anyId()) if (!id.startsWith('-')) return id
}

/** Whether there may be a task with an id. */
export function isTaskId(id: string): boolean {
  return POSSIBLE.test(id)
}

function anyId(): string {
  if (used === pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(CHARS * AT_ONCE))
    used = 0
  }
  for (let at = 0; at < CHARS; at++) codes[at] = CODES[pool[used++]! & 63]!
  return String.fromCharCode(...codes)
}
