import type { JsonObject } from '../protocol/jsonrpc.ts'
import { toPeerChecker, type Checked } from '../schema/raw-checker.ts'
import { sizeProblem, type PatternTime } from '../schema/peer-size.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { toAffordable } from './affordable.ts'

/** The outcome of a check; `unchecked` says why a value passed without one. */
export type PeerChecked = Checked & { readonly unchecked?: string }

/** Checks values against a schema from a server. Values that cannot be checked in bounded time pass. */
export type Check = (value: unknown) => Promise<PeerChecked>

const TOO_LONG = 'that would take too long'

/** Compiles a schema. An invalid schema, or one that is too slow to compile, lets every value pass. */
export function toCheck(schema: JsonObject, side: 'input' | 'output', time?: PatternTime): Check {
  try {
    const problem = sizeProblem(schema, time)
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
