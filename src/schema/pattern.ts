import { toAutomaton, TOO_LARGE, type Automaton } from './automaton.ts'
import { costOf, type CostCurve } from './pattern-cost.ts'
import { parsePattern, type Reading, type Tree } from './pattern-tree.ts'
import { TooMuchWork, type Work } from './text-graph.ts'
import { spend, TooCostly } from './work.ts'

/** What a pattern can cost a backtracking matcher; unsafe if that is too much already for short strings. */
export type PatternCost =
  | {
      readonly cost: 'linear' | 'superlinear'
      readonly unicode: boolean
      readonly curve: CostCurve
      /** The number of characters that it names, with repeated ones written out, and many for each `\p`; compiling takes time for each. */
      readonly parts: number
    }
  | { readonly cost: 'unsafe'; readonly reason: string }

/** The most steps that matching one string may take, a fraction of a second. */
const MAX_STEPS = 2 ** 25
/** A pattern that may take more than MAX_STEPS for a string of this length is unsafe. */
const MIN_LENGTH = 256
/** The longest pattern that is read. */
export const MAX_SOURCE = 2000
/** The most work that the analysis itself may take. */
const MAX_WORK = 1_000_000

/** Proves how the time of a backtracking matcher grows with the length of the string, for all strings. */
export function provePattern(source: string): PatternCost {
  if (source.length > MAX_SOURCE) return unsafe(`it is longer than ${MAX_SOURCE} characters`)
  return once(source, () => prove(source, compiles(source, 'u')))
}

/**
 * Proves the same for a regular expression that a library matches, as far as it shows it. Its flags are undefined if they are unknown.
 * It may have back-references.
 */
export function proveExpression(source: string, flags?: string): PatternCost {
  if (source.length > MAX_SOURCE) return unsafe(`it is longer than ${MAX_SOURCE} characters`)
  return once(`/${source}/${flags ?? '?'}`, () => {
    const unicode = flags === undefined ? compiles(source, 'u') : /[uv]/.test(flags)
    if (flags?.includes('v') === true && !compiles(source, 'u')) return unsafe('it needs the flag v')
    const cost = prove(source, unicode, { flags: flags ?? '', isExact: false })
    if (cost.cost !== 'unsafe' || !unicode || !/\\p/i.test(source)) return cost
    return prove(source, unicode, { flags: flags ?? '', isExact: true })
  })
}

function once(key: string, find: () => PatternCost): PatternCost {
  const known = PROVEN.get(key)
  if (known !== undefined) return known
  if (PROVEN.size >= MAX_PROVEN) PROVEN.clear()
  const cost = find()
  PROVEN.set(key, cost)
  return cost
}

const PROVEN = new Map<string, PatternCost>()
const MAX_PROVEN = 1000

function prove(source: string, unicode: boolean, reading?: Reading): PatternCost {
  if (!unicode && !compiles(source, '')) return unsafe('it is not a regular expression')
  const tree = parsePattern(source, unicode, reading)
  if (typeof tree === 'string') return unsafe(tree)
  const best = analyse(tree)
  if (typeof best === 'string') return unsafe(best)
  const { curve } = best
  const parts = best.parts + PARTS_PER_PROPERTY * (source.split(/\\p/i).length - 1)
  return { cost: curve.slope === undefined ? 'superlinear' : 'linear', unicode, curve, parts }
}

/** A class such as `\p{L}` has up to a thousand ranges, and engines write a repeated one out a few times. */
const PARTS_PER_PROPERTY = 25

/** Patterns that may begin anywhere, with properties or characters beyond 16 bits, which are two units each. */
const SEARCHED = /^(?!\^[^|]*$)[^]*(?:\\[pu]|[^\0-\ud7ff])/i

/**
 * The expression for a pattern. To skip places where no match can begin, engines combine the ranges of the first characters, which takes minutes for
 * eight classes such as `\p{L}`. They do not if the expression itself reads what is before the match.
 */
function toExpression(source: string, unicode: boolean): RegExp {
  return new RegExp(unicode && SEARCHED.test(source) ? `^[^]*?(?:${source})` : source, unicode ? 'u' : '')
}

/** Repeats up to the first number are written out; if that does not show that the pattern is linear, up to the second. */
const COPIES = [16, 128] as const

interface Analysis {
  readonly curve: CostCurve
  readonly parts: number
}

function analyse(tree: Tree): Analysis | string {
  let best: Analysis | string = TOO_LARGE
  for (const copies of COPIES) {
    const automaton = toAutomaton(tree, copies)
    const found = typeof automaton === 'string' ? automaton : measure(automaton)
    if (typeof best === 'string') best = found
    else if (typeof found !== 'string' && found.curve.limit > best.curve.limit) best = found
    const isExact = typeof automaton !== 'string' && !automaton.isWidened
    if (isExact || (typeof best !== 'string' && best.curve.slope !== undefined)) break
  }
  return best
}

function measure(automaton: Automaton): Analysis | string {
  const work: Work = { left: MAX_WORK }
  try {
    const curve = costOf(automaton, MAX_STEPS, work)
    if (curve.limit >= MIN_LENGTH) return { curve, parts: automaton.reads.length }
    if (work.left <= 0) return TOO_LARGE
    const length = Math.max(1, curve.limit + 1)
    return `its parts can match the same text in several ways, so that a string of ${length} characters may take more than ${MAX_STEPS} steps`
  } catch (thrown) {
    if (thrown instanceof TooMuchWork) return TOO_LARGE
    throw thrown
  }
}

/** Says whether a text matches; throws TooCostly if finding out may take too many steps. */
export interface Matcher {
  /** The longest text that is matched. */
  readonly limit: number
  test(text: string): boolean
}

/** Steps per character that cost no more than reading the message. */
const FREE_STEPS = 32
/** One in so many of these counts nevertheless, because several patterns may read the same text. */
const FREE_SHARE = 2

/** The matcher of a pattern that provePattern allows. */
export function toMatcher(source: string): Matcher {
  const verdict = provePattern(source)
  if (verdict.cost === 'unsafe') return { limit: Infinity, test: () => false }
  const { limit, pay } = toPrice(verdict.curve)
  const expression = toExpression(source, verdict.unicode)
  return {
    limit,
    test(text) {
      if (text.length > limit)
        throw new TooCostly(`has a string of more than ${limit} characters for the pattern ${source}`)
      pay(text.length)
      try {
        return expression.test(text)
      } catch (thrown) {
        // The engine ran out of memory for places to return to.
        throw new TooCostly('has a string that is too long for its pattern', { cause: thrown })
      }
    },
  }
}

/** What matching a text costs. */
export interface Price {
  /** The longest text that may be matched. */
  readonly limit: number
  /** Counts the work for a text of a length up to the limit; throws TooCostly if all texts together take too much. */
  pay(length: number): void
}

/** The price of a pattern with this cost. Its limit is Infinity if it takes no longer than reading the text. */
export function toPrice(curve: CostCurve): Price {
  const limit = curve.slope !== undefined && curve.slope <= FREE_STEPS ? Infinity : curve.limit
  return {
    limit,
    pay(length) {
      const steps = curve.steps(length)
      const units = Math.max(steps / FREE_SHARE, steps - FREE_STEPS * length)
      spend(units, 'has too many long strings for its patterns')
    },
  }
}

function unsafe(reason: string): PatternCost {
  return { cost: 'unsafe', reason }
}

function compiles(source: string, flags: string): boolean {
  try {
    RegExp(source, flags)
    return true
  } catch {
    return false
  }
}
