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

/** V8 keeps members whose names are numbers in a list, as long as its gaps, and it, are not longer than this; or if a table would take as much. */
const LONGEST_GAP = 1024
const LONGEST_LIST = 5000
const TABLE_FACTOR = 9
/** The bytes of a place in such a list. */
const SLOT = 8

/** The bytes of the list that V8 makes when these names, which are sorted, are added to an object one after another; 0 if it makes a table. */
export function slotBytes(names: readonly string[]): number {
  let length = 0
  let used = 0
  for (const name of names) {
    const index = Number(name)
    // Numbers come first. The others are ordinary names.
    if (String(index) !== name || !Number.isInteger(index)) break
    used++
    if (index < length) continue
    if (index - length >= LONGEST_GAP) return 0
    length = index + 1 + ((index + 1) >>> 1) + 16
    if (length > LONGEST_LIST && length >= TABLE_FACTOR * 2 ** Math.ceil(Math.log2(used * 1.5))) return 0
  }
  return length * SLOT
}

/** The bytes of an object whose contents are not in its members; undefined if it is another one. */
function contentBytes(value: object, add: (each: unknown) => void): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (!(value instanceof Map || value instanceof Set)) return undefined
  for (const [key, item] of value.entries()) {
    add(key)
    add(item)
  }
  return value.size * MEMBER
}

/**
 * The names of a parsed object. `Object.keys` is faster where objects share their names, because V8 remembers them for each shape of
 * objects. Where all names differ, that takes half as much memory again as the objects.
 */
export function namesOnce(object: object): readonly string[] {
  return Reflect.ownKeys(object) as readonly string[]
}

/** Weighs a parsed value that is kept: what V8 would remember to read its names faster is left out. */
export function weighKept(value: unknown, most?: number): number {
  return weigh(value, most, false, namesOnce)
}

/**
 * Estimates the memory of a JSON value in bytes, based on measurements of the most expensive shapes. Stops at `most`,
 * because a value may contain itself. Not recursive, because the nesting of messages may be unlimited. The objects of a copy were
 * made member by member, which takes much more memory than parsing if their names are numbers.
 */
export function weigh(
  value: unknown,
  most: number = Infinity,
  isCopy: boolean = false,
  namesOf: (object: object) => readonly string[] = Object.keys,
): number {
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
      const inside = isCopy ? contentBytes(at, add) : undefined
      if (inside !== undefined) {
        sum += inside
        continue
      }
      // Reading the names takes the longest in a large object, so its values are not read from another list.
      const names = namesOf(at)
      // Names that are numbers, which come first, have a table of their own.
      if (/^\d/.test(names[0] ?? '')) sum += isCopy ? 3 * COMPOUND + slotBytes(names) : COMPOUND
      for (const name of names) {
        if (sum > most) return most
        sum += MEMBER + textBytes(name)
        add((at as Readonly<Record<string, unknown>>)[name])
      }
    }
  }
  return Math.min(sum, most)
}
