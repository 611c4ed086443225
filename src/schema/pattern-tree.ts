/** The parts of a regular expression that affect matching time. A `group` captures what it matches. */
export type Tree =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'seq' | 'alt'; readonly parts: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly body: Tree; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly body: Tree; readonly behind: boolean }
  | { readonly kind: 'group'; readonly body: Tree }
  | { readonly kind: 'start' | 'end' | 'edge' }

/** Code points as sorted, inclusive pairs. */
export type Ranges = readonly (readonly [from: number, to: number])[]

const LAST = 0x10ffff
/** Every code point. */
export const ANY: Ranges = [[0, LAST]]
const NOT_NEWLINE: Ranges = invert([[10, 10], [13, 13], [0x2028, 0x2029]]) // oxfmt-ignore
const DIGIT: Ranges = [[48, 57]]
const WORD: Ranges = [[48, 57], [65, 90], [95, 95], [97, 122]] // oxfmt-ignore
const SPACE: Ranges = [[9, 13], [32, 32], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]] // oxfmt-ignore
const CONTROL: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, b: 8 }

/** How a regular expression of a library differs from a pattern of JSON Schema. */
export interface Reading {
  /** Its flags besides `u`. */
  readonly flags: string
  /** Whether `\p{…}` matches exactly what Unicode says, which takes some time to find out. Otherwise it matches anything. */
  readonly isExact: boolean
}

/** Parses a pattern that is known to compile; a string gives the reason why it cannot be analysed. */
export function parsePattern(source: string, unicode: boolean, reading?: Reading): Tree | string {
  try {
    return new Reader(source, unicode, reading).readAll()
  } catch (thrown) {
    if (thrown instanceof Unjudged) return thrown.message
    throw thrown
  }
}

const MAX_EDGES = 4
const MAX_ALL_EDGES = 16

