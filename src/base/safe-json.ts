import { hiddenOr } from './hidden-text.ts'

const UNSAFE = hiddenOr(String.raw`[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]`)
const PRINTABLE = /^[\n -~]*$/

/** How many characters are escaped at once: a longer text would need the memory for all its escapes together. */
const SLICE = 65_536

/** JSON that is safe on a terminal too: what a terminal could obey or would not show is escaped, which JSON allows in strings. */
export function safeJson(value: unknown, indent?: number): string {
  let safe = ''
  for (const slice of slicesOf(JSON.stringify(value, undefined, indent) ?? 'null'))
    safe += escapeHidden(slice)
  return safe
}

/** JSON, or a part of it, with an escape for each hidden character. */
export function escapeHidden(json: string): string {
  if (PRINTABLE.test(json)) return json
  return json.replace(UNSAFE, (char) =>
    char.length === 1 ? escapeOf(char, 0) : escapeOf(char, 0) + escapeOf(char, 1),
  )
}

/** The escapes that were needed so far, by their code units. */
const ESCAPES: string[] = []

function escapeOf(char: string, at: number): string {
  const unit = char.charCodeAt(at)
  return (ESCAPES[unit] ??= `\\u${unit.toString(16).padStart(4, '0')}`)
}

/** What belongs to the character before it, such as the second half of one, or a selector. */
const JOINED = /[\udc00-\udfff]|[\ufe0e\ufe0f]|\u20e3/
/** The most code units of a character with a selector. */
const MOST_JOINED = 4

/** A text in slices. Characters stay whole, since half of one would be escaped. */
export function* slicesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + SLICE)
    for (let back = 0; back < MOST_JOINED && JOINED.test(text[end] ?? ''); back++) end--
    yield text.slice(start, end)
    start = end
  }
}
