import type { JsonObject } from '../protocol/jsonrpc.ts'
import { toPeerChecker, type Checked } from '../schema/raw-checker.ts'
import { provePattern } from '../schema/pattern.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { toAffordable } from './affordable.ts'

/** The outcome of a check; `unchecked` says why a value passed without one. */
export type PeerChecked = Checked & { readonly unchecked?: string }

/** Checks values against a schema from a server. Values that cannot be checked in bounded time pass. */
export type Check = (value: unknown) => Promise<PeerChecked>

/** Includes the names in lists such as `required`. */
const MAX_VALUES = 50_000
const MAX_PATTERNS = 500
/** Engines compare texts that are longer than this one by one. */
const LONG_TEXT = 16_383
const MAX_LONG = 20
const PATTERNS_MS = 500
/** Engines take up to a fifth of a millisecond to compile a part of a pattern. */
const MAX_PARTS = 5000

const TOO_LONG = 'that would take too long'

/** Compiles a schema. An invalid schema, or one that is too slow to compile, lets every value pass. */
export function toCheck(schema: JsonObject, side: 'input' | 'output'): Check {
  try {
    const problem = sizeProblem(schema)
    if (problem !== undefined) return pass(problem)
    const checker = toPeerChecker(schema, side)
    const isAffordable = toAffordable(checker.json)
    return async (value) => {
      if (!isAffordable(value)) return unchecked(value, TOO_LONG)
      try {
        const checked = await checker.check(value)
        return !checked.ok && checked.undecided === true ? unchecked(value, TOO_LONG) : checked
      } catch {
        // Recursive references can overflow the stack.
        return unchecked(value, 'it is nested too deep')
      }
    }
  } catch (error) {
    return pass(error instanceof SchemaError ? error.message.split('. ', 1)[0]! : String(error))
  }
}

function pass(reason: string): Check {
  return async (value) => unchecked(value, reason)
}

function unchecked(value: unknown, reason: string): PeerChecked {
  return { ok: true, value, unchecked: `${reason}. Check it yourself before you rely on it.` }
}

/** Says why a schema cannot be compiled within the time limit. */
function sizeProblem(schema: JsonObject): string | undefined {
  const found: Contents = { patterns: new Set(), values: 0, long: 0 }
  survey(schema, found)
  const { patterns, values, long } = found
  if (long > MAX_LONG)
    return `the schema has more than ${MAX_LONG} texts of more than ${LONG_TEXT} characters`
  if (values > MAX_VALUES) return `the schema has more than ${MAX_VALUES} values`
  if (patterns.size > MAX_PATTERNS) return `the schema has more than ${MAX_PATTERNS} patterns`
  const end = performance.now() + PATTERNS_MS
  let parts = 0
  for (const pattern of patterns) {
    if (performance.now() > end) return 'the patterns of the schema take too long to analyse'
    const verdict = provePattern(pattern)
    parts += verdict.cost === 'unsafe' ? 0 : verdict.parts
    if (parts > MAX_PARTS) return `the patterns of the schema have more than ${MAX_PARTS} parts`
  }
  return undefined
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
    const item = (value as JsonObject)[name]
    if (name === 'pattern' && typeof item === 'string') found.patterns.add(item)
    survey(item, found, name === 'patternProperties')
  }
}
