/** An object or list whose members are being written; a list has no names. */
interface Level {
  readonly inner: Readonly<Record<string, unknown>>
  readonly names: readonly string[] | undefined
  readonly count: number
  at: number
}

/**
 * The JSON of a parsed value in pieces, each with at most one name and one value that is not an object or list. Unlike `JSON.stringify`, it
 * needs no text that grows with the value, and no value is nested too deeply for it.
 */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  const levels: Level[] = []
  const begin = (inner: unknown): string => {
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner) ?? 'null'
    const names = Array.isArray(inner) ? undefined : Object.keys(inner)
    const count = names?.length ?? (inner as readonly unknown[]).length
    levels.push({ inner: inner as Level['inner'], names, count, at: 0 })
    return names === undefined ? '[' : '{'
  }
  yield begin(value)
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { inner, names, count } = level
    const at = level.at++
    if (at === count) {
      levels.pop()
      yield names === undefined ? ']' : '}'
      continue
    }
    const name = names?.[at]
    const label = name === undefined ? '' : `${JSON.stringify(name)}:`
    yield `${at === 0 ? '' : ','}${label}${begin(inner[name ?? at])}`
  }
}

/** The beginning of the JSON of a value, without the rest. */
export function jsonStart(value: unknown, most: number): string {
  let text = ''
  for (const piece of jsonPieces(value)) {
    text += piece.slice(0, most - text.length)
    if (text.length >= most) break
  }
  return text
}
