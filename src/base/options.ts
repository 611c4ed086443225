import { isObject } from '../protocol/jsonrpc.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import type { Kind, KindsOf, RequiredKind } from './kinds.ts'
import { nearest } from './nearest.ts'

type Kinds = Readonly<
  Record<string, Kind<unknown> & Partial<Pick<RequiredKind<unknown>, 'required' | 'missing'>>>
>

/** Rejects unknown, unfit and missing options; `aliases` maps other libraries' names to ours, or to what to write instead. */
export function checkOptions<Options>(
  where: string,
  given: unknown,
  kinds: KindsOf<Options>,
  aliases?: ReadonlyMap<string, string>,
): void {
  const known = kinds as unknown as Kinds
  if (!isObject(given)) throw notAnObject(where, Object.keys(known))
  for (const name of Object.keys(given)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined
    if (kind === undefined) throw unknownWord(where, 'option', name, Object.keys(known), aliases?.get(name))
    const value = given[name]
    if (value !== undefined && !kind.is(value)) throw unfit(where, name, value, kind)
  }
  for (const name in known) {
    const kind = known[name]
    if (kind?.required === true && given[name] === undefined)
      throw badOption(where, kind.missing ?? `${name} is missing; it must be ${kind.must}`, `Add ${name}.`)
  }
}

/** Rejects options in a second argument of a function that takes them in the first, instead of the text that `first` is for. */
export function rejectSecond(where: string, first: string, second: object | undefined): void {
  if (second === undefined) return
  const names = [first, ...Object.keys(second)].join(', ')
  throw badOption(where, `${where} takes one argument; write ${where}({ ${names} })`)
}

/** Rejects unknown option names; values are not checked. */
export function checkNames(where: string, given: unknown, known: readonly string[]): void {
  if (!isObject(given)) throw notAnObject(where, known)
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw unknownWord(where, 'option', name, known)
}

/** Rejects an unknown word and suggests the one that was probably meant. */
export function checkWord(where: string, what: string, word: string, known: readonly string[]): void {
  if (!known.includes(word)) throw unknownWord(where, what, String(word).slice(0, 64), known)
}

function notAnObject(where: string, known: readonly string[]): McpError {
  return badOption(where, `expected an object with options: ${known.join(', ')}`)
}

function unknownWord(
  where: string,
  what: string,
  word: string,
  known: readonly string[],
  alias?: string,
): McpError {
  if (alias?.includes(' ') === true) return badOption(where, `there is no ${what} "${word}"; ${alias}`)
  const meant =
    known.find((one) => one === alias) ?? nearest(word, known) ?? known.find((one) => one.startsWith(word))
  const remedy = meant === undefined ? `the ${what}s are ${known.join(', ')}` : `did you mean "${meant}"?`
  return badOption(where, `there is no ${what} "${word}"; ${remedy}`, meant && `Write ${meant}.`)
}

function unfit(where: string, name: string, value: unknown, kind: Kind<unknown>): McpError {
  const remedy = kind.write?.(name, value)
  const end = remedy === undefined ? `, not ${describe(value, kind)}` : `; ${remedy}`
  return badOption(where, `${name} must be ${kind.must}${end}`)
}

/** Describes a value. Strings are shown only if they cannot be secret. */
function describe(value: unknown, { repeats = false }: Kind<unknown>): string {
  if (typeof value === 'string') return repeats ? JSON.stringify(value.slice(0, 64)) : 'a string'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** The error for a wrong option or argument, with a hint where it can say more than the message. */
export function badOption(where: string, reason: string, hint?: string): McpError {
  return mcpError(BAD_OPTION, { where, reason }, { hint })
}
