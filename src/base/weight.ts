/** What an object or a list takes, without what is in it. */
const COMPOUND = 64
/** What any other value takes, without the characters of a string. */
const LEAF = 24
/** What a member takes, without its name and value; less where many objects have the same names, which no peer must do. */
const MEMBER = 48

/** What the characters of a text take in memory, in bytes: one each, or two if any is beyond Latin-1. */
export function textBytes(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length
}

/**
 * What a JSON value takes in memory, in bytes: measured, and for the shapes that take the most. Stops at `most`, because
 * a value may contain itself. Not recursive, because the nesting of messages may be unlimited.
 */
export function weigh(value: unknown, most: number = Number.POSITIVE_INFINITY): number {
  let sum = 0
  const open: object[] = []
  const add = (each: unknown): void => {
    if (typeof each === 'object' && each !== null) {
      open.push(each)
      sum += COMPOUND
    } else sum += typeof each === 'string' ? LEAF + textBytes(each) : LEAF
  }
  add(value)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const names = Array.isArray(at) ? [] : Object.keys(at)
    // Names that are numbers, which come first, have a table of their own.
    if (/^\d/.test(names[0] ?? '')) sum += COMPOUND
    for (const name of names) sum += MEMBER + textBytes(name)
    for (const item of Array.isArray(at) ? (at as unknown[]) : Object.values(at)) {
      if (sum > most) return most
      add(item)
    }
  }
  return Math.min(sum, most)
}
