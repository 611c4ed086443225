import { hostIn } from './host-in.ts'
import type { Issue } from './issue.ts'
import { namesIn } from './pieces.ts'

/** Fewer characters in all texts of a value never take long, whatever they are. */
const FEW_CHARS = 4096

/**
 * Parsing a host that is not ASCII, and sorting combining marks to normalise a text, takes about a nanosecond for each pair of characters.
 * So many pairs take less than a tenth of a second.
 */
const MOST_PAIRS = 2 ** 26

/** A run of so many marks is too long by itself. */
const MOST_RUN = 2 ** 13

/** Combining marks, and characters that become marks when a text is normalised. */
const MARK = /[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u
/** No mark is below. */
const FIRST_MARK = 0x300
/** Every so many characters are looked at to find runs of marks, and shorter runs do not count. */
const MARK_STEP = 32
/** The most marks in a row that writing systems need. */
const FEW_MARKS = 8

const LONG_HOST = 'begins like a URL whose host is too long: send a shorter one'
const MANY_MARKS = 'has too many combining marks in a row: send fewer'

/** Finds texts that built-in functions of libraries take the square of their length for: checks of URLs, and normalisation. */
export interface SlowTexts {
  /** A value with fewer characters need not be looked at. */
  readonly few: number
  problemOf(value: unknown): Issue | undefined
}

/** What a library may do with texts. */
export interface TextUse {
  /** How often it may parse the same text as a URL. */
  readonly urls: number
  /** Whether it may parse addresses as hosts of URLs. */
  readonly hasAddresses?: boolean | undefined
  /** Whether it looks into texts that are JSON. */
  readonly parsesJson: boolean
}

export function toSlowTexts(use: TextUse): SlowTexts {
  const times = Math.max(1, use.urls)
  return {
    few: FEW_CHARS / Math.sqrt(times),
    problemOf: (value) => {
      const walk = new Walk(times, use)
      const problem = walk.look(value)
      return problem === undefined ? undefined : { path: walk.path, problem }
    },
  }
}

class Walk {
  /** Where the walk is. It stays there when it finds a problem. */
  readonly path: PropertyKey[] = []
  readonly #times: number
  readonly #use: TextUse
  /** A value of our own may contain itself. */
  readonly #seen = new Set<object>()
  #left = MOST_PAIRS

  constructor(times: number, use: TextUse) {
    this.#times = times
    this.#use = use
  }

  look(part: unknown): string | undefined {
    if (typeof part === 'string') return this.#read(part)
    if (typeof part !== 'object' || part === null || this.#seen.has(part)) return undefined
    this.#seen.add(part)
    const names = namesIn(part)
    const { length } = names ?? (part as readonly unknown[])
    for (let at = 0; at < length; at++) {
      const step = names?.[at] ?? at
      const below = (part as Readonly<Record<PropertyKey, unknown>>)[step]
      // Most parts are numbers or short texts.
      if (!isWorthALook(below) && !isWorthALook(names?.[at])) continue
      this.path.push(step)
      const problem = (names === undefined ? undefined : this.#read(names[at]!)) ?? this.look(below)
      if (problem !== undefined) return problem
      this.path.pop()
    }
    return undefined
  }

  #read(text: string): string | undefined {
    if (text.length <= MARK_STEP) return undefined
    if (!this.#pay(this.#times * hostIn(text, this.#use.hasAddresses) ** 2)) return LONG_HOST
    if (!this.#payForMarks(text)) return MANY_MARKS
    return this.#use.parsesJson && /^\s*["[{]/.test(text) ? this.look(parsed(text)) : undefined
  }

  #payForMarks(text: string): boolean {
    for (let at = MARK_STEP; at < text.length; at += MARK_STEP) {
      // Both halves of a character beyond 16 bits are above.
      if (text.charCodeAt(at) < FIRST_MARK || !MARK.test(text.slice(at - 1, at + 2))) continue
      let end = at + 1
      while (end < text.length && end - at < MOST_RUN && isMark(text, end)) end++
      const run = end - at
      if (run > FEW_MARKS && !this.#pay((run + MARK_STEP) ** 2)) return false
      at += run - (run % MARK_STEP)
    }
    return true
  }

  #pay(pairs: number): boolean {
    this.#left -= pairs
    return this.#left >= 0
  }
}

function isWorthALook(part: unknown): boolean {
  return typeof part === 'string' ? part.length > MARK_STEP : typeof part === 'object'
}

/** Whether a character, or half of one, is a mark. */
function isMark(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < FIRST_MARK) return false
  const isSecondHalf = code >= 0xdc00 && code < 0xe000
  return MARK.test(isSecondHalf ? text.slice(at - 1, at + 1) : text.slice(at, at + 2))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
