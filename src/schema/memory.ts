/** What zod and valibot make of a part of a value. Whoever gets it may change it. */
export interface Outcome {
  value: unknown
  issues?: Problem[] | undefined
}

interface Problem {
  path?: unknown[] | undefined
  readonly errors?: unknown
  readonly issues?: unknown
}

/** Checks a part. Zod and valibot pass the same context to all schemas during one check. */
export type Run = (part: Outcome, context: object) => Outcome | Promise<Outcome>

type Outcomes = Map<object, Outcome | Promise<Outcome>>

/** Remembers what schemas have made of the parts of a value, as long as its check goes on. */
export class Memory {
  readonly #checks = new WeakMap<object, Map<Run, Outcomes>>()

  /** Remembers outcomes from here on, until the context is gone. */
  from(run: Run): Run {
    return (part, context) => {
      // A schema that contains itself runs again within its own check, which must not forget what it knows.
      if (!this.#checks.has(context)) this.#checks.set(context, new Map())
      return run(part, context)
    }
  }

  /** Runs once for each object and list. Like the caches of the libraries, it shares the values that it has made. */
  once(run: Run): Run {
    return (part, context) => {
      const { value, issues } = part
      const check = this.#checks.get(context)
      if (check === undefined || typeof value !== 'object' || value === null || (issues?.length ?? 0) > 0)
        return run(part, context)
      let outcomes = check.get(run)
      if (outcomes === undefined) check.set(run, (outcomes = new Map()))
      const known = outcomes.get(value)
      if (known !== undefined)
        return 'then' in known
          ? known.then((late) => Object.assign(part, copyOf(late)))
          : Object.assign(part, copyOf(known))
      const outcome = run(part, context)
      outcomes.set(value, 'then' in outcome ? outcome.then(copyOf) : copyOf(outcome))
      return outcome
    }
  }
}

/**
 * Libraries lengthen the paths of problems that they pass on. What is wrong with each alternative, as zod and valibot call it, is told once:
 * the message of an error of zod has all of it.
 */
function copyOf(outcome: Outcome): Outcome {
  const issues = outcome.issues?.map((issue) => ({
    ...issue,
    path: issue.path && [...issue.path],
    ...(issue.errors !== undefined && { errors: [] }),
    ...(issue.issues !== undefined && { issues: undefined }),
  }))
  return { ...outcome, issues }
}
