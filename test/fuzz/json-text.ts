import type { Random } from './random.ts'
import { Members, Raw } from './values.ts'

/** A value as JSON text, spelt in one of the many ways that mean the same. */
export function spell(value: unknown, random: Random): string {
  const style: Style = { random, spaces: random.oneIn(6), escapes: random.oneIn(6) }
  return random.oneIn(2) ? (JSON.stringify(plainly(value)) ?? 'null') : write(value, style)
}

interface Style {
  readonly random: Random
  readonly spaces: boolean
  readonly escapes: boolean
}

/** The value as JSON.stringify takes it; what only raw text can say is lost. */
function plainly(value: unknown): unknown {
  if (value instanceof Raw) return Number.isFinite(Number(value.text)) ? Number(value.text) : value.text
  if (value instanceof Members)
    return Object.fromEntries(value.pairs.map(([key, each]) => [key, plainly(each)]))
  if (Array.isArray(value)) return value.map(plainly)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainly(each)]))
}

function write(value: unknown, style: Style): string {
  const space = style.spaces ? spaceOf(style.random) : ''
  if (value instanceof Raw) return value.text
  if (typeof value === 'string') return writeText(value, style)
  if (Array.isArray(value))
    return `[${space}${value.map((each) => write(each, style)).join(`,${space}`)}${space}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const pairs = value instanceof Members ? value.pairs : Object.entries(value)
  const members = pairs.map(([key, each]) => `${writeText(key, style)}${space}:${space}${write(each, style)}`)
  return `{${space}${members.join(`${space},`)}${space}}`
}

function writeText(text: string, { escapes, random }: Style): string {
  if (!escapes) return JSON.stringify(text)
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const hex = code.toString(16).padStart(4, '0')
    if (random.oneIn(3)) out += `\\u${random.oneIn(2) ? hex : hex.toUpperCase()}`
    else out += code === 47 && random.oneIn(2) ? '\\/' : JSON.stringify(text[at]).slice(1, -1)
  }
  return `"${out}"`
}

function spaceOf(random: Random): string {
  return random.pick([' ', '\n', '\t', '\r\n', '  ', ''])
}
