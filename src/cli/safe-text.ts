import { hiddenOr } from '../base/hidden-text.ts'
import { escaped } from '../errors/printable.ts'

export { safeJson } from '../base/safe-json.ts'

/** Characters that nobody sees, or that change what a terminal shows: controls, directions, zero width, fillers, selectors, and halves of characters. */
const UNSAFE = hiddenOr(String.raw`(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`)

/** The longest text of a server that a terminal shows. */
const LONGEST = 1_000_000

/** Makes text of a server safe to print: a terminal shows it, and obeys none of it. Line breaks and tabs stay. */
export function safe(text: string): string {
  const cut =
    text.length > LONGEST
      ? `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters; use --json for all of it`
      : text
  return escaped(cut, UNSAFE)
}

/** The same in one line of at most so many characters. */
export function safeLine(text: string, most: number = 200): string {
  const line = safe(text.slice(0, most * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** The largest part of a question or a description that people read on a terminal. */
const LONGEST_MESSAGE = 10_000
const MOST_LINES = 100

/** The beginning of a message of a server, safe to print, and short enough for a screen. */
export function safeMessage(text: string): string {
  const start = safe(text.slice(0, LONGEST_MESSAGE))
  const lines = start.split('\n')
  const shown = lines.slice(0, MOST_LINES).join('\n').slice(0, LONGEST_MESSAGE)
  const isWhole = text.length <= LONGEST_MESSAGE && shown.length === start.length
  return isWhole ? shown : `${shown}\n… (the rest of ${text.length} characters is not shown)`
}
