// Named again where they are used: the engine folds constants of the same module only.
const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Whether a short message surely holds nothing that `scan` would find; `false` proves nothing.
 * It reads bytes, which costs half as much as reading letters, and knows keys by their hash alone.
 */
export function isQuiet(text: string, maxDepth: number): boolean {
  if (text.length > MAX_LETTERS) return false
  const { written } = encoder.encodeInto(text, scratch)
  scratch[written] = END
  scratch[written + 1] = END
  return scratch[0] === OPEN_OBJECT && readObject(scratch, 0, 0, maxDepth) > 0
}

const MAX_LETTERS = 512
const MAX_KEYS = 16
const SAFE_LETTERS = 15
/** Stands twice after the text, where a reader may be one ahead; no UTF-8 holds it. */
const END = 255

const encoder = new TextEncoder()
const ID = hashOf('id')
const PARAMS = hashOf('params')
const ARGUMENTS = hashOf('arguments')
const META = hashOf('_meta')

// Used again by every reading: the text, and the hashes of the keys of its open objects.
const scratch = new Uint8Array(MAX_LETTERS * 3 + 2)
const hashes = new Int32Array(MAX_KEYS * 3)

function hashOf(key: string): number {
  let hash = 0
  for (const byte of encoder.encode(key)) hash = (Math.imul(hash, 31) + byte) | 0
  return hash
}

/** The position after the watched object at `at`, or 0 when it needs a closer look. */
function readObject(bytes: Uint8Array, at: number, level: number, room: number): number {
  if (room < 1) return 0
  const first = level * MAX_KEYS
  let last = first
  at = skipSpace(bytes, at + 1)
  while (bytes[at] === QUOTE) {
    let hash = 0
    for (let byte = bytes[++at]!; byte !== QUOTE; byte = bytes[++at]!) {
      if (byte === BACKSLASH || byte === END) return 0
      hash = (Math.imul(hash, 31) + byte) | 0
    }
    if (last - first === MAX_KEYS || isAmong(hash, first, last)) return 0
    hashes[last++] = hash
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== COLON) return 0
    const value = skipSpace(bytes, at + 1)
    if (bytes[value] === OPEN_OBJECT && isWatched(hash, level))
      at = readObject(bytes, value, level + 1, room - 1)
    else at = skipValue(bytes, value, room - 1)
    if (at === 0 || (level === 0 && hash === ID && at - value > SAFE_LETTERS && bytes[value] !== QUOTE))
      return 0
    at = skipSpace(bytes, at)
    if (bytes[at] !== COMMA) break
    at = skipSpace(bytes, at + 1)
  }
  return at + 1
}

function isAmong(hash: number, first: number, last: number): boolean {
  for (let index = first; index < last; index++) if (hashes[index] === hash) return true
  return false
}

function isWatched(hash: number, level: number): boolean {
  return level === 0 ? hash === PARAMS : level === 1 && (hash === ARGUMENTS || hash === META)
}

function skipSpace(bytes: Uint8Array, at: number): number {
  while (bytes[at]! <= 32) at++
  return at
}

/** The position after the value at `at`, or 0 when it is not whole or nests too deep. */
function skipValue(bytes: Uint8Array, at: number, room: number): number {
  let byte = bytes[at]!
  if (byte === QUOTE) return skipString(bytes, at)
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return skipContainer(bytes, at, room)
  while (byte > 32 && byte !== COMMA && byte !== CLOSE_OBJECT && byte !== CLOSE_LIST && byte !== END)
    byte = bytes[++at]!
  return at
}

function skipString(bytes: Uint8Array, at: number): number {
  for (let byte = bytes[++at]!; byte !== QUOTE; byte = bytes[++at]!) {
    if (byte === BACKSLASH) at++
    else if (byte === END) return 0
  }
  return at + 1
}

function skipContainer(bytes: Uint8Array, at: number, room: number): number {
  let open = 0
  for (let byte = bytes[at]!; byte !== END; byte = bytes[at]!) {
    if (byte === QUOTE) {
      at = skipString(bytes, at)
      if (at === 0) return 0
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++open > room) return 0
    } else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --open === 0) return at
  }
  return 0
}
