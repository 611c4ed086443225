import { EXIT } from './exit.ts'
import { Failure, failureOf } from './failure.ts'
import type { Io } from './io.ts'

/** What programs say of a variable that they need. */
const COMPLAINT =
  /\b(?:not (?:set|found|defined|provided)|unset|missing|required?|must be|undefined|provide)\b/i
/** The name of a variable. Codes of errors look alike. */
const NAME = /\b(?!ERR_)[A-Z][A-Z\d]*_[A-Z\d_]{1,60}\b/

/** The failure of a program that did not start, with the way to give it the variable that it says it misses. */
export function withVariableHint(thrown: unknown, env: Io['env']): unknown {
  const { message, exit } = failureOf(thrown)
  if (exit !== EXIT.unreachable) return thrown
  const [name] = message.split('\n').flatMap((line) => (COMPLAINT.test(line) && NAME.exec(line)) || [])
  if (name === undefined) return thrown
  const hint = env[name]
    ? `${name} is set here, but programs get only variables without secrets. If it may have this one, pass it on: --env ${name}`
    : `Set the variable for it: --env ${name}=value, or "env" in its configuration.`
  return new Failure(message, { hint, exit, cause: thrown })
}
