import { escapeHidden, slicesOf } from '../base/safe-json.ts'

/** An object or list whose members are being written; a list has no names. */
interface Level {
  readonly inner: Readonly<Record<string, unknown>>
  readonly names: readonly string[] | undefined
  readonly count: number
  at: number
  isEmpty: boolean
}

/**
 * The JSON of a parsed value in pieces, each with at most one name and one value that is not an object or list. Unlike `JSON.stringify`, it
 * needs no text that grows with the value, and no value is nested too deeply for it. Each level is indented by so many spaces, if any.
 */
export function* jsonPieces(value: unknown, indent: number = 0): Generator<string, void, undefined> {
  const levels: Level[] = []
  const begin = (inner: unknown): string => {
    if (
      typeof inner !== 'object' ||
      inner === null ||
      typeof (inner as { readonly toJSON?: unknown }).toJSON === 'function'
    )
      return JSON.stringify(inner) ?? 'null'
    const names = Array.isArray(inner) ? undefined : Object.keys(inner)
    const count = names?.length ?? (inner as readonly unknown[]).length
    levels.push({ inner: inner as Level['inner'], names, count, at: 0, isEmpty: true })
    return names === undefined ? '[' : '{'
  }
  const line = (): string => (indent === 0 ? '' : `\n${' '.repeat(indent * levels.length)}`)
  yield begin(value)
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { inner, names, count, isEmpty } = level
    const at = level.at++
    if (at >= count) {
      levels.pop()
      yield `${isEmpty ? '' : line()}${names === undefined ? ']' : '}'}`
      continue
    }
    const name = names?.[at]
    const member = inner[name ?? at]
    if (name !== undefined && member === undefined) continue
    const label = name === undefined ? '' : `${JSON.stringify(name)}:${indent === 0 ? '' : ' '}`
    const start = `${isEmpty ? '' : ','}${line()}${label}`
    level.isEmpty = false
    yield start + begin(member)
  }
}

/** The same in pieces of at most about 400,000 characters that are safe on a terminal. Escaping one takes some milliseconds. */
export function* safeJsonPieces(value: unknown, indent: number = 0): Generator<string, void, undefined> {
  let text = ''
  for (const piece of jsonPieces(value, indent)) {
    text += piece
    if (text.length < PIECE) continue
    for (const slice of slicesOf(text)) yield escapeHidden(slice)
    text = ''
  }
  if (text !== '') yield escapeHidden(text)
}

/** About how many characters are escaped, or written, at once. */
export const PIECE = 65_536

/** The beginning of the JSON of a value, without the rest. */
export function jsonStart(value: unknown, most: number, indent: number = 0): string {
  let text = ''
  for (const piece of jsonPieces(value, indent)) {
    text += piece.slice(0, most - text.length)
    if (text.length >= most) break
  }
  return text
}
