import { hiddenOr } from '../base/hidden-text.ts'
import { escapeHidden } from '../base/safe-json.ts'
import { escaped } from '../errors/printable.ts'
import { jsonStart } from './json-pieces.ts'

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

/** The same for a value of a server, as JSON. */
export function safeJsonStart(value: unknown): string {
  const start = jsonStart(value, LONGEST + 1, 2)
  return escapeHidden(
    start.length > LONGEST ? `${start.slice(0, LONGEST)}\n… use --json for all of it` : start,
  )
}

/** The texts of many values, one after the other, as far as they are not longer together than the longest text that is shown. */
export function safeTexts<Value>(
  values: readonly Value[],
  textOf: (value: Value) => string,
  between: string = '\n',
): string {
  const texts: string[] = []
  let length = 0
  for (const [at, value] of values.entries()) {
    if (length >= LONGEST) {
      texts.push(`… ${values.length - at} more parts; use --json for all of it`)
      break
    }
    const text = textOf(value)
    texts.push(text)
    // Pictures begin with an escape, which texts of servers do not contain.
    if (!text.startsWith('\u001b')) length += text.length + between.length
  }
  return texts.join(between)
}

/** The same in one line of at most so many characters. An ellipsis ends a line that was cut off, so that the beginning of a secret is found there. */
export function safeLine(text: string, most: number = 200): string {
  const start = text.slice(0, most * 4)
  const line = safe(start).replaceAll(/\s+/g, ' ').trim()
  const isWhole = line.length <= most && start.length === text.length
  return isWhole ? line : `${line.slice(0, most - 1)}…`
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
