import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import type { Kind, KindsOf, RequiredKind } from './kinds.ts'
import { nearest } from './nearest.ts'

type Kinds = Readonly<
  Record<string, Kind<unknown> & Partial<Pick<RequiredKind<unknown>, 'required' | 'missing'>>>
>

/** Rejects unknown, unfit and missing options; `elsewhere` maps other libraries' names to ours. */
export function checkOptions<Options>(
  where: string,
  given: unknown,
  kinds: KindsOf<Options>,
  elsewhere?: ReadonlyMap<string, string>,
): void {
  const known = kinds as unknown as Kinds
  if (!isOptions(given)) throw noOptions(where, Object.keys(known))
  for (const name of Object.keys(given)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined
    if (kind === undefined) throw unknown(where, 'option', name, Object.keys(known), elsewhere?.get(name))
    const value = given[name]
    if (value !== undefined && !kind.is(value)) throw unfit(where, name, value, kind)
  }
  for (const name in known) {
    const kind = known[name]
    if (kind?.required === true && given[name] === undefined)
      throw badOption(where, kind.missing ?? `${name} is missing; it must be ${kind.must}`)
  }
}

/** Refuses options that are none of the names that are known, whatever their values. */
export function checkNames(where: string, given: unknown, known: readonly string[]): void {
  if (!isOptions(given)) throw noOptions(where, known)
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw unknown(where, 'option', name, known)
}

/** Rejects an unknown word and suggests the one that was probably meant. */
export function checkWord(where: string, what: string, word: string, known: readonly string[]): void {
  if (!known.includes(word)) throw unknown(where, what, String(word).slice(0, 64), known)
}

function isOptions(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function noOptions(where: string, known: readonly string[]): McpError {
  return badOption(where, `expected an object with options: ${known.join(', ')}`)
}

function unknown(
  where: string,
  what: string,
  word: string,
  known: readonly string[],
  other?: string,
): McpError {
  const meant = known.find((one) => one === other) ?? nearest(word, known)
  const remedy = meant === undefined ? `the ${what}s are ${known.join(', ')}` : `did you mean "${meant}"?`
  return badOption(where, `there is no ${what} "${word}"; ${remedy}`)
}

function unfit(where: string, name: string, value: unknown, kind: Kind<unknown>): McpError {
  const remedy = kind.write?.(name, value)
  const end = remedy === undefined ? `, not ${describe(value, kind)}` : `; ${remedy}`
  return badOption(where, `${name} must be ${kind.must}${end}`)
}

/** What was given. Of text only that it is one, where it may be a secret. */
function describe(value: unknown, { repeats = false }: Kind<unknown>): string {
  if (typeof value === 'string') return repeats ? JSON.stringify(value.slice(0, 64)) : 'a string'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}

function badOption(where: string, reason: string): McpError {
  return mcpError(BAD_OPTION, { where, reason })
}
