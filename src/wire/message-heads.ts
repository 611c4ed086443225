import type { RequestId } from '../protocol/jsonrpc.ts'
import { endOfContainer, endOfScalar, endOfString, skipSpace } from './skip.ts'

/** A request or notification, as far as it is known before its text is parsed. */
export interface MessageHead {
  /** The method; empty if its name is longer than those of the protocol. */
  readonly method: string
  /** Absent for a notification, and for a request whose id is not valid. */
  readonly id?: RequestId | undefined
}

/**
 * The requests and notifications in the text of a message or batch. The text is not parsed, since its limits are not checked yet: whatever it
 * contains, this takes one walk over it. It may be invalid. A batch with more than `most` members has none, since it will not be accepted.
 */
export function messageHeads(text: string, most: number): readonly MessageHead[] {
  const at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_LIST) return readMessage(text, at).heads
  const heads: MessageHead[] = []
  let next = skipSpace(text, at + 1)
  for (let members = 1; text.charCodeAt(next) !== CLOSE_LIST && next < text.length; members++) {
    if (members > most) return []
    const message = readMessage(text, next)
    heads.push(...message.heads)
    const end = skipSpace(text, message.end)
    if (text.charCodeAt(end) !== COMMA) break
    next = skipSpace(text, end + 1)
  }
  return heads
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** The longest texts that the name of a member and of a method can have, if all their characters are escaped. */
const LONGEST_NAME = '"method"'.length * 6
const LONGEST_METHOD = 64 * 6
const INTEGER = /^-?\d{1,1024}$/
/** Every integer of at most this many characters is safe as a number. */
const SAFE_CHARS = 15

/** Reads the members of the value at `at`; `end` is the position after it. */
function readMessage(
  text: string,
  at: number,
): { readonly end: number; readonly heads: readonly [MessageHead] | readonly [] } {
  if (text.charCodeAt(at) !== OPEN_OBJECT) return { end: endOfValue(text, at), heads: [] }
  let id: RequestId | undefined
  let method: string | undefined
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at + 1) + 1
    const name = readShort(text, at, nameEnd, LONGEST_NAME)
    const colon = skipSpace(text, nameEnd)
    if (text.charCodeAt(colon) !== COLON) break
    const value = skipSpace(text, colon + 1)
    const end = endOfValue(text, value)
    if (name === 'method') method = readShort(text, value, end, LONGEST_METHOD)
    else if (name === 'id') id = readId(text.slice(value, end))
    at = skipSpace(text, end)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipSpace(text, at + 1)
  }
  const end = text.charCodeAt(at) === CLOSE_OBJECT ? at + 1 : text.length
  return { end, heads: method === undefined ? [] : [{ method, id }] }
}

function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at + 1) + 1
  if (first === OPEN_OBJECT || first === OPEN_LIST) return endOfContainer(text, at, Infinity)
  return endOfScalar(text, at)
}

function readId(text: string): RequestId | undefined {
  if (text.startsWith('"')) return readString(text)
  if (!INTEGER.test(text)) return undefined
  const number = Number(text)
  return text.length <= SAFE_CHARS || Number.isSafeInteger(number) ? number : BigInt(text)
}

/** Reads the text between two positions; empty if it is longer than `most` or not a text. */
function readShort(text: string, from: number, to: number, most: number): string {
  return to - from > most || text.charCodeAt(from) !== QUOTE ? '' : (readString(text.slice(from, to)) ?? '')
}

function readString(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}
