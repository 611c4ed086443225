import type { Expression } from './expression.ts'
import { MAX_URI_LENGTH } from './match.ts'
import type { UriTemplate } from './parse.ts'

/** Letters, digits and their like, with single dots between them: never a step that leaves a folder. */
const VALUE = '[\\w~-]+(?:\\.[\\w~-]+)*'
/** Text that decodes to itself, and cannot belong to the value before it. */
const AFTER_VALUE = /^[:/?#[\]@!$&'()*+,;=][^%]*$/

/**
 * A quick test for the URIs of a template. Where it succeeds, `match` does too, and no value has anything but letters, digits,
 * `~`, `-`, `_` and single dots between these. Where it fails, `match` decides.
 */
export function toPlainTest(template: UriTemplate): (uri: string) => boolean {
  const pattern = template.program === undefined ? undefined : toPattern(template)
  return pattern === undefined ? () => false : (uri) => uri.length <= MAX_URI_LENGTH && pattern.test(uri)
}

/** The pattern of the URIs of a template whose variables are all like `{a}`, with delimiters between them. */
function toPattern({ parts }: UriTemplate): RegExp | undefined {
  let source = ''
  for (const [at, part] of parts.entries()) {
    if (typeof part !== 'string') {
      if (!isPlain(part)) return undefined
      source += VALUE
    } else {
      if (at === 0 ? part.includes('%') : !AFTER_VALUE.test(part)) return undefined
      source += part.replace(/[^\w]/g, '\\$&')
    }
    if (at > 0 && typeof part === typeof parts[at - 1]) return undefined
  }
  return new RegExp(`^${source}$`)
}

function isPlain({ operator, variables: [first, ...more] }: Expression): boolean {
  return operator.symbol === '' && more.length === 0 && first?.explode === false && first.prefix === undefined
}
