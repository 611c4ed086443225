import type { SchemaLimits } from './inspect.ts'
import { MAX_ISSUES, type Issue } from './issue.ts'
import { isLarge, toLoose } from './loose.ts'
import { rawChecker, unfit, type Checked, type Checker } from './raw-checker.ts'
import type {
  AnySchema,
  JsonSchema,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './schema.ts'
import { isStandard, toShown, type Use } from './shown.ts'

export type { Checked, Checker, Unfit } from './raw-checker.ts'

/** Compiles a schema, once per use and limits; throws a SchemaError if the schema is unusable. */
export function toChecker<const S extends AnySchema>(
  schema: S,
  use: Use,
  limits?: SchemaLimits,
): Checker<OutputOf<S>> {
  const made = madeFor(limits)[use]
  const known = made.get(schema)
  if (known !== undefined) return known as Checker<OutputOf<S>>
  const json = toShown(schema, use, limits)
  const checker = isStandard(schema) ? standardChecker(schema, json) : rawChecker(json)
  made.set(schema, checker)
  return checker as Checker<OutputOf<S>>
}

type Made = { readonly [Side in Use]: WeakMap<object, Checker> }

const MADE = new Map<string, Made>()

function madeFor(limits: SchemaLimits | undefined): Made {
  const key = limits === undefined ? '' : `${limits.schemaDepth} ${limits.subschemas}`
  let made = MADE.get(key)
  if (made === undefined) MADE.set(key, (made = { input: new WeakMap(), output: new WeakMap() }))
  return made
}

/**
 * The checker of a schema of a library. Libraries collect every problem of a value, however many there are, so a large
 * value must first match the JSON Schema that clients see, whose check ends at the first problem.
 */
function standardChecker(schema: StandardSchema, json: JsonSchema): Checker {
  const standard = schema['~standard']
  let loose: Checker | undefined
  return {
    json,
    check(value) {
      if (isLarge(value)) {
        loose ??= rawChecker(toLoose(json))
        const checked = loose.check(value) as Checked
        if (!checked.ok) return checked
      }
      const result = standard.validate(value)
      return 'then' in result ? result.then(settle) : settle(result)
    },
  }

  function settle(result: StandardResult<unknown>): Checked {
    if (result.issues === undefined) return { ok: true, value: result.value }
    return unfit(result.issues.slice(0, MAX_ISSUES).map((issue) => readIssue(issue, standard.vendor)))
  }
}

function readIssue(issue: StandardIssue, vendor: string): Issue {
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step))
  let problem = issue.message
  const prefix = path.length === 0 ? '' : `${path.map(String).join('.')} `
  if (vendor === 'arktype' && problem.startsWith(prefix)) problem = problem.slice(prefix.length)
  if (vendor !== 'zod') return { path, problem }
  problem = problem.replace(/^Invalid input: /, '')
  const [, expected, came] = /^expected (\w+), received (\w+)$/.exec(problem) ?? []
  if (expected === undefined) return { path, problem }
  const got = came === 'undefined' ? undefined : came
  return { path, problem, expected, got }
}
