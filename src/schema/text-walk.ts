import type { Issue } from './issue.ts'
import { pairsOfHosts, pairsOfMarks } from './text-pairs.ts'
import type { TextPlace, TextUse } from './text-place.ts'
import { PRICE, spend, startCounting, TOO_LONG, TooCostly, workDone } from './work.ts'

/** How many characters a text may have that a library parses or converts, unless a server says otherwise. */
export const PARSED_TEXT = 16_384

/**
 * What libraries may take for the texts of a value, in nanoseconds, about one for each pair of characters of a host: a tenth of a second, and a quarter of a
 * second for each million characters of the value, up to half a second. Where a library checks a value several times, it has a part of that for each time.
 */
const FEW_NANOSECONDS = 2 ** 26
const PER_CHAR = 256
const MOST_NANOSECONDS = 2 ** 29

/** A value that counts less is not looked at if its schema needs no look at all texts: every part counts like so many characters. */
const SMALL = 2 ** 16
const PART = 32
export const SMALL_PER_CHAR: number = FEW_NANOSECONDS / SMALL / 4

/** A digit of a big integer takes so long, and so many pairs of digits take a nanosecond. */
const PER_DIGIT = 16
const PAIRS_OF_DIGITS = 256

/** Below so much work, it does not matter how often a library checks a value. */
const LITTLE_WORK = 2 ** 22

/** How many characters normalised texts may have more than before, all together. */
const MOST_GROWN = 2 ** 23

/** How many parts of JSON in texts a library may check, more for a larger value, and how deep they may be. Each may be a problem, which takes up to eight microseconds. */
const FEW_STEPS = 40_000
const CHARS_PER_STEP = 8
const MOST_STEPS = 100_000
const MOST_LEVELS = 128
/** How many values JSON in texts may have, in all texts together: they are made, whether or not the library looks at them. */
const MOST_PARTS = 100_000

const MANY_PAIRS = 'takes too long to parse: send a shorter text'
const TOO_DEEP = `has JSON with more than ${MOST_LEVELS} levels`

/** A problem of one text. */
class BadText extends TooCostly {}

/** How a value is looked at. */
export interface Look {
  /** The most characters of a text that is parsed. */
  readonly most: number
  /** Whether a library checks a part again for each way that leads to it to such a place. */
  readonly repeats: (place: TextPlace) => boolean
  /** Whether lists need no look where objects are expected, nor objects where lists are, in what was parsed. */
  readonly skipsKinds: boolean
}

/** Finds a problem of a value that a library would take too long for. `timesOf` says how often it checks the whole value. */
export function textProblem(
  root: TextPlace,
  value: unknown,
  look: Look,
  timesOf: () => number,
): Issue | undefined {
  startCounting()
  const walk = new Walk(value, look, timesOf)
  try {
    walk.look(root, value)
    const work = workDone()
    if (work > LITTLE_WORK) spend((timesOf() - 1) * work)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof TooCostly)) throw thrown
    return { path: thrown instanceof BadText ? walk.path : [], problem: thrown.message }
  }
}

/** What a part has taken: nanoseconds of texts, and work. */
interface Taken {
  readonly paid: number
  readonly work: number
}

const NOTHING: Taken = { paid: 0, work: 0 }

class Walk {
  /** Where the walk is. It stays there when it finds a problem. */
  readonly path: PropertyKey[] = []
  readonly #value: unknown
  readonly #most: number
  readonly #repeats: Look['repeats']
  readonly #skipsKinds: boolean
  readonly #timesOf: () => number
  /** What each part has taken at places that it may get to in several ways. */
  readonly #seen = new Map<TextPlace, Map<object, Taken>>()
  #paid = 0
  #budget: number | undefined
  #size: Size | undefined
  #grown = 0
  /** Of what was parsed. */
  #steps = 0
  #parts = 0
  #level = 0

  constructor(value: unknown, { most, repeats, skipsKinds }: Look, timesOf: () => number) {
    this.#value = value
    this.#most = most
    this.#repeats = repeats
    this.#skipsKinds = skipsKinds
    this.#timesOf = timesOf
  }

