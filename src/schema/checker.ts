import { toDirectTest, type Test } from './direct.ts'
import { explain } from './explain.ts'
import { toLine, type Issue } from './issue.ts'
import type {
  AnySchema,
  JsonSchema,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './schema.ts'
import { isStandard, toShown, type Use } from './shown.ts'

/** What became of a value: as the schema delivers it, or one line that says what is wrong. */
export type Checked<Out = unknown> =
  | { readonly ok: true; readonly value: Out }
  | { readonly ok: false; readonly issue: string }

/** A schema that is ready to be shown and to check values. It answers at once whenever it can. */
export interface Checker<Out = unknown> {
  readonly json: JsonSchema
  check(value: unknown): Checked<Out> | Promise<Checked<Out>>
}

/** Makes the checker of a schema, once for each side; a schema that cannot be served is a SchemaError. */
export function toChecker<const S extends AnySchema>(schema: S, use: Use): Checker<OutputOf<S>> {
  const made = MADE[use].get(schema)
  if (made !== undefined) return made as Checker<OutputOf<S>>
  const json = toShown(schema, use)
  const checker = isStandard(schema) ? standardChecker(schema, json) : rawChecker(json)
  MADE[use].set(schema, checker)
  return checker as Checker<OutputOf<S>>
}

const MADE: { readonly [Side in Use]: WeakMap<object, Checker> } = {
  input: new WeakMap(),
  output: new WeakMap(),
}

function standardChecker(schema: StandardSchema, json: JsonSchema): Checker {
  const standard = schema['~standard']
  return {
    json,
    check(value) {
      const result = standard.validate(value)
      return 'then' in result ? result.then(settle) : settle(result)
    },
  }

  function settle(result: StandardResult<unknown>): Checked {
    if (result.issues === undefined) return { ok: true, value: result.value }
    return { ok: false, issue: toLine(result.issues.map((issue) => readIssue(issue, standard.vendor))) }
  }
}

function readIssue(issue: StandardIssue, vendor: string): Issue {
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step))
  let problem = issue.message
  const prefix = path.length === 0 ? '' : `${path.map(String).join('.')} `
  if (vendor === 'arktype' && problem.startsWith(prefix)) problem = problem.slice(prefix.length)
  if (vendor === 'zod') problem = problem.replace(/^Invalid input: /, '')
  return { path, problem }
}

function rawChecker(json: JsonSchema): Checker {
  let test: Test | undefined
  let tried = false
  return {
    json,
    check(value) {
      if (!tried) {
        test = toDirectTest(json)
        tried = true
      }
      return test === undefined ? compileAndCheck(value) : verdict(test, value)
    },
  }

  async function compileAndCheck(value: unknown): Promise<Checked> {
    const { compile } = await load()
    test ??= compile(json)
    return verdict(test, value)
  }

  function verdict(known: Test, value: unknown): Checked {
    return known(value) ? { ok: true, value } : { ok: false, issue: toLine(explain(json, value)) }
  }
}

interface Full {
  readonly compile: (schema: unknown) => Test
}

let loading: Promise<Full> | undefined

/** The full validator costs more to load than most schemas need, so it waits for the first that does. */
function load(): Promise<Full> {
  loading ??= import('./typebox.ts')
  return loading
}
