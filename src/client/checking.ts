import type { JsonObject } from '../protocol/jsonrpc.ts'
import { toPeerChecker, type Checked, type Checker } from '../schema/raw-checker.ts'
import { entriesOf } from '../schema/keywords.ts'
import { provePattern } from '../schema/pattern.ts'
import { isAffordable } from './affordable.ts'

/** Checks values against a schema from a server. Values that cannot be checked in bounded time pass. */
export type Check = (value: unknown) => Promise<Checked>

const MAX_PATTERNS = 500
const PATTERNS_MS = 500

/** Compiles a schema. An invalid schema, or one that is too slow to compile, lets every value pass. */
export function toCheck(schema: JsonObject, side: 'input' | 'output'): Check {
  try {
    if (!hasQuickPatterns(schema)) return pass
    const checker = toPeerChecker(schema, side)
    return async (value) => (isAffordable(checker.json, value) ? tryCheck(checker, value) : pass(value))
  } catch {
    return pass
  }
}

async function pass(value: unknown): Promise<Checked> {
  return { ok: true, value }
}

async function tryCheck(checker: Checker, value: unknown): Promise<Checked> {
  try {
    return await checker.check(value)
  } catch {
    // Recursive references can overflow the stack.
    return pass(value)
  }
}

/** Whether the patterns of a schema can be analysed within the time limit. */
function hasQuickPatterns(schema: JsonObject): boolean {
  const patterns = new Set<string>()
  collect(schema, patterns)
  if (patterns.size > MAX_PATTERNS) return false
  const end = performance.now() + PATTERNS_MS
  for (const pattern of patterns) {
    if (performance.now() > end) return false
    provePattern(pattern)
  }
  return true
}

function collect(value: unknown, patterns: Set<string>): void {
  if (typeof value !== 'object' || value === null || patterns.size > MAX_PATTERNS) return
  for (const [name, item] of entriesOf(value)) {
    if (name === 'pattern' && typeof item === 'string') patterns.add(item)
    if (name === 'patternProperties') for (const [pattern] of entriesOf(item ?? {})) patterns.add(pattern)
    collect(item, patterns)
  }
}
