import { encode, ENCODED, kindOf, UNRESERVED } from './characters.ts'
import { expand } from './expand.ts'
import { OPERATORS, type Expression, type Operator, type Part } from './expression.ts'
import {
  countEmptySteps,
  looseSpelling,
  NOTHING,
  PORT,
  REST,
  withFirstSlash,
  type LooseUri,
} from './loose.ts'
import { match, subjectOf, toSubject, type Subject } from './match.ts'
import type { UriTemplate } from './parse.ts'
import { compile } from './program.ts'
import { spend, type Work } from './reach.ts'

/** The steps of work for each character of a URI of which a template reads the values again. */
const PER_MERGED = 16

/** The steps of work to compare a template. */
const PER_TEMPLATE = 80

/** The loose spellings of a URI, to be compared with any number of templates. */
export class Likeness {
  readonly #uri: LooseUri
  readonly #subjects = new Map<string, Subject>()
  readonly #known: (Subject | undefined)[] = []
  /** The template that would serve the URI. */
  readonly by: UriTemplate
  /** Whether variables may be empty: the URI has empty steps that the template does not have itself. */
  readonly hasEmptySteps: boolean

  constructor(uri: LooseUri, by: UriTemplate) {
    this.#uri = uri
    this.by = by
    this.hasEmptySteps = uri.emptySteps > countEmptySteps(by.text)
  }

  /** The same object for the same spelling. */
  subject(without: number, isEmptiable: boolean): Subject {
    const key = without * 2 + Number(isEmptiable)
    return (this.#known[key] ??= this.#read(without, isEmptiable))
  }

  #read(without: number, isEmptiable: boolean): Subject {
    const usual = this.#uri.spelling(without)
    const spelling = isEmptiable ? withFirstSlash(usual) : usual
    let subject = this.#subjects.get(spelling)
    if (subject === undefined) this.#subjects.set(spelling, (subject = toLooseSubject(spelling)))
    return subject
  }
}

/**
 * Whether a template has the URI, in any of its loose spellings. A variable that takes no `/` takes an encoded one, so it may have the URI
 * of a template with more steps; that counts only if the template that would serve the URI takes the encoded spelling too.
 */
export function resembles(template: UriTemplate, likeness: Likeness, work: Work): boolean {
  return (
    resemblesForm(template, likeness, work, false) ||
    (likeness.hasEmptySteps && resemblesForm(template, likeness, work, true))
  )
}

function resemblesForm(template: UriTemplate, likeness: Likeness, work: Work, isEmptiable: boolean): boolean {
  spend(work, PER_TEMPLATE)
  const loose = toLoose(template, isEmptiable)
  const whole = likeness.subject(NOTHING, isEmptiable)
  const bare = likeness.subject(loose.without, isEmptiable)
  const has = (form: Form, subject: Subject): boolean =>
    begins(form.exact, subject) && takes(template, form, subject, { other: likeness.by, work })
  return (
    loose.whole.some((form) => has(form, whole)) ||
    loose.bare.some((form) => (bare !== whole || !loose.whole.includes(form)) && has(form, bare))
  )
}

function takes(
  template: UriTemplate,
  { exact, wide }: Form,
  subject: Subject,
  { other, work }: { readonly other: UriTemplate; readonly work: Work },
): boolean {
  // Whatever the exact form takes, the wide one takes too.
  const values = match(wide ?? exact, subject, work)
  if (values === undefined) return false
  if (wide === undefined || match(exact, subject, work) !== undefined) return true
  spend(work, subject.text.length * PER_MERGED)
  const joined = Object.entries(values).map(([name, value]) => [name, joinFor(template, name, value)])
  const merged = toSubject(expand(template, Object.fromEntries(joined) as Record<string, string | string[]>))
  // One that is too long to be read counts, too.
  return merged === undefined || match(other, merged, work) !== undefined
}

/** The value of a variable that is a list only in the wide form of its template. */
function joinFor({ parts }: UriTemplate, name: string, value: string | string[]): string | string[] {
  const isList = parts.some(
    (part) => typeof part !== 'string' && part.variables.some((one) => one.name === name && one.explode),
  )
  return typeof value === 'string' || isList ? value : value.join('/')
}

/** A template that matches loose spellings. */
interface Form {
  readonly exact: UriTemplate
  /** The same, where variables also take a `/`; undefined if they all do. */
  readonly wide: UriTemplate | undefined
}

interface Loose {
  readonly whole: readonly Form[]
  readonly bare: readonly Form[]
  /** What does not count in the URIs that are compared with `bare`: a query in the text of a template does. */
  readonly without: number
}

