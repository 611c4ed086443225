import { MAX_SOURCE } from '../schema/pattern.ts'
import { parsePattern, type Tree } from '../schema/pattern-tree.ts'

type Schema = Readonly<Record<string, unknown>>

/** Texts of the formats that schemas often name. */
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date', '2026-07-28'],
  ['date-time', '2026-07-28T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['duration', 'PT1H'],
  ['email', 'ada@example.com'],
  ['idn-email', 'ada@example.com'],
  ['hostname', 'example.com'],
  ['idn-hostname', 'example.com'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['iri', 'https://example.com/'],
  ['uri-reference', '/text'],
  ['iri-reference', '/text'],
  ['uri-template', '/{text}'],
  ['json-pointer', '/text'],
  ['relative-json-pointer', '0'],
  ['uuid', '123e4567-e89b-42d3-a456-426614174000'],
  ['guid', '123e4567-e89b-42d3-a456-426614174000'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['regex', 'text'],
  ['byte', 'dGV4dA=='],
  ['base64', 'dGV4dA=='],
  ['base64url', 'dGV4dA'],
  ['binary', 'text'],
  ['password', 'text'],
  ['textarea', 'text'],
])

/** The longest text that is made for `minLength`. */
const LONGEST = 10_000

/** A text that fits a schema, as far as its keywords say; undefined if none is known. */
export function sampleText(schema: Schema): string | undefined {
  const least = countOf(schema['minLength'], 0)
  const most = countOf(schema['maxLength'], Number.POSITIVE_INFINITY)
  if (least > LONGEST || most < least) return undefined
  const { format, pattern } = schema
  if (typeof format === 'string') {
    const text = FORMATS.get(format)
    if (text !== undefined) return text
    // Servers may check a format that is not known here.
    if (typeof pattern !== 'string') return undefined
  }
  if (typeof pattern === 'string') return matchOf(pattern, least, most)
  return 'text'.padEnd(least, 'x').slice(0, most)
}

/** A text that matches a pattern in most cases: lookarounds are not followed. */
function matchOf(pattern: string, least: number, most: number): string | undefined {
  const tree = treeOf(pattern)
  if (tree === undefined) return undefined
  let text: string | undefined
  for (const more of [0, 1, least]) {
    text = textOf(tree, more)
    if (text === undefined || text.length >= least) break
  }
  // A pattern without an end lets more follow.
  return text?.padEnd(least, 'x').slice(0, most)
}

function treeOf(pattern: string): Tree | undefined {
  if (pattern.length > MAX_SOURCE) return undefined
  for (const unicode of [true, false]) {
    try {
      void new RegExp(pattern, unicode ? 'u' : '')
    } catch {
      continue
    }
    const tree = parsePattern(pattern, unicode)
    return typeof tree === 'string' ? undefined : tree
  }
  return undefined
}

/** The shortest text of a tree, with `more` repetitions where there may be any number; undefined if it is too long. */
function textOf(tree: Tree, more: number): string | undefined {
  switch (tree.kind) {
    case 'set':
      return characterOf(tree.ranges)
    case 'alt':
      return textOf(tree.parts[0]!, more)
    case 'seq': {
      let text = ''
      for (const part of tree.parts) {
        const one = textOf(part, more)
        if (one === undefined || text.length + one.length > LONGEST) return undefined
        text += one
      }
      return text
    }
    case 'repeat': {
      const count = tree.max === Number.POSITIVE_INFINITY ? tree.min + more : tree.min
      if (count === 0) return ''
      const one = textOf(tree.body, more)
      return one === undefined || one.length * count > LONGEST ? undefined : one.repeat(count)
    }
    case 'group':
      return textOf(tree.body, more)
    default:
      return ''
  }
}

/** The characters that read well, before all others. */
const READABLE = ['a', 'A', '1', '0', '-', ' ']

function characterOf(ranges: readonly (readonly [from: number, to: number])[]): string | undefined {
  const isIn = (point: number): boolean => ranges.some(([from, to]) => from <= point && point <= to)
  const readable = READABLE.find((one) => isIn(one.charCodeAt(0)))
  const first = ranges[0]?.[0]
  return readable ?? (first === undefined ? undefined : String.fromCodePoint(first))
}

/** A number that fits a schema, as far as its bounds say. */
export function sampleNumber(schema: Schema, isInteger: boolean): number {
  const { low, high, isLowOut, isHighOut } = boundsOf(schema)
  const step = stepOf(schema, isInteger)
  if (step !== undefined) {
    if (Number.isFinite(low)) {
      const first = Math.ceil(low / step) * step
      return first === low && isLowOut ? first + step : first
    }
    if (high > step || (high === step && !isHighOut)) return step
    const last = Math.floor(high / step) * step
    return last === high && isHighOut ? last - step : last
  }
  const fits = (value: number): boolean =>
    (isLowOut ? value > low : value >= low) && (isHighOut ? value < high : value <= high)
  const candidates = [low, 1, 0, Math.ceil(low) + 1, Math.floor(high) - 1, high, low / 2 + high / 2]
  return candidates.find((value) => Number.isFinite(value) && fits(value)) ?? 1
}

/** The bounds of a number, and whether they are outside themselves. */
export function boundsOf(schema: Schema): {
  readonly low: number
  readonly high: number
  readonly isLowOut: boolean
  readonly isHighOut: boolean
} {
  const least = numberOr(schema['minimum'], Number.NEGATIVE_INFINITY)
  const above = numberOr(schema['exclusiveMinimum'], Number.NEGATIVE_INFINITY)
  const most = numberOr(schema['maximum'], Number.POSITIVE_INFINITY)
  const below = numberOr(schema['exclusiveMaximum'], Number.POSITIVE_INFINITY)
  return {
    low: Math.max(least, above),
    high: Math.min(most, below),
    isLowOut: above >= least && Number.isFinite(above),
    isHighOut: below <= most && Number.isFinite(below),
  }
}

/** The distance between two numbers that a schema allows; undefined if there is none. */
export function stepOf(schema: Schema, isInteger: boolean): number | undefined {
  const step = numberOr(schema['multipleOf'], 0)
  if (step > 0) return isInteger && !Number.isInteger(step) ? undefined : step
  return isInteger ? 1 : undefined
}

/** A length or number of items; negative numbers, fractions and other values are ignored. */
export function countOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}
