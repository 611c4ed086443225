import { isObject } from '../protocol/jsonrpc.ts'

/** The most arguments in a request for a prompt or completion, unless more are declared. */
const MOST_ARGUMENTS = 1000

/** Says what is wrong with the arguments of a prompt or template, which are strings; undefined if nothing is. */
export function argumentsOddity(given: unknown, declared: readonly string[]): string | undefined {
  const names = isObject(given) ? Object.keys(given) : undefined
  const most = Math.max(MOST_ARGUMENTS, declared.length)
  if (names !== undefined && names.length > most) return `has more than ${most} members`
  const areStrings = names?.every((name) => typeof (given as Record<string, unknown>)[name] === 'string')
  return areStrings === true ? undefined : 'must be an object of strings'
}
