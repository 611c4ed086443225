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
  const at = skipSpace(text, 0)
  const first = text.charCodeAt(at)
  if (first === OPEN_LIST) return scanBatch(text, at, maxDepth)
  if (first !== OPEN_OBJECT) return undefined
  const end = scanObject(text, at, MESSAGE, maxDepth)
  if (end < 0) return toFinding(end)
  const id = idTo < 0 ? undefined : largeId(text)
  if (id === undefined) return undefined
  return id === UNUSABLE ? { kind: 'id' } : { kind: 'ids', ids: [id] }
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const OPEN_OBJECT = 123

/** The watched objects, by their depth in the message. */
const MESSAGE = 0
const PARAMS = 1
const UNWATCHED = -1

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
const REPEATED = 3

// Scratch memory of the current scan, so that an ordinary message allocates nothing; scans are synchronous and never nested.
const keys: readonly Keys[] = [new Keys(), new Keys(), new Keys()]
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
    at = scanValue(text, at, MESSAGE, room - 1)
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
function scanObject(text: string, at: number, level: number, room: number): number {
  if (room < 1) return DEEP
  keys[level]!.clear()
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const to = endOfString(text, at + 1)
    const role = hasEscape(text, at, to) ? addEscaped(text, at, to, level) : add(text, at + 1, to, level)
    if (role === REPEATED) return DUPLICATE
    const colon = skipSpace(text, to + 1)
    if (text.charCodeAt(colon) !== COLON) return text.length
    const value = skipSpace(text, colon + 1)
    at = scanValue(text, value, role === WATCHED ? level + 1 : UNWATCHED, room - 1)
    if (at < 0) return at
    if (role === ID && at - value > SAFE_CHARS) keepId(text, value, at)
    at = skipSpace(text, at)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipSpace(text, at + 1)
  }
  keys[level]!.clear()
  return at + 1
}

/** Adds a key to its object and returns its role. */
function add(text: string, from: number, to: number, level: number): number {
  if (!keys[level]!.repeats(text, from, to)) return roleOf(text, from, to, level)
  repeated = text.slice(from, to)
  return REPEATED
}

function addEscaped(text: string, at: number, to: number, level: number): number {
  const key = toKey(text.slice(at, to + 1))
  if (!keys[level]!.repeatsDecoded(text, key)) return roleOf(key, 0, key.length, level)
  repeated = key
  return REPEATED
}

function toKey(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

function roleOf(text: string, from: number, to: number, level: number): number {
  const length = to - from
  const is = (name: string): boolean => name.length === length && text.startsWith(name, from)
  if (level === MESSAGE) return is('id') ? ID : is('params') ? WATCHED : PLAIN
  return level === PARAMS && (is('arguments') || is('_meta')) ? WATCHED : PLAIN
}

function scanValue(text: string, at: number, level: number, room: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at + 1) + 1
  if (first === OPEN_OBJECT && level !== UNWATCHED) return scanObject(text, at, level, room)
  if (first === OPEN_OBJECT || first === OPEN_LIST) return endOfContainer(text, at, room)
  return endOfScalar(text, at)
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