/** One code point; two halves of a surrogate pair are one, too. */
const IN_UNICODE = /(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|[0-9a-f]{4}|\{[0-9a-f]+\})/iy
const HEX_2 = /[0-9a-f]{2}/iy
const HEX_4 = /[0-9a-f]{4}/iy
const OCTAL = /(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/y
const NUMBER = /\d+/y
/** Numbers may have any number of zeros before them. */
const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y

class Unjudged extends Error {}

class Reader {
  readonly #source: string
  readonly #points: readonly string[]
  /** Where each point is in the source, if some take two places; otherwise undefined. */
  readonly #places: readonly number[] | undefined
  readonly #unicode: boolean
  readonly #reading: Reading | undefined
  /** The bodies of capturing groups, by number; undefined until a group has been read. */
  readonly #groups: (Tree | undefined)[] = []
  #at = 0
  #depth = 0
  /** The number of word edges since the last character. */
  #edges = 0
  #allEdges = 0
  /** Whether the class being read has no more code points than the pattern says. */
  #isExact = true

  constructor(source: string, unicode: boolean, reading: Reading | undefined) {
    this.#source = source
    this.#points = Array.from(source)
    this.#places = this.#points.length === source.length ? undefined : placesOf(this.#points)
    this.#unicode = unicode
    this.#reading = reading
  }

  #has(flag: string): boolean {
    return this.#reading !== undefined && this.#reading.flags.includes(flag)
  }

  readAll(): Tree {
    if (!this.#unicode && this.#points.some((point) => point.length > 1)) {
      throw new Unjudged('it contains characters that need the Unicode flag, but does not compile with it')
    }
    const tree = this.#readAlternatives()
    if (this.#at < this.#points.length) throw new Unjudged('it could not be read to its end')
    // Classes match more here than they do without regard to case, so what this tree matches need not be a match.
    return this.#has('i') ? { kind: 'seq', parts: [tree, { kind: 'edge' }] } : tree
  }

  #readAlternatives(): Tree {
    if (++this.#depth > 100) throw new Unjudged('its groups are nested deeper than 100 levels')
    const parts = [this.#readSequence()]
    while (this.#take('|')) parts.push(this.#readSequence())
    this.#depth--
    return parts.length === 1 ? parts[0]! : { kind: 'alt', parts }
  }

  #readSequence(): Tree {
    const parts: Tree[] = []
    while (this.#at < this.#points.length && this.#peek() !== '|' && this.#peek() !== ')') {
      parts.push(this.#readRepeat(this.#readAtom()))
    }
    return { kind: 'seq', parts }
  }

  #readRepeat(body: Tree): Tree {
    const [min, max] = this.#readBounds() ?? [1, 1]
    this.#take('?')
    if (min === 1 && max === 1) return body
    return { kind: 'repeat', body, min, max }
  }

  #readBounds(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity]
    if (this.#take('+')) return [1, Infinity]
    if (this.#take('?')) return [0, 1]
    const [found, min, comma, max] = this.#ahead(BOUNDS) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    return [Number(min), Number(max || (comma === undefined ? min : Infinity))]
  }

  /** The text at the current place that a sticky expression matches; null if it does not match there. */
  #ahead(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#places === undefined ? this.#at : (this.#places[this.#at] ?? this.#source.length)
    return form.exec(this.#source)
  }

  #readAtom(): Tree {
    const point = this.#next()
    if (point === '(') return this.#readGroup()
    if (point === '^') return { kind: this.#has('m') ? 'edge' : 'start' }
    if (point === '$') return { kind: 'end' }
    if (point === '\\' && (this.#peek() === 'b' || this.#peek() === 'B')) return this.#readEdge()
    this.#edges = 0
    if (point === '[') return { kind: 'set', ranges: this.#readClass() }
    if (point === '.') return { kind: 'set', ranges: this.#has('s') ? ANY : NOT_NEWLINE }
    if (point !== '\\') return { kind: 'set', ranges: this.#folded(only(codeOf(point))) }
    if (/[1-9]/.test(this.#peek()) || (this.#peek() === 'k' && this.#peek(1) === '<'))
      return this.#readAgain()
    return { kind: 'set', ranges: this.#folded(this.#readEscape()) }
  }

  /** A back-reference: the text of a group is one that the group could match again, or nothing. */
  #readAgain(): Tree {
    const [number] = this.#ahead(NUMBER) ?? []
    const body = number === undefined ? undefined : this.#groups[Number(number) - 1]
    if (this.#reading === undefined || number === undefined || body === undefined)
      throw new Unjudged('it uses a back-reference')
    this.#at += number.length
    this.#edges = 0
    return { kind: 'seq', parts: [{ kind: 'edge' }, { kind: 'repeat', body, min: 0, max: 1 }] }
  }

  /** At least the code points that a class matches, if case does not matter. */
  #folded(ranges: Ranges): Ranges {
    return this.#has('i') ? fold(ranges) : ranges
  }

  /** Engines need exponential time to compile many adjacent word edges, and long for many others. */
  #readEdge(): Tree {
    this.#at++
    if (++this.#edges > MAX_EDGES) throw new Unjudged(`it has more than ${MAX_EDGES} word edges side by side`)
    if (++this.#allEdges > MAX_ALL_EDGES) throw new Unjudged(`it has more than ${MAX_ALL_EDGES} word edges`)
    return { kind: 'edge' }
  }

  #readGroup(): Tree {
    const opening = this.#take('?') ? this.#readOpening() : '('
    const number = opening === '(' ? this.#groups.push(undefined) : 0
    const body = this.#readAlternatives()
    if (!this.#take(')')) throw new Unjudged('a group has no end')
    if (opening === '(') {
      this.#groups[number - 1] = body
      return { kind: 'group', body }
    }
    return opening === '?:' ? body : { kind: 'look', body, behind: opening === '?<=' }
  }

  /** What a group is, told from the characters after `(?`. */
  #readOpening(): '(' | '?:' | '?=' | '?<=' {
    const mark = this.#next()
    if (mark === ':') return '?:'
    if (mark === '=' || mark === '!') return '?='
    if (mark !== '<') throw new Unjudged(`it uses the unknown group (?${mark}`)
    if (this.#take('=') || this.#take('!')) return '?<='
    while (this.#next() !== '>');
    return '('
  }

  #readClass(): Ranges {
    const negated = this.#take('^')
    this.#isExact = true
    const ranges: (readonly [number, number])[] = []
    while (!this.#take(']')) {
      const from = this.#readMember()
      if (this.#peek() === '-' && this.#peek(1) !== ']' && from.length === 1 && from[0]![0] === from[0]![1]) {
        this.#at++
        const to = this.#readMember()
        if (to.length === 1 && to[0]![0] === to[0]![1]) ranges.push([from[0]![0], to[0]![0]])
        else ranges.push(...from, [45, 45], ...to)
      } else ranges.push(...from)
    }
    const merged = merge(ranges)
    if (!negated) return this.#folded(merged)
    // The opposite of too many code points would be too few.
    return this.#isExact ? invert(merged) : ANY
  }

  #readMember(): Ranges {
    const point = this.#next()
    return point === '\\' ? this.#readEscape() : only(codeOf(point))
  }

  #readEscape(): Ranges {
    const point = this.#next()
    if (point === 'd') return DIGIT
    if (point === 'D') return invert(DIGIT)
    if (point === 'w') return WORD
    if (point === 'W') return invert(WORD)
    if (point === 's') return SPACE
    if (point === 'S') return invert(SPACE)
    if ((point === 'p' || point === 'P') && this.#unicode) {
      let property = `\\${point}`
      while (!property.endsWith('}')) property += this.#next()
      return this.#reading?.isExact === true ? rangesOf(property) : this.#atMost(ANY)
    }
    const control = CONTROL[point]
    if (control !== undefined) return only(control)
    if (point === 'c') return this.#readControl()
    if (point === 'x') return this.#readHex(HEX_2) ?? only(codeOf(point))
    if (point === 'u') return this.#readHex(this.#unicode ? IN_UNICODE : HEX_4) ?? only(codeOf(point))
    return only(/[0-7]/.test(point) ? this.#readOctal() : codeOf(point))
  }

  /** A code of up to three digits, the first of which was read. */
  #readOctal(): number {
    this.#at--
    const [digits] = this.#ahead(OCTAL)!
    this.#at += digits.length
    return Number.parseInt(digits, 8)
  }

  /** What an escape matches at most. */
  #atMost(ranges: Ranges): Ranges {
    this.#isExact = false
    return ranges
  }

  /** Without a letter behind it, `\c` is a backslash before a `c`. */
  #readControl(): Ranges {
    if (/^[a-z]$/i.test(this.#peek())) return only(codeOf(this.#next()) % 32)
    this.#at--
    return this.#atMost(ANY)
  }

  #readHex(form: RegExp): Ranges | undefined {
    const [found] = this.#ahead(form) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    const code = Number.parseInt(found.replace(/[{}]/g, ''), 16)
    // With the Unicode flag, what half a surrogate pair matches depends on the other half.
    return code >= 0xd800 && code <= 0xdfff ? this.#atMost([[0xd800, LAST]]) : only(code)
  }

  #peek(ahead = 0): string {
    return this.#points[this.#at + ahead] ?? ''
  }

  #next(): string {
    const point = this.#points[this.#at++]
    if (point === undefined) throw new Unjudged('it ends too early')
    return point
  }

  #take(point: string): boolean {
    if (this.#peek() !== point) return false
    this.#at++
    return true
  }
}

/** Where each point of a source begins. */
function placesOf(points: readonly string[]): readonly number[] {
  let place = 0
  return points.map((point) => {
    const own = place
    place += point.length
    return own
  })
}

function codeOf(point: string): number {
  return point.codePointAt(0) ?? 0
}

function only(code: number): Ranges {
  return [[code, code]]
}

function merge(ranges: readonly (readonly [number, number])[]): Ranges {
  const merged: [number, number][] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1)
    if (previous !== undefined && from <= previous[1] + 1) previous[1] = Math.max(previous[1], to)
    else merged.push([from, to])
  }
  return merged
}

function invert(ranges: Ranges): Ranges {
  const inverted: [number, number][] = []
  let next = 0
  for (const [from, to] of merge(ranges)) {
    if (from > next) inverted.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) inverted.push([next, LAST])
  return inverted
}

/** These code points and those that differ from them only in case, or more. Two letters of ASCII have relatives outside it. */
function fold(ranges: Ranges): Ranges {
  const found: (readonly [number, number])[] = [...ranges]
  const add = (from: number, to: number, by: number): void => {
    for (const range of ranges) {
      const [first, last] = [Math.max(range[0], from), Math.min(range[1], to)]
      if (first <= last) found.push([first + by, last + by])
    }
  }
  add(65, 90, 32)
  add(97, 122, -32)
  if (overlap(merge(found), [[75, 75], [83, 83]])) found.push([0x17f, 0x17f], [0x212a, 0x212a]) // oxfmt-ignore
  if (ranges.some(([, to]) => to > 127)) found.push([75, 75], [83, 83], [107, 107], [115, 115], [128, LAST])
  return merge(found)
}

const PROPERTIES = new Map<string, Ranges>()
const MAX_PROPERTIES = 100

/** The code points with a property such as `\p{L}`, found by asking the engine; and all halves of surrogate pairs. */
function rangesOf(property: string): Ranges {
  const known = PROPERTIES.get(property)
  if (known !== undefined) return known
  const expression = new RegExp(property, 'u')
  const ranges: [number, number][] = []
  for (let code = 0; code <= LAST; code++) {
    const isHalf = code >= 0xd800 && code <= 0xdfff
    if (!isHalf && !expression.test(String.fromCodePoint(code))) continue
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === code - 1) last[1] = code
    else ranges.push([code, code])
  }
  if (PROPERTIES.size >= MAX_PROPERTIES) PROPERTIES.clear()
  PROPERTIES.set(property, ranges)
  return ranges
}

/** Whether one code point is in both. */
export function overlap(left: Ranges, right: Ranges): boolean {
  let [i, j] = [0, 0]
  while (i < left.length && j < right.length) {
    const [a, b] = [left[i]!, right[j]!]
    if (a[0] <= b[1] && b[0] <= a[1]) return true
    if (a[1] < b[1]) i++
    else j++
  }
  return false
}
