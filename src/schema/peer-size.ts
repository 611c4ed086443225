import { provePattern } from './pattern.ts'

/** Includes the names in lists such as `required`. */
const MAX_VALUES = 50_000
const MAX_PATTERNS = 500
/** Engines compare texts that are longer than this one by one. */
const LONG_TEXT = 16_383
const MAX_LONG = 20
const PATTERNS_MS = 500
/** How much of the time comes back in each millisecond. */
const REFILL = 0.05
/** Engines take up to a fifth of a millisecond to compile a part of a pattern. */
const MAX_PARTS = 5000

/** The time for the patterns of a peer: how many milliseconds were left, and when. It comes back slowly. */
export interface PatternTime {
  left: number
  at: number
}

/** The problem of a schema whose patterns were not analysed, because the time for them was over. */
export const TOO_SLOW = 'the patterns of the schema take too long to analyse'

/** Says why a schema that a peer sent cannot be compiled within the time limit. Schemas of one peer share the time for their patterns. */
export function sizeProblem(
  schema: object,
  time: PatternTime = { left: PATTERNS_MS, at: 0 },
): string | undefined {
  const found: Contents = { patterns: new Set(), values: 0, long: 0 }
  survey(schema, found)
  const { patterns, values, long } = found
  if (long > MAX_LONG)
    return `the schema has more than ${MAX_LONG} texts of more than ${LONG_TEXT} characters`
  if (values > MAX_VALUES) return `the schema has more than ${MAX_VALUES} values`
  if (patterns.size > MAX_PATTERNS) return `the schema has more than ${MAX_PATTERNS} patterns`
  const began = performance.now()
  const left = Math.min(PATTERNS_MS, time.left + (began - time.at) * REFILL)
  let parts = 0
  let problem: string | undefined
  for (const pattern of patterns) {
    if (performance.now() > began + left) problem = TOO_SLOW
    else {
      const verdict = provePattern(pattern)
      parts += verdict.cost === 'unsafe' ? 0 : verdict.parts
      if (parts > MAX_PARTS) problem = `the patterns of the schema have more than ${MAX_PARTS} parts`
    }
    if (problem !== undefined) break
  }
  time.at = performance.now()
  time.left = left - (time.at - began)
  return problem
}

/** What is in a schema, in whatever place. */
interface Contents {
  readonly patterns: Set<string>
  values: number
  /** How many texts are long. */
  long: number
}

function survey(value: unknown, found: Contents, namesPatterns = false): void {
  if (typeof value === 'string' && value.length > LONG_TEXT) found.long++
  if (
    typeof value !== 'object' ||
    value === null ||
    found.long > MAX_LONG ||
    found.patterns.size > MAX_PATTERNS
  )
    return
  const names = Array.isArray(value) ? [] : Object.keys(value)
  found.values += Array.isArray(value) ? value.length : names.length
  if (found.values > MAX_VALUES) return
  if (Array.isArray(value)) for (const item of value) survey(item, found)
  for (const name of names) {
    if (namesPatterns) found.patterns.add(name)
    const item = (value as Readonly<Record<string, unknown>>)[name]
    if (name === 'pattern' && typeof item === 'string') found.patterns.add(item)
    survey(item, found, name === 'patternProperties')
  }
}
