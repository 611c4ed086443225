import { encode, isTriplet, kindOf, UNRESERVED } from './characters.ts'
import { OPERATORS, type Expression, type Part, type Variable } from './expression.ts'
import { compile, type Program } from './program.ts'

/** A parsed RFC 6570 template. */
export interface UriTemplate {
  readonly text: string
  /** The names of the variables, each once, in order of appearance. */
  readonly variables: readonly string[]
  readonly parts: readonly Part[]
  /** The program that `match` runs; undefined if a literal is not valid UTF-8, so that no URI matches. */
  readonly program: Program | undefined
}

export interface ParseOptions {
  /** Accepts repeated variables, as RFC 6570 does. */
  readonly repeats?: boolean
}

const MAX_LENGTH = 8192
const MAX_VARIABLES = 100

/** Parses a template; throws an Error that says where it is malformed and how to fix it. */
export function parseTemplate(text: string, options: ParseOptions = {}): UriTemplate {
  if (text.length > MAX_LENGTH) {
    throw new Error(`The URI template has ${text.length} characters: keep it within ${MAX_LENGTH}.`)
  }
  const parts: Part[] = []
  const names = new Set<string>()
  let count = 0
  for (let at = 0; at < text.length;) {
    if (text[at] !== '{') {
      const end = readLiteral(text, at)
      parts.push(encode(text.slice(at, end), true))
      at = end
      continue
    }
    const end = closingBrace(text, at)
    const source: Source = { text, at: at + 1, end, names, repeats: options.repeats === true }
    const expression = readExpression(source)
    count += expression.variables.length
    if (count > MAX_VARIABLES) throw malformed(source, `more than ${MAX_VARIABLES} variables`, 'use fewer')
    parts.push(expression)
    at = end + 1
  }
  const program = compile(parts)
  return Object.freeze({ text, variables: Object.freeze([...names]), parts: Object.freeze(parts), program })
}

interface Place {
  readonly text: string
  readonly at: number
}

interface Source extends Place {
  /** The index of the closing brace. */
  readonly end: number
  readonly names: Set<string>
  readonly repeats: boolean
}

function malformed({ text, at }: Place, problem: string, fix: string): Error {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return new Error(`Malformed URI template "${shown}" at position ${at}: ${problem}; ${fix}.`)
}

function readLiteral(text: string, start: number): number {
  let at = start
  for (; at < text.length && text[at] !== '{'; at++) {
    const code = text.charCodeAt(at)
    const char = text.charAt(at)
    const place: Place = { text, at }
    if (char === '}') throw malformed(place, 'this "}" has no opening "{"', 'remove it or write it as %7D')
    if (char === '%' && !isTriplet(text, at)) {
      throw malformed(place, '"%" is not followed by two hexadecimal digits', 'write a percent sign as %25')
    }
    if (char !== '%' && code < 128 && kindOf(code) === 0) {
      const encoded = encode(char, false)
      throw malformed(place, `${JSON.stringify(char)} is not allowed in a URI`, `write it as ${encoded}`)
    }
  }
  return at
}

function closingBrace(text: string, open: number): number {
  const end = text.indexOf('}', open)
  const nested = text.indexOf('{', open + 1)
  if (end < 0 || (nested >= 0 && nested < end)) {
    throw malformed({ text, at: open }, 'this "{" is not closed', 'add "}" after the variable names')
  }
  return end
}

function readExpression(source: Source): Expression {
  const { text, at, end } = source
  if (at === end) throw malformed(source, 'the expression is empty', 'name a variable, as in {id}')
  const symbol = text.charAt(at)
  if ('=,!@|'.includes(symbol)) {
    throw malformed(source, `the operator "${symbol}" is reserved`, 'use one of + # . / ; ? & or none')
  }
  const operator = OPERATORS.get(symbol) ?? OPERATORS.get('')
  if (operator === undefined || !(operator.symbol === symbol || startsName(text, at))) {
    throw malformed(source, `"${symbol}" is not an operator`, 'use one of + # . / ; ? & or none')
  }
  const variables: Variable[] = []
  let next = at + operator.symbol.length
  do {
    const comma = text.indexOf(',', next)
    const stop = comma < 0 || comma > end ? end : comma
    variables.push(readVariable({ ...source, at: next, end: stop }))
    next = stop + 1
  } while (next <= end)
  return Object.freeze({ operator, variables: Object.freeze(variables) })
}

function readVariable(source: Source): Variable {
  const { text, at, end, names } = source
  const nameEnd = readName(source)
  const name = text.slice(at, nameEnd)
  if (names.has(name) && !source.repeats) {
    throw malformed(source, `the variable "${name}" appears twice`, 'give each its own name')
  }
  names.add(name)
  const modifiers = { ...source, at: nameEnd }
  const explode = text[nameEnd] === '*'
  if (nameEnd === end) return Object.freeze({ name, explode: false, prefix: undefined })
  if (explode && nameEnd + 1 === end) return Object.freeze({ name, explode, prefix: undefined })
  if (explode && text[nameEnd + 1] === ':') throw bothModifiers(modifiers)
  if (text[nameEnd] === ':') return Object.freeze({ name, explode: false, prefix: readPrefix(modifiers) })
  const char = JSON.stringify(String.fromCodePoint(text.codePointAt(nameEnd) ?? 0))
  throw malformed(
    modifiers,
    `${char} is not allowed in a variable name`,
    'use letters, digits, "_" and single dots',
  )
}

function readName({ text, at, end }: Source): number {
  if (at === end) throw malformed({ text, at }, 'a variable name is missing', 'add it or remove the comma')
  let next = at
  while (next < end && startsName(text, next)) {
    next += text[next] === '%' ? 3 : 1
    if (text[next] === '.' && startsName(text, next + 1)) next++
  }
  if (next === at) {
    const char = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))
    throw malformed({ text, at }, `a variable name may not start with ${char}`, 'use letters, digits and "_"')
  }
  return next
}

function startsName(text: string, at: number): boolean {
  const char = text.charAt(at)
  if (char === '%') return isTriplet(text, at)
  return char === '_' || (kindOf(text.charCodeAt(at)) === UNRESERVED && !'-.~'.includes(char))
}

function readPrefix(source: Source): number {
  const digits = source.text.slice(source.at + 1, source.end)
  if (digits.endsWith('*')) throw bothModifiers(source)
  if (!/^[1-9][0-9]{0,3}$/.test(digits)) {
    throw malformed(source, `the prefix length "${digits}" is not within 1 to 9999`, 'write it as in {id:3}')
  }
  return Number(digits)
}

function bothModifiers(source: Source): Error {
  return malformed(source, '"*" and ":" cannot be combined', 'keep one of them')
}
