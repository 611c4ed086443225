/** The bytes of an id: 144 bits. */
const BYTES = 18
/** The number of ids made at once, because each request for random bytes costs more than the bytes. */
const AT_ONCE = 64

let pool: Uint8Array<ArrayBuffer> | undefined
let used = AT_ONCE

/** A new id that nobody can guess: 24 characters that are safe in URLs, headers and file names. */
export function newTaskId(): string {
  if (used === AT_ONCE) {
    pool = crypto.getRandomValues(new Uint8Array(BYTES * AT_ONCE))
    used = 0
  }
  const bytes = pool!.subarray(used * BYTES, ++used * BYTES)
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
