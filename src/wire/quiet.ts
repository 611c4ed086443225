import { endOfString } from './skip.ts'

// Repeated here because the engine inlines only constants of the same module.
const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Whether a short message certainly contains nothing that `scan` would find; `false` proves nothing.
 * It reads bytes, which costs half as much as reading characters, and compares keys by length and a few characters.
 */
export function isQuiet(text: string, maxDepth: number): boolean {
  if (text.length > MAX_CHARS) return false
  const { written } = encoder.encodeInto(text, scratch)
  searched = written === text.length ? text : ''
  // Terminates anything the text leaves open, so that no reader runs past the end.
  scratch[written] = QUOTE
  scratch[written + 1] = QUOTE
  for (let at = written + 2; at < written + MARGIN; at++) scratch[at] = END
  const end = scratch[0] === OPEN_LIST ? readBatch(scratch, maxDepth) : readMessage(scratch, 0, maxDepth)
  return end > 0 && end <= written
}

function readBatch(bytes: Uint8Array, room: number): number {
  let at = skipSpace(bytes, 1)
  while (at > 0) {
    at = readMessage(bytes, at, room - 1)
    if (at > 0) at = skipSpace(bytes, at)
    if (bytes[at] !== COMMA) break
    at = skipSpace(bytes, at + 1)
  }
  return at > 0 && bytes[at] === CLOSE_LIST ? at + 1 : 0
}

function readMessage(bytes: Uint8Array, at: number, room: number): number {
  return bytes[at] === OPEN_OBJECT ? readObject(bytes, at, room, 0) : 0
}

const MAX_CHARS = 4096
/** The most keys of one object, and of all that are open at once. */
const MAX_KEYS = 16
const MAX_OPEN_KEYS = 64
const UNWATCHED = -1
const SAFE_CHARS = 15
/** Longer strings are searched for their end, which costs more to start and less per character. */
const WALK = 64
/** Never occurs in UTF-8. */
const END = 255
/** How far beyond the text a reader may look. */
const MARGIN = 8

const encoder = new TextEncoder()
const ID = markOf('id')
const PARAMS = markOf('params')

// Reused by every call: the text, and the marks of the keys of its open objects.
const scratch = new Uint8Array(MAX_CHARS * 3 + MARGIN)
const marks = new Int32Array(MAX_OPEN_KEYS)
/** The text if its characters and bytes have the same positions, otherwise empty. */
let searched = ''

function markOf(key: string): number {
  const bytes = encoder.encode(`"${key}"`)
  return toMark(bytes, 1, bytes.length - 1)
}

/** Distinguishes a key from most others by its length, its first, middle and last character. */
function toMark(bytes: Uint8Array, from: number, to: number): number {
  return ((to - from) << 24) ^ (bytes[from]! << 16) ^ (bytes[(from + to) >> 1]! << 8) ^ bytes[to - 1]!
}

/** The position after the watched object at `at`, or 0 if it needs the exact scan. Its marks start at `first`, those of a message at 0. */
function readObject(bytes: Uint8Array, at: number, room: number, first: number): number {
  if (room < 1) return 0
  let last = first
  at = skipSpace(bytes, at + 1)
  while (bytes[at] === QUOTE) {
    const from = ++at
    for (let byte = bytes[at]!; byte !== QUOTE; byte = bytes[++at]!) if (byte === BACKSLASH) return 0
    const key = toMark(bytes, from, at)
    if (last - first === MAX_KEYS || last === MAX_OPEN_KEYS || isAmong(key, first, last)) return 0
    marks[last++] = key
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== COLON) return 0
    const value = skipSpace(bytes, at + 1)
    at = skipValue(bytes, value, room - 1, first > 0 || key === PARAMS ? last : UNWATCHED)
    if (at === 0 || (first === 0 && key === ID && at - value > SAFE_CHARS && bytes[value] !== QUOTE)) return 0
    at = skipSpace(bytes, at)
    if (bytes[at] !== COMMA) break
    at = skipSpace(bytes, at + 1)
  }
  return bytes[at] === CLOSE_OBJECT ? at + 1 : 0
}

function isAmong(mark: number, first: number, last: number): boolean {
  for (let index = first; index < last; index++) if (marks[index] === mark) return true
  return false
}

function skipSpace(bytes: Uint8Array, at: number): number {
  while (bytes[at]! <= 32) at++
  return at
}

/** The position after the value at `at`, or 0 if it is incomplete, nested too deeply, or needs the exact scan. The marks of its objects start at `first`, unless they are unwatched. */
function skipValue(bytes: Uint8Array, at: number, room: number, first: number): number {
  let byte = bytes[at]!
  if (byte === QUOTE) return skipString(bytes, at)
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return skipContainer(bytes, at, room, first)
  while (byte > 32 && byte !== COMMA && byte !== CLOSE_OBJECT && byte !== CLOSE_LIST && byte !== END)
    byte = bytes[++at]!
  return at
}

function skipString(bytes: Uint8Array, at: number): number {
  const far = at + WALK
  for (let byte = bytes[++at]!; byte !== QUOTE; byte = bytes[++at]!) {
    if (byte === BACKSLASH) at++
    else if (byte === END) return 0
    else if (at >= far && searched !== '') return endOfString(searched, at) + 1
  }
  return at + 1
}

function skipContainer(bytes: Uint8Array, at: number, room: number, first: number): number {
  let open = 0
  for (let byte = bytes[at]!; byte !== END; byte = bytes[at]!) {
    if (byte === QUOTE) {
      at = skipString(bytes, at)
      if (at === 0) return 0
      continue
    }
    if (byte === OPEN_OBJECT && first !== UNWATCHED) {
      at = readObject(bytes, at, room - open, first)
      if (at === 0 || open === 0) return at
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++open > room) return 0
    } else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --open === 0) return at
  }
  return 0
}