  look(place: TextPlace, part: unknown): void {
    spend(PRICE.node)
    if (this.#level > 0) this.#count(1)
    if (typeof part === 'string') this.#lookAtText(place, part)
    else if (typeof part === 'object' && part !== null) this.#lookInside(place, part)
  }

  #lookInside(place: TextPlace, part: object): void {
    // What was parsed is counted as often as a library reads it.
    if (this.#level > 0 || !place.isShared) return this.#lookOnce(place, part)
    let parts = this.#seen.get(place)
    if (parts === undefined) this.#seen.set(place, (parts = new Map()))
    const taken = parts.get(part)
    if (taken !== undefined) {
      if (this.#repeats(place)) this.#repeat(taken)
      return
    }
    // A part that contains itself takes nothing more.
    parts.set(part, NOTHING)
    const [paid, work] = [this.#paid, workDone()]
    this.#lookOnce(place, part)
    parts.set(part, { paid: this.#paid - paid, work: workDone() - work })
  }

  #repeat({ paid, work }: Taken): void {
    this.#pay(paid, TOO_LONG)
    spend(work)
  }

  #lookOnce(place: TextPlace, part: object): void {
    if (place.use.coerces) this.#checkText(place.use, lengthAsText(part, this.#most), '')
    for (const each of place.here) this.look(each, part)
    this.#choose(place, part)
    if (this.#level > 0 && ++this.#level > MOST_LEVELS) throw new BadText(TOO_DEEP)
    if (this.#level === 0 || !this.#skipsKinds || !isOther(place, part)) this.#lookBelow(place, part)
    if (this.#level > 0) this.#level--
  }

  #lookBelow(place: TextPlace, part: object): void {
    if (Array.isArray(part)) this.#lookAtItems(place, part)
    else this.#lookAtMembers(place, part as Readonly<Record<string, unknown>>)
  }

  #choose({ choice }: TextPlace, part: object): void {
    if (choice === undefined) return
    const value = (part as Readonly<Record<string, unknown>>)[choice.name]
    for (const [constant, option] of choice.options)
      if (constant === undefined || constant === value) this.look(option, part)
  }

  #lookAtItems({ named, rest, declared }: TextPlace, list: readonly unknown[]): void {
    for (const [name, each] of named) {
      const at = Number(name)
      if (at < list.length) this.#step(each, list[at], at)
    }
    for (const each of rest)
      for (let at = 0; at < list.length; at++)
        if (declared.size === 0 || !declared.has(String(at))) this.#step(each, list[at], at)
  }

  #lookAtMembers(place: TextPlace, object: Readonly<Record<string, unknown>>): void {
    const { named, rest, names, declared, width } = place
    // Each member that is missing may be a problem.
    if (this.#level > 0 && width > 0) this.#count(Math.max(0, width - Object.keys(object).length))
    for (const [name, each] of named) if (Object.hasOwn(object, name)) this.#step(each, object[name], name)
    if (rest.length === 0 && names === undefined) return
    for (const name of Object.keys(object)) {
      spend(PRICE.name)
      if (declared.has(name)) continue
      if (names !== undefined) this.#step(names, name, name)
      for (const each of rest) this.#step(each, object[name], name)
    }
  }

  #step(place: TextPlace, part: unknown, name: PropertyKey): void {
    this.path.push(name)
    this.look(place, part)
    this.path.pop()
  }

  #lookAtText({ use, here, json, choice }: TextPlace, text: string): void {
    this.#checkText(use, text.length, text)
    if (json !== undefined) this.#lookAtJson(json, text)
    for (const each of here) this.look(each, text)
    for (const [, option] of choice?.options ?? []) this.look(option, text)
  }

  /** Checks a text, of which only the length may be known. */
  #checkText(use: TextUse, length: number, text: string): void {
    const isData = use.short === 'data' && /^data:/i.test(text)
    const mustBeShort = use.short !== false && !isData
    // A list may have many short texts.
    if (length > this.#most && (mustBeShort || (use.coerces && text === '')))
      throw new BadText(`must have at most ${this.#most} characters`)
    if (!use.isFree) this.#charge(use, length, text)
    if (use.splits) this.#pay(length * length)
    if (use.hosts && !isData) this.#pay(text === '' ? length * length : pairsOfHosts(text))
    if (use.marks) {
      this.#pay(pairsOfMarks(text))
      this.#normalize(use, text)
    }
    if (use.prices.length === 0) return
    const grown = use.growth > 1 && text !== '' && NOT_ASCII.test(text) ? length * use.growth : length
    for (const { limit, pay } of use.prices) {
      if (grown > limit)
        throw new BadText(`must have at most ${Math.floor((limit * length) / grown)} characters`)
      pay(grown)
    }
  }

  /** Pays for what grows with the length, and for big integers, which take the square of it. */
  #charge({ each, perChar, perWideChar, bigs }: TextUse, length: number, text: string): void {
    const isWide = perWideChar > perChar && NOT_ASCII.test(text)
    let nanoseconds = each + length * (isWide ? perWideChar : perChar)
    if (bigs > 0) nanoseconds += bigs * (PER_DIGIT * length + (length * length) / PAIRS_OF_DIGITS)
    this.#pay(nanoseconds, TOO_LONG)
  }

