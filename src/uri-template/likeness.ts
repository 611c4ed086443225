import { encode, readUnits } from './characters.ts'
import { expand } from './expand.ts'
import { OPERATORS, type Expression, type Operator, type Part } from './expression.ts'
import { looseSpelling, type Without } from './loose.ts'
import { match, toSubject, type Subject } from './match.ts'
import type { UriTemplate } from './parse.ts'
import { compile } from './program.ts'
import type { Work } from './reach.ts'

/** The loose spellings of a URI, to be compared with any number of templates. */
export interface Likeness {
  readonly whole: Subject
  /** Without the port. */
  readonly portless: Subject
  /** Without port, query and fragment. */
  readonly bare: Subject
}

/** Reads the loose spellings of a URI. */
export function toLikeness(uri: string): Likeness {
  const spelt = (without: Without): Subject => toLooseSubject(looseSpelling(uri, without))
  return { whole: spelt('nothing'), portless: spelt('port'), bare: spelt('port and rest') }
}

/**
 * Whether a template has the URI, in any of its loose spellings. A variable that takes no `/` takes an encoded one, so it may have the URI
 * of a template with more steps; that counts only if `other`, the template that would serve the URI, takes the encoded spelling too.
 */
export function resembles(
  template: UriTemplate,
  likeness: Likeness,
  other: UriTemplate,
  work: Work,
): boolean {
  const loose = toLoose(template)
  const { whole } = likeness
  const bare = likeness[loose.bareAs]
  work.steps++
  if (!begins(loose.whole, whole) && !begins(loose.bare, bare)) return false
  const exact = (): boolean =>
    loose.whole.some((one) => match(one, whole, work)) || loose.bare.some((one) => match(one, bare, work))
  return exact() || isMerged(template, whole, bare, { other, work })
}

function isMerged(
  template: UriTemplate,
  whole: Subject,
  bare: Subject,
  { other, work }: { readonly other: UriTemplate; readonly work: Work },
): boolean {
  const { wide, wideBare } = toLoose(template)
  const takes = (one: UriTemplate, subject: Subject): boolean => {
    const values = match(one, subject, work)
    if (values === undefined) return false
    const joined = Object.entries(values).map(([name, value]) => [name, joinFor(template, name, value)])
    const merged = toSubject(
      expand(template, Object.fromEntries(joined) as Record<string, string | string[]>),
    )
    return merged !== undefined && match(other, merged, work) !== undefined
  }
  return wide.some((one) => takes(one, whole)) || wideBare.some((one) => takes(one, bare))
}

/** The value of a variable that is a list only in the wide form of its template. */
function joinFor({ parts }: UriTemplate, name: string, value: string | string[]): string | string[] {
  const isList = parts.some(
    (part) => typeof part !== 'string' && part.variables.some((one) => one.name === name && one.explode),
  )
  return typeof value === 'string' || isList ? value : value.join('/')
}

/** Forms of a template that match loose spellings. */
interface Loose {
  readonly whole: readonly UriTemplate[]
  readonly bare: readonly UriTemplate[]
  /** The spelling of a URI that is compared with `bare`: a query in the text of a template counts. */
  readonly bareAs: 'bare' | 'portless'
  /** The same, where variables also take a `/`. */
  readonly wide: readonly UriTemplate[]
  readonly wideBare: readonly UriTemplate[]
}

const LOOSE = new WeakMap<UriTemplate, Loose>()

function toLoose(template: UriTemplate): Loose {
  const known = LOOSE.get(template)
  if (known !== undefined) return known
  const { parts } = template
  // From here on, what there is may be absent or in any order.
  const end = parts.findIndex((part) => typeof part !== 'string' && (part.operator.named || isFragment(part)))
  const head = end < 0 ? parts : parts.slice(0, end)
  const tails: readonly Part[][] = end < 0 ? [[]] : [[], toTail((parts[end] as Expression).operator)]
  const hasRest = head.some((part) => typeof part === 'string' && /[?#]/.test(part))
  const without = hasRest ? 'port' : 'port and rest'
  const form = (isWide: boolean, isBare: boolean, tail: readonly Part[]): UriTemplate =>
    toForm(template, [...respelt(isWide ? head.map(widened) : head, isBare ? without : 'nothing'), ...tail])
  const forms = (isWide: boolean): [UriTemplate[], UriTemplate[]] => [
    tails.map((tail) => form(isWide, false, tail)),
    (hasRest ? tails : [[]]).map((tail) => form(isWide, true, tail)),
  ]
  const [[whole, bare], [wide, wideBare]] = [forms(false), forms(true)]
  const loose: Loose = { whole, bare, bareAs: hasRest ? 'portless' : 'bare', wide, wideBare }
  LOOSE.set(template, loose)
  return loose
}

function toForm(template: UriTemplate, parts: readonly Part[]): UriTemplate {
  return { ...template, parts, program: compile(parts) }
}

const ANY = OPERATORS.get('+') as Operator
const TAIL: Expression = {
  operator: ANY,
  variables: [{ name: 'any-tail', explode: false, prefix: undefined }],
}

function toTail({ first }: Operator): Part[] {
  return [encodeLoosely(first), TAIL]
}

function isFragment({ operator }: Expression): boolean {
  return operator.symbol === '#'
}

/** The same part, with variables that also take a `/`. */
function widened(part: Part): Part {
  if (typeof part === 'string') return part
  const { operator, variables } = part
  if (operator.symbol === '') return { operator: ANY, variables }
  const last = variables.at(-1)
  if (operator.symbol !== '/' || last?.prefix !== undefined) return part
  return { operator, variables: variables.map((one) => (one === last ? { ...one, explode: true } : one)) }
}

/** The first of the private characters that stand for expressions while the text around them is spelt loosely. */
const FIRST_MARK = 0xe000

function respelt(parts: readonly Part[], without: Without): Part[] {
  const marked = parts.map((part, nth) =>
    typeof part === 'string' ? part : String.fromCharCode(FIRST_MARK + nth),
  )
  const pieces = looseSpelling(marked.join(''), without).split(/(\p{Co})/u)
  return pieces
    .filter((piece) => piece !== '')
    .map((piece) => {
      const part = parts[piece.charCodeAt(0) - FIRST_MARK]
      return part === undefined || typeof part === 'string' ? encodeLoosely(piece) : part
    })
}

/** Encodes all delimiters but `/`, so that variables take them however they were written. */
function encodeLoosely(text: string): string {
  return encode(text, false).replaceAll('%2F', '/')
}

function toLooseSubject(loose: string): Subject {
  const units = readUnits(encodeLoosely(loose)) ?? { chars: [], kinds: new Uint8Array() }
  return { units, text: units.chars.join('') }
}

function begins(forms: readonly UriTemplate[], { text }: Subject): boolean {
  return forms.some(({ program }) => {
    const first = program?.steps[0]
    return first?.kind !== 'text' || text.startsWith(first.text)
  })
}