const LOOSE = new WeakMap<UriTemplate, Loose>()
/** Those whose variables may be empty. They have a slash before their first step. */
const EMPTIABLE = new WeakMap<UriTemplate, Loose>()

function toLoose(template: UriTemplate, isEmptiable: boolean): Loose {
  const kept = isEmptiable ? EMPTIABLE : LOOSE
  const known = kept.get(template)
  if (known !== undefined) return known
  const { parts } = template
  // From here on, what there is may be absent or in any order.
  const end = parts.findIndex((part) => typeof part !== 'string' && (part.operator.named || isFragment(part)))
  const head = end < 0 ? parts : parts.slice(0, end)
  const tails: readonly Part[][] = end < 0 ? [[]] : [[], toTail((parts[end] as Expression).operator)]
  const hasRest = head.some((part) => typeof part === 'string' && /[?#]/.test(part))
  const without = hasRest ? PORT : PORT | REST
  const spelt = (what: number): readonly Part[] => {
    const pieces = respelt(head, what, isEmptiable)
    return isEmptiable ? emptiable(pieces) : pieces
  }
  const forms = new Map<string, Form>()
  const toForm = (pieces: readonly Part[]): Form => {
    const key = JSON.stringify(pieces)
    const form = forms.get(key) ?? { exact: withParts(template, pieces), wide: widened(template, pieces) }
    forms.set(key, form)
    return form
  }
  const whole = tails.map((tail) => toForm([...spelt(NOTHING), ...tail]))
  const bare = (hasRest ? tails : [[]]).map((tail) => toForm([...spelt(without), ...tail]))
  const loose: Loose = { whole, bare, without }
  kept.set(template, loose)
  return loose
}

function withParts(template: UriTemplate, parts: readonly Part[]): UriTemplate {
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

/** The form whose variables also take a `/`; undefined if they all do. */
function widened(template: UriTemplate, parts: readonly Part[]): UriTemplate | undefined {
  const wide = parts.map(widenedPart)
  return wide.every((part, nth) => part === parts[nth]) ? undefined : withParts(template, wide)
}

function widenedPart(part: Part): Part {
  if (typeof part === 'string') return part
  const { operator, variables } = part
  if (operator.symbol === '') return { operator: ANY, variables }
  const last = variables.at(-1)
  if (operator.symbol !== '/' || last?.prefix !== undefined || last?.explode === true) return part
  return { operator, variables: variables.map((one) => (one === last ? { ...one, explode: true } : one)) }
}

const STEPS = OPERATORS.get('/') as Operator

/** The same parts, where variables that are whole steps may be empty, so that there is no step. */
function emptiable(parts: readonly Part[]): readonly Part[] {
  const isStep = (nth: number): boolean => {
    const [before, part, after = '/'] = [parts[nth - 1], parts[nth], parts[nth + 1]]
    if (
      typeof part !== 'object' ||
      part.variables.length > 1 ||
      !['', '+', '/'].includes(part.operator.symbol)
    )
      return false
    return (
      typeof before === 'string' &&
      before.endsWith('/') &&
      typeof after === 'string' &&
      /^(?:\/|%3F|%23)/.test(after)
    )
  }
  return parts.flatMap((part, nth): Part[] => {
    if (typeof part !== 'string') return [isStep(nth) ? asSteps(part) : part]
    const text = isStep(nth + 1) ? part.slice(0, -1) : part
    return text === '' ? [] : [text]
  })
}

/** An expression with its slash. */
function asSteps({ operator, variables }: Expression): Expression {
  const explode = operator.keepReserved
  return { operator: STEPS, variables: variables.map((one) => ({ ...one, explode: explode || one.explode })) }
}

/** The first of the private characters that stand for expressions while the text around them is spelt loosely. */
const FIRST_MARK = 0xe000

function respelt(parts: readonly Part[], without: number, isEmptiable: boolean): Part[] {
  const marked = parts.map((part, nth) =>
    typeof part === 'string' ? part : String.fromCharCode(FIRST_MARK + nth),
  )
  const spelling = looseSpelling(marked.join(''), without)
  return (isEmptiable ? withFirstSlash(spelling) : spelling)
    .split(/(\p{Co})/u)
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

/** What a loose spelling would be read as if it were encoded. */
function toLooseSubject(loose: string): Subject {
  const text = loose.replace(/\p{Surrogate}/gu, '\uFFFD')
  const units = new Int32Array(text.length)
  let count = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    const kind = kindOf(code)
    units[count++] = code | (char === '/' || kind === UNRESERVED ? kind : ENCODED)
  }
  return subjectOf(units.subarray(0, count), text)
}

function begins({ program }: UriTemplate, { text }: Subject): boolean {
  const first = program?.steps[0]
  return first?.kind !== 'text' || text.startsWith(first.text)
}