  /** Normalising may make a text many times as long, and its host with it. */
  #normalize({ hosts }: TextUse, text: string): void {
    if (!NOT_ASCII.test(text)) return
    const longest = text.normalize('NFKD')
    this.#grown += Math.max(0, longest.length - text.length)
    if (this.#grown > MOST_GROWN) throw new TooCostly(TOO_LONG)
    if (hosts) this.#pay(pairsOfHosts(longest))
  }

  #lookAtJson(json: TextPlace, text: string): void {
    this.#parts += partsIn(text)
    if (this.#parts > MOST_PARTS) throw new TooCostly(TOO_LONG)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return
    }
    this.#level++
    const { length } = this.path
    try {
      this.look(json, value)
    } finally {
      // The path within the text is not one of the value.
      this.path.length = length
    }
    this.#level--
  }

  #pay(nanoseconds: number, problem?: string): void {
    this.#paid += nanoseconds
    if (this.#paid <= LITTLE_WORK) return
    this.#budget ??=
      (FEW_NANOSECONDS + Math.min(PER_CHAR * this.#charsInAll(PART), MOST_NANOSECONDS)) / this.#timesOf()
    if (this.#paid <= this.#budget) return
    if (problem !== undefined) throw new TooCostly(problem)
    throw new BadText(MANY_PAIRS)
  }

  /** Counts steps of what was parsed. */
  #count(steps: number): void {
    this.#steps += steps
    if (this.#steps <= FEW_STEPS) return
    const most = Math.min(FEW_STEPS + this.#charsInAll(0) / CHARS_PER_STEP, MOST_STEPS)
    if (this.#steps > most) throw new TooCostly(TOO_LONG)
  }

  /** The characters of the value. Every part counts like some more. */
  #charsInAll(perPart: number): number {
    const { chars, parts } = (this.#size ??= sizeOf(this.#value))
    return chars + perPart * parts
  }
}

/** Whether a part is a list at a place for objects, or an object at one for lists. */
function isOther({ isList, isRecord }: TextPlace, part: object): boolean {
  return Array.isArray(part) ? isRecord : isList
}

/** How many values a JSON text may have: each but the first follows one of these characters. */
function partsIn(text: string): number {
  let count = 1
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === OPENED_LIST || char === OPENED_OBJECT || char === COMMA) count++
  }
  return count
}

const [OPENED_LIST, OPENED_OBJECT, COMMA] = [0x5b, 0x7b, 0x2c]

const NOT_ASCII = /[^\0-\x7f]/

/** Whether a value is so small that only texts that need a look can take long. */
export function isSmall(value: unknown): boolean {
  return weigh(value, SMALL) >= 0
}

/** Subtracts what a value counts from `left`; negative if that is more. */
function weigh(part: unknown, left: number): number {
  if (typeof part === 'string') return left - PART - part.length
  if (typeof part !== 'object' || part === null) return left - PART
  let rest = left - PART
  if (Array.isArray(part)) {
    for (let at = 0; at < part.length && rest >= 0; at++) rest = weigh(part[at], rest)
    return rest
  }
  for (const name of Object.keys(part)) {
    if (rest < 0) break
    rest = weigh((part as Readonly<Record<string, unknown>>)[name], rest - name.length)
  }
  return rest
}

interface Size {
  readonly chars: number
  readonly parts: number
}

/** The characters of all texts and names of a value, and its parts. It may contain a part several times, or itself. */
function sizeOf(value: unknown): Size {
  const known = new Map<object, Size>()
  return sizeIn(value)

  function sizeIn(part: unknown): Size {
    if (typeof part === 'string') return { chars: part.length, parts: 1 }
    if (typeof part !== 'object' || part === null) return SCALAR
    const seen = known.get(part)
    if (seen !== undefined) return seen
    known.set(part, SCALAR)
    let [chars, parts] = [0, 1]
    for (const name of Object.keys(part)) {
      const below = sizeIn((part as Readonly<Record<string, unknown>>)[name])
      chars += name.length + below.chars
      parts += below.parts
    }
    const size = { chars, parts }
    known.set(part, size)
    return size
  }
}

const SCALAR: Size = { chars: 0, parts: 1 }

/** The length of the text that `String` makes of a list or an object; more than `most` if it is longer. */
function lengthAsText(part: object, most: number): number {
  if (!Array.isArray(part)) return OBJECT.length
  let length = part.length
  for (let at = 0; at < part.length && length <= most; at++) {
    const item: unknown = part[at]
    if (typeof item === 'string') length += item.length
    else if (typeof item === 'object' && item !== null) length += lengthAsText(item, most - length)
    else length += NUMBER
  }
  return length
}

/** What `String` makes of an object, and how long a number is at most. */
const OBJECT = '[object Object]'
const NUMBER = 24
