import { encode, firstCodePoints } from './characters.ts'
import type { UriTemplate } from './parse.ts'
import type { Expression, Operator, Variable } from './expression.ts'

type Scalar = string | number | bigint | boolean
type Member = Scalar | null | undefined

/** A value to expand: text, a list, or an associative array as an object, a Map or a list of pairs. */
export type TemplateValue =
  | Member
  | readonly Member[]
  | readonly (readonly [string, Member])[]
  | ReadonlyMap<string, Member>
  | { readonly [key: string]: Member }

export interface TemplateValues {
  readonly [name: string]: TemplateValue
}

/** Expands a template according to RFC 6570; undefined, null and empty lists are omitted. */
export function expand(template: UriTemplate, values: TemplateValues): string {
  let out = ''
  for (const part of template.parts) out += typeof part === 'string' ? part : expandExpression(part, values)
  return out
}

function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const pieces: string[] = []
  for (const variable of variables) {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    const piece = expandVariable(operator, variable, readValue(variable.name, value))
    if (piece !== undefined) pieces.push(piece)
  }
  return pieces.length === 0 ? '' : operator.first + pieces.join(operator.separator)
}

function expandVariable(operator: Operator, variable: Variable, value: Value): string | undefined {
  if (value === undefined) return undefined
  const encoded = (text: string): string => encode(text, operator.keepReserved)
  if (typeof value === 'string') {
    const text = encoded(variable.prefix === undefined ? value : firstCodePoints(value, variable.prefix))
    return operator.named ? assign(operator, variable.name, text) : text
  }
  if (variable.prefix !== undefined) {
    throw new Error(
      `The variable "${variable.name}" is cut to ${variable.prefix} characters, which is not possible with a list: pass text.`,
    )
  }
  if (value.length === 0) return undefined
  if (variable.explode) {
    return value.map((member) => explode(operator, variable.name, member)).join(operator.separator)
  }
  const text = value.map((member) => member.map(encoded).join(',')).join(',')
  return operator.named ? assign(operator, variable.name, text) : text
}

function explode(operator: Operator, name: string, member: Entry): string {
  const value = encode(member[1] ?? member[0], operator.keepReserved)
  if (member.length === 1) return operator.named ? assign(operator, name, value) : value
  if (operator.named) return assign(operator, member[0], value)
  return `${encode(member[0], operator.keepReserved)}=${value}`
}

// Names are encoded like literal text (RFC 6570, section 3.2.1), so delimiters in the key of a pair stay.
function assign(operator: Operator, name: string, value: string): string {
  return encode(name, true) + (value === '' ? operator.ifEmpty : `=${value}`)
}

type Entry = readonly [text: string] | readonly [key: string, value: string]
type Value = string | readonly Entry[] | undefined

function readValue(name: string, value: unknown): Value {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return readScalar(name, value)
  if (value instanceof Map) return readPairs(name, [...value])
  if (!Array.isArray(value)) return readPairs(name, Object.entries(value))
  if (Array.isArray(value[0])) return readPairs(name, value)
  return value.filter(isDefined).map((item) => [readScalar(name, item)])
}

function readPairs(name: string, pairs: readonly unknown[]): readonly Entry[] {
  const entries: Entry[] = []
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) throw badValue(name)
    if (isDefined(pair[1])) entries.push([readScalar(name, pair[0]), readScalar(name, pair[1])])
  }
  return entries
}

function isDefined(value: unknown): boolean {
  return value !== undefined && value !== null
}

function readScalar(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  throw badValue(name)
}

function badValue(name: string): Error {
  return new Error(
    `The value of the variable "${name}" cannot be expanded: pass text, a list of texts, or an object of texts.`,
  )
}
