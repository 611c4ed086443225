import type { ClientEvents } from 'pierhead/client'
import { weigh } from '../base/weight.ts'
import { jsonStart } from './json-pieces.ts'
import { safeLine } from './safe-text.ts'

type LogMessage = ClientEvents['log']

/** The most bytes of a log message that is printed whole, and the characters that are left of a longer one. */
const LONGEST = 65_536
const LONGEST_LOGGER = 200

/** A log message as `watch` prints it in JSON. Of a very long one, only the beginning of its data is left, as a text. */
export function logValue(message: LogMessage): object {
  if (weigh(message, LONGEST) < LONGEST) return { kind: 'log', ...message }
  const { level, logger, data } = message
  const text = typeof data === 'string' ? data.slice(0, LONGEST) : jsonStart(data, LONGEST)
  return { kind: 'log', level, logger: logger?.slice(0, LONGEST_LOGGER), data: text, isClipped: true }
}

/** The same in a line for people. */
export function logLine({ level, data }: LogMessage): string {
  const text = typeof data === 'string' ? data : data === undefined ? '' : jsonStart(data, 2001)
  return `${safeLine(typeof level === 'string' ? level : '(no level)')} ${safeLine(text, 500)}`
}
