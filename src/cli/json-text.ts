const STOP = /["\\\n]/g

/** The end of the text in "" that begins at a place in JSON: after its last quote, or where its line ends without one. Regular expressions cannot do this for long texts. */
export function endOfText(json: string, start: number): number {
  for (let at = start + 1; ;) {
    STOP.lastIndex = at
    const found = STOP.exec(json)
    if (found === null) return json.length
    const char = found[0]
    if (char !== '\\') return char === '"' ? found.index + 1 : found.index
    at = found.index + 2
  }
}

const NUMBER = /-?\d[\d.eE+-]*/y

/** The numbers of a JSON document as they are written. */
export function* numbersIn(json: string): Generator<string> {
  const next = /["\d-]/g
  for (let found = next.exec(json); found !== null; found = next.exec(json)) {
    NUMBER.lastIndex = found.index
    const [number = ''] = found[0] === '"' ? [] : (NUMBER.exec(json) ?? [])
    if (number !== '') yield number
    next.lastIndex =
      found[0] === '"' ? endOfText(json, found.index) : found.index + Math.max(1, number.length)
  }
}
