/** The bytes of an empty object or list. */
const COMPOUND = 64
/** The bytes of any other value; a string adds its characters. */
const LEAF = 24
/** The bytes of an object's member, without its name and value. Objects that share their names take less, but a peer need not send such objects. */
const MEMBER = 48

/** The bytes of a text in memory: one per character, or two per character if any is beyond Latin-1. */
export function textBytes(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length
}

/**
 * Estimates the memory of a JSON value in bytes, based on measurements of the most expensive shapes. Stops at `most`,
 * because a value may contain itself. Not recursive, because the nesting of messages may be unlimited.
 */
export function weigh(value: unknown, most: number = Infinity): number {
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
    if (Array.isArray(at))
      for (const item of at as unknown[]) {
        if (sum > most) return most
        add(item)
      }
    else {
      // Reading the names takes the longest in a large object, so its values are not read from another list.
      const names = Object.keys(at)
      // Names that are numbers, which come first, have a table of their own.
      if (/^\d/.test(names[0] ?? '')) sum += COMPOUND
      for (const name of names) {
        if (sum > most) return most
        sum += MEMBER + textBytes(name)
        add((at as Readonly<Record<string, unknown>>)[name])
      }
    }
  }
  return Math.min(sum, most)
}
