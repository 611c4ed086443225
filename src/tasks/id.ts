/** The random characters of an id, each with 6 bits: 144 bits. */
const RANDOM_CHARS = 24
/** The characters that say when it was made, in milliseconds: enough until 2109. */
const TIME_CHARS = 7
/** The number of ids made at once, because each request for random bytes costs more than the bytes. */
const AT_ONCE = 64

/** In their order, so that later ids are greater: indexes of stores then grow at their end. */
const CODES = Array.from('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', (character) =>
  character.charCodeAt(0),
)

const codes = Array.from({ length: TIME_CHARS + RANDOM_CHARS }, () => 0)
let pool = new Uint8Array(0)
let used = 0
let madeAt = -1

/** A new id that nobody can guess: 31 characters that are safe in URLs, headers and file names, and greater than those of earlier milliseconds. */
export function newTaskId(): string {
  if (used === pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(RANDOM_CHARS * AT_ONCE))
    used = 0
  }
  const now = Date.now()
  if (now !== madeAt) setTime(now)
  for (let at = TIME_CHARS; at < codes.length; at++) codes[at] = CODES[pool[used++]! & 63]!
  return String.fromCharCode(...codes)
}

function setTime(now: number): void {
  madeAt = now
  for (let at = TIME_CHARS - 1, rest = now; at >= 0; at--, rest = Math.floor(rest / 64))
    codes[at] = CODES[rest % 64]!
}
