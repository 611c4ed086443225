import { escaped } from '../errors/printable.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { logTo, type LogFunction } from './logger.ts'
import type { ServerOptions } from './options.ts'
import { MAX_CAUSES, readableError } from './stack.ts'

/** How long a message may be, and each text of an error. A client may have sent megabytes of it. */
const MAX_TEXT = 8192
/** How long a name or an id may be. */
const MAX_NAME = 512
/** How many values of an object are shown. */
const MAX_VALUES = 64
/** Characters that end a line, control a terminal, or cannot be seen. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
/** The same, except for the line breaks and tabs of a stack. */
const HIDDEN_IN_LINES = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * The function that reports to the operator. Whatever the log is, it gets bounded text without hidden characters, and
 * thrown values as plain data, in `error`.
 */
export function reporterOf({ log = console }: ServerOptions): LogFunction {
  const write = log === console ? reportToStderr : typeof log === 'function' ? log : logTo(log)
  return (level, message, facts) =>
    write(level, escaped(abridged(message, MAX_TEXT), HIDDEN), facts && plainFacts(facts))
}

function plainFacts(facts: JsonObject): JsonObject {
  const { error, ...rest } = facts
  const plain = bounded(rest) as JsonObject
  return 'error' in facts ? { ...plain, error: plainError(error) } : plain
}

/** An error as plain data, with some of its causes. */
function plainError(thrown: unknown, effects: readonly unknown[] = []): JsonObject {
  if (effects.length > MAX_CAUSES || effects.includes(thrown))
    return { name: 'Error', message: '… [further causes left out]' }
  try {
    if (!(thrown instanceof Error)) return { name: typeof thrown, message: linesOf(thrown) }
    const { name, message, stack, cause, hint } = thrown as Error & { readonly hint?: unknown }
    return {
      name: nameOf(name),
      message: linesOf(message),
      ...(typeof hint === 'string' ? { hint: linesOf(hint) } : {}),
      ...(stack === undefined ? {} : { stack: linesOf(stack) }),
      ...(cause instanceof Error ? { cause: plainError(cause, [...effects, thrown]) } : {}),
    }
  } catch {
    return { name: typeof thrown, message: 'a value that cannot be converted to text' }
  }
}

/** Text that may have several lines. */
function linesOf(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(bounded(value)) : String(value)
  return escaped(abridged(text, MAX_TEXT), HIDDEN_IN_LINES)
}

function nameOf(value: unknown): string {
  return escaped(abridged(String(value), MAX_NAME), HIDDEN)
}

/** The beginning and the end of a long text: in a stack, the frames follow the message. */
function abridged(text: string, limit: number): string {
  const more = text.length - limit
  if (more <= 0) return text
  return `${text.slice(0, limit / 2)} … [${more} characters left out] … ${text.slice(-limit / 2)}`
}

/** A bounded copy of a value. It reads only what it copies, unlike JSON.stringify. */
function bounded(value: unknown, room: { left: number } = { left: MAX_VALUES }): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null)
    return value
  if (typeof value !== 'object') return nameOf(value)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  const isList = Array.isArray(value)
  const keys = Object.keys(isList ? value.slice(0, MAX_VALUES) : value)
  const shown: [string, unknown][] = []
  for (const key of keys) {
    if (room.left === 0) break
    room.left--
    shown.push([nameOf(key), bounded((value as JsonObject)[key], room)])
  }
  const more = (isList ? value.length : keys.length) - shown.length
  if (more > 0) shown.push(['…', `… [${more} more]`])
  return isList ? shown.map(([, item]) => item) : Object.fromEntries(shown)
}

/**
 * Logs to the console, which writes to stderr. The lines of an error are indented, so that text from a client cannot
 * pass for a message of its own.
 */
function reportToStderr(level: 'warning' | 'error', message: string, facts: JsonObject = {}): void {
  const { error, ...rest } = facts
  const lines = error === undefined ? [] : readableError(error as JsonObject).split('\n')
  const shown = [
    ...(Object.keys(rest).length === 0 ? [] : [rest]),
    ...(lines.length === 0 ? [] : [lines.map((line) => `\n    ${line}`).join('')]),
  ]
  // oxlint-disable-next-line no-console -- the default of the log option
  console.error('%s', `pierhead ${level}: ${message}`, ...shown)
}
