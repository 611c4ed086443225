import { compile } from './compile.ts'
import { explain } from './explain.ts'
import { inspect } from './inspect.ts'
import { toLine, type Issue } from './issue.ts'
import type { Test } from './rule.ts'
import type { JsonSchema } from './schema.ts'
import { startCounting, TooCostly } from './work.ts'

/** The outcome of a check: the value as the schema returns it, or one line that says what is wrong. */
export type Checked<Out = unknown> = Fit<Out> | Unfit

export interface Fit<Out = unknown> {
  readonly ok: true
  readonly value: Out
  /** The estimated bytes of memory that the value takes, if it is a copy and many. */
  readonly bytes?: number
}

export interface Unfit {
  readonly ok: false
  readonly issue: string
  /** The first problem. */
  readonly first?: Issue | undefined
  /** Whether the check was given up because it would have taken too long. */
  readonly undecided?: boolean
}

/** A compiled schema, ready to be listed and to check values. It answers synchronously whenever it can. */
export interface Checker<Out = unknown> {
  readonly json: JsonSchema
  /** Checks a value. The check of a large value may end at many problems, to save memory: even results often repeat what a peer sent. */
  check(value: unknown): Checked<Out> | Promise<Checked<Out>>
}

/** Compiles a raw JSON Schema that a peer sent; throws a SchemaError if the schema is unusable. */
export function toPeerChecker(schema: unknown, use: 'input' | 'output'): Checker {
  return rawChecker(inspect(schema, use === 'input' ? { root: 'object' } : {}))
}

/** Whether a value fits a raw JSON Schema, as far as that can be found out in time. */
export function toFit(json: JsonSchema): (value: unknown) => boolean {
  let test: Test | undefined
  return (value) => {
    test ??= compile(json)
    startCounting()
    try {
      return test(value)
    } catch (thrown) {
      if (!(thrown instanceof TooCostly)) throw thrown
      return false
    }
  }
}

/** The checker of a raw JSON Schema that `inspect` accepts. */
export function rawChecker(json: JsonSchema): Checker {
  let test: Test | undefined
  return {
    json,
    check(value) {
      test ??= compile(json)
      startCounting()
      try {
        if (test(value)) return { ok: true, value }
      } catch (thrown) {
        if (!(thrown instanceof TooCostly)) throw thrown
        return { ...unfit(explain(json, value, thrown.message)), undecided: true }
      }
      return unfit(explain(json, value))
    },
  }
}

/** The outcome of a check that found these issues. */
export function unfit(issues: readonly Issue[]): Unfit {
  return { ok: false, issue: toLine(issues), first: issues[0] }
}
