import { Keys } from './keys.ts'
import { endOfContainer, endOfScalar, endOfString, skipSpace } from './skip.ts'

/** Properties of a message that JSON.parse hides. */
export type Finding =
  | { readonly kind: 'duplicate'; readonly key: string }
  | { readonly kind: 'deep' }
  /** An integer id of more than 1,024 digits. */
  | { readonly kind: 'id' }
  /** Integer ids too large for a number, by position of their message in a batch; at 0 for a single message. */
  | { readonly kind: 'ids'; readonly ids: readonly (bigint | undefined)[] }

/** Does what `scan` does with less code, but slower for short messages. */
export function scanFully(text: string, maxDepth: number): Finding | undefined {
  escapeAt = -1
  idTo = -1
  level = MESSAGE
  const at = skipSpace(text, 0)
  const first = text.charCodeAt(at)
  if (first === OPEN_LIST) return scanBatch(text, at, maxDepth)
  if (first !== OPEN_OBJECT) return undefined
  const end = scanObject(text, at, maxDepth)
  if (end < 0) return toFinding(end)
  const id = idTo < 0 ? undefined : largeId(text)
  if (id === undefined) return undefined
  return id === UNUSABLE ? { kind: 'id' } : { kind: 'ids', ids: [id] }
}

/** Finds the same in the text of one value, which is scanned like the params of a message. */
export function scanParams(text: string, maxDepth: number): Finding | undefined {
  escapeAt = -1
  keys[MESSAGE] ??= new Keys()
  level = MESSAGE + 1
  const end = scanValue(text, skipSpace(text, 0), true, maxDepth)
  return end < 0 ? toFinding(end) : undefined
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const OPEN_OBJECT = 123

/** The level of a message among the objects that are open, and how many levels are watched: the scan of an object calls itself. */
const MESSAGE = 0
const MAX_LEVELS = 512

/** Returned instead of a position. */
const DEEP = -1
const DUPLICATE = -2

/** Every integer of at most this many characters is safe as a number. */
const SAFE_CHARS = 15
const MAX_ID_DIGITS = 1024
const UNUSABLE = 'unusable'
/** Longer keys are shortened in errors. */
const MAX_SHOWN = 128

/** The role of a key in the scan. */
const PLAIN = 0
const ID = 1
const WATCHED = 2

// Scratch memory of the current scan, so that an ordinary message allocates nothing; scans are synchronous and never nested.
const keys: Keys[] = []
/** The number of watched objects around the current place. */
let level = MESSAGE
let idFrom = -1
let idTo = -1
let escapeAt = -1
let repeated = ''

function scanBatch(text: string, at: number, room: number): Finding | undefined {
  if (room < 1) return toFinding(DEEP)
  const ids: (bigint | undefined)[] = []
  let unusable = false
  at = skipSpace(text, at + 1)
  for (let position = 0; at < text.length; position++) {
    idTo = -1
    at = scanValue(text, at, text.charCodeAt(at) === OPEN_OBJECT, room - 1)
    if (at < 0) return toFinding(at)
    const id = idTo < 0 ? undefined : largeId(text)
    if (id === UNUSABLE) unusable = true
    else if (id !== undefined) ids[position] = id
    at = skipSpace(text, at)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipSpace(text, at + 1)
  }
  if (unusable) return { kind: 'id' }
  return ids.length === 0 ? undefined : { kind: 'ids', ids: Array.from(ids) }
}

/** Scans the watched object at `at` and returns the position after it. */
function scanObject(text: string, at: number, room: number): number {
  if (room < 1) return DEEP
  const own = (keys[level++] ??= new Keys())
  const isMessage = level === MESSAGE + 1
  own.clear()
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const to = endOfString(text, at + 1)
    const isEscaped = hasEscape(text, at, to)
    const key = isEscaped ? toKey(text.slice(at, to + 1)) : ''
    if (isEscaped ? own.repeatsDecoded(text, key) : own.repeats(text, at + 1, to)) {
      repeated = isEscaped ? key : text.slice(at + 1, to)
      return DUPLICATE
    }
    const role = !isMessage ? WATCHED : isEscaped ? roleOf(key, 0, key.length) : roleOf(text, at + 1, to)
    const colon = skipSpace(text, to + 1)
    if (text.charCodeAt(colon) !== COLON) {
      at = text.length
      break
    }
    const value = skipSpace(text, colon + 1)
    at = scanValue(text, value, role === WATCHED, room - 1)
    if (at < 0) return at
    if (role === ID && at - value > SAFE_CHARS) keepId(text, value, at)
    at = skipSpace(text, at)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipSpace(text, at + 1)
  }
  own.clear()
  level--
  return at + 1
}

function toKey(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

/** The role of a key of a message. */
function roleOf(text: string, from: number, to: number): number {
  const length = to - from
  const is = (name: string): boolean => name.length === length && text.startsWith(name, from)
  return is('id') ? ID : is('params') ? WATCHED : PLAIN
}

function scanValue(text: string, at: number, isWatched: boolean, room: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at + 1) + 1
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return endOfScalar(text, at)
  return endOfContainer(text, at, room, isWatched && level < MAX_LEVELS ? scanObject : undefined)
}

/** Whether there is a backslash between two positions. Callers ask in text order, so that all answers take one search. */
function hasEscape(text: string, from: number, to: number): boolean {
  if (escapeAt < from) {
    const next = text.indexOf('\\', from)
    escapeAt = next < 0 ? text.length : next
  }
  return escapeAt < to
}

function keepId(text: string, from: number, to: number): void {
  if (text.charCodeAt(from) === QUOTE) return
  idFrom = from
  idTo = to
}

/** The last id, if it is an integer too large for a number. */
function largeId(text: string): bigint | typeof UNUSABLE | undefined {
  const digits = text.slice(idFrom, idTo)
  if (!/^-?[0-9]+$/.test(digits) || Number.isSafeInteger(Number(digits))) return undefined
  const count = digits.startsWith('-') ? digits.length - 1 : digits.length
  return count > MAX_ID_DIGITS ? UNUSABLE : BigInt(digits)
}

function toFinding(code: number): Finding {
  for (const each of keys) each.clear()
  if (code === DEEP) return { kind: 'deep' }
  const key = repeated.length > MAX_SHOWN ? `${repeated.slice(0, MAX_SHOWN)}…` : repeated
  repeated = ''
  return { kind: 'duplicate', key }
}
