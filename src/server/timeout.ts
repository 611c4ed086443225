import { LONGEST_MS } from '../base/duration.ts'

/** Waits for work up to a limit; after that, `stop` says what happens instead, and how the work ends no longer matters. */
export function withTimeout<Value>(
  ms: number,
  work: Value | Promise<Value>,
  stop: () => Value,
): Value | Promise<Value> {
  if (!(work instanceof Promise) || ms > LONGEST_MS) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve((async () => stop())()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
