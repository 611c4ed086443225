import { CLIENT_LIMITS } from '../protocol/client-limits.ts'
import { endOfContainer, skipSpace } from '../wire/skip.ts'
import { checkValues } from '../wire/values.ts'

/** A JSON-RPC message, or what a peer sent in its place. */
export type Message = Readonly<Record<string, unknown>>

/** Something that a peer sent: one line, frame, event or body. */
export interface Received {
  /** The text as it came. */
  readonly text: string
  /** The parsed text; undefined if it is not JSON. */
  readonly value: unknown
  /** The messages in it: none if it is not one, several in a batch. */
  readonly messages: readonly Message[]
  /** The stream that it came on: one for a connection, one for each reply over HTTP. */
  readonly stream: string
  /** Its place among everything that was sent and received. */
  readonly at: number
  /** The id of the event, over HTTP. */
  readonly eventId?: string | undefined
}

export function isObject(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of an object, or undefined if it is something else. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined
    found = found[key]
  }
  return found
}

export function isRequest(message: Message): boolean {
  return typeof message['method'] === 'string' && Object.hasOwn(message, 'id')
}

export function isNotification(message: Message): boolean {
  return typeof message['method'] === 'string' && !Object.hasOwn(message, 'id')
}

export function isResponse(message: Message): boolean {
  return (
    !Object.hasOwn(message, 'method') && (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error'))
  )
}

/** The messages in a parsed text. */
export function messagesIn(value: unknown): readonly Message[] {
  if (isObject(value)) return [value]
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Why a text is not parsed: a value can take many times the memory of its text. The limits are those of a client. */
export function excessOf(text: string): string | undefined {
  const { depth, values, keys, containers } = CLIENT_LIMITS
  const start = skipSpace(text, 0)
  const isContainer = text[start] === '{' || text[start] === '['
  if (isContainer && endOfContainer(text, start, depth.usual) < 0)
    return `the peer sent a message that is nested deeper than ${depth.usual} levels`
  try {
    checkValues(text, { values: values.usual, keys: keys.usual, containers: containers.usual })
    return undefined
  } catch (error) {
    return `of what the peer sent: ${(error as Error).message}`
  }
}

/** The parsed text, or undefined if it is not JSON or not parsed. */
export function parsed(text: string): unknown {
  if (excessOf(text) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The most lines that one message may be spread over, to be recognized, and the most characters that are parsed for it. */
const MOST_LINES = 200
const MOST_SPREAD = 1_000_000

/** How many lines a message is spread over; undefined if each is on one line. */
export function spreadOver(lines: readonly string[]): number | undefined {
  const at = lines.findIndex((text) => text.trim() !== '' && parsed(text) === undefined)
  if (at < 0) return undefined
  let text = lines[at] ?? ''
  let left = MOST_SPREAD
  for (let to = at + 2; to <= Math.min(lines.length, at + MOST_LINES); to++) {
    const line = lines[to - 1] ?? ''
    text += `\n${line}`
    // A message ends with a bracket, and parsing the same text again and again takes time.
    if (!/[\]}]$/.test(line.trimEnd())) continue
    left -= text.length
    if (left < 0) return undefined
    if (typeof parsed(text) === 'object') return to - at
  }
  return undefined
}
