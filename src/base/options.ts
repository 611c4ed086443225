import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { nearest } from './nearest.ts'

/** Rejects unknown options and suggests the one that was probably meant; `elsewhere` maps other libraries' names to ours. */
export function checkOptions(
  where: string,
  given: unknown,
  allowed: readonly string[],
  elsewhere?: ReadonlyMap<string, string>,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const reason = `expected an object with options: ${allowed.join(', ')}`
    throw mcpError(BAD_OPTION, { where, reason })
  }
  for (const name of Object.keys(given)) {
    if (!allowed.includes(name)) throw unknown(where, 'option', name, allowed, elsewhere?.get(name))
  }
}

/** Rejects an unknown word and suggests the one that was probably meant. */
export function checkWord(where: string, what: string, word: string, known: readonly string[]): void {
  if (!known.includes(word)) throw unknown(where, what, String(word).slice(0, 64), known)
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
  return mcpError(BAD_OPTION, { where, reason: `there is no ${what} "${word}"; ${remedy}` })
}
