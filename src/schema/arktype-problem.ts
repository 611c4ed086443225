import { pathText } from './issue.ts'
import type { StandardIssue } from './schema.ts'

/** An error of arktype. It makes `expected`, `actual`, `problem` and `message` when they are read. */
interface ArkError extends StandardIssue {
  readonly code: string
  readonly data: unknown
  readonly path: readonly PropertyKey[]
  /** What the author of the schema configured. */
  readonly meta?: { readonly expected?: unknown; readonly actual?: unknown }
  /** The errors of the alternatives, or several at one place. */
  readonly errors?: readonly ArkError[]
  /** The same, with those of an alternative that has alternatives itself in its stead. */
  readonly input?: { readonly errors?: readonly ArkError[] }
  readonly expected: string
  readonly actual: string
  readonly problem: string
}

/** The most alternatives that a text names: more do not fit into the line that callers get. */
const MOST_NAMED = 40

/** A longer text of the value is described by its length. */
const SHORT = 200

/** The errors that show at most the type, the length or the date of the value. */
const SHOW_LITTLE = new Set([
  'domain',
  'proto',
  'required',
  'minLength',
  'maxLength',
  'exactLength',
  'before',
  'after',
])

/**
 * The problem that an error of arktype describes. Its own description of alternatives within alternatives contains all that
 * is wrong below, and the value at each level as text; this one has neither a list or object as text nor more than one level.
 */
export function arktypeProblem(issue: StandardIssue): string {
  const { message, problem } = briefly(issue as ArkError)
  // A message begins with the path, unless the author of the schema configured another.
  return message.endsWith(problem) ? problem : message
}

/** The same error, which takes little to describe. */
function briefly(error: ArkError): ArkError {
  const errors = errorsIn(error)
  return withTexts(error, {
    propString: pathText(error.path),
    expected: errors === undefined || isSet(error, 'expected') ? undefined : describe(error, errors),
    actual: actualOf(error),
  })
}

/** The error with other texts instead of those that it would make. */
function withTexts(error: ArkError, texts: Readonly<Record<string, string | undefined>>): ArkError {
  const given = Object.entries(texts).filter(([, value]) => value !== undefined)
  return Object.create(error, Object.fromEntries(given.map(([name, value]) => [name, { value }]))) as ArkError
}

/** Whether a text was given with the error or by the author of the schema. */
function isSet(error: ArkError, text: 'expected' | 'actual'): boolean {
  return Object.hasOwn(error, text) || error.meta?.[text] !== undefined
}

function errorsIn({ input, errors }: ArkError): readonly ArkError[] | undefined {
  return input?.errors ?? errors
}

/** The text of what the value is; undefined where that of the library takes little. */
function actualOf(error: ArkError): string | undefined {
  return isSet(error, 'actual') || SHOW_LITTLE.has(error.code) ? undefined : kindOf(error.data)
}

/** The type of a value that may take long to write; undefined for another. */
function kindOf(data: unknown): string | undefined {
  if (typeof data === 'string')
    return data.length > SHORT ? `a string of ${data.length} characters` : undefined
  if (Array.isArray(data)) return 'an array'
  if (typeof data === 'function' || typeof data === 'bigint') return `a ${typeof data}`
  return typeof data === 'object' && data !== null ? 'an object' : undefined
}

/** What the errors in one expect. */
function describe({ code }: ArkError, errors: readonly ArkError[]): string {
  const named = errors.slice(0, MOST_NAMED)
  if (code !== 'union') return named.map((error) => `  ◦ ${expectedOf(error)}`).join('\n')
  const places = new Map<string, ArkError[]>()
  for (const error of named) {
    const place = pathText(error.path)
    const here = places.get(place)
    if (here === undefined) places.set(place, [error])
    else here.push(error)
  }
  const texts = Array.from(places, ([place, here]) => `${place} ${mustBe(here)}`.trimStart())
  return either(texts)
}

/** What errors at one place say together. */
function mustBe(errors: readonly ArkError[]): string {
  const [actual, ...others] = new Set(
    errors.map((error) => withTexts(error, { actual: actualOf(error) }).actual),
  )
  const data = errors[0]?.data
  const was = others.length === 0 ? actual : (kindOf(data) ?? String(JSON.stringify(data)))
  return `must be ${either(errors.map(expectedOf))}${was ? ` (was ${was})` : ''}`
}

function expectedOf(error: ArkError): string {
  return error.errors === undefined || isSet(error, 'expected')
    ? error.expected
    : `one of ${error.errors.length} shapes`
}

function either(texts: readonly string[]): string {
  const all = [...new Set(texts)]
  const last = all.pop() ?? 'never'
  return all.length === 0 ? last : `${all.join(', ')} or ${last}`
}
