import type { Random } from './random.ts'
import { anyNumber, anyText, anyValue, Members, nested, Raw, WORDS } from './values.ts'

/** A value with one or a few parts changed: removed, renamed, repeated, nested, or of another type. The given one stays as it is. */
export function mutateValue(value: unknown, random: Random): unknown {
  let mutated = value
  for (let left = 1 + random.few(3); left > 0; left--) mutated = mutateAt(mutated, random, 8)
  return mutated
}

function mutateAt(value: unknown, random: Random, depth: number): unknown {
  const pairs = pairsOf(value)
  if (pairs !== undefined && pairs.length > 0 && depth > 0 && !random.oneIn(5)) {
    const at = random.below(pairs.length)
    const next = mutateAt(pairs[at]![1], random, depth - 1)
    return new Members(pairs.with(at, [pairs[at]![0], next]))
  }
  if (pairs !== undefined && !random.oneIn(3)) return new Members(mutatePairs([...pairs], random))
  if (Array.isArray(value) && value.length > 0 && !random.oneIn(4))
    return mutateList([...value], random, depth)
  return replaced(value, random)
}

type Pair = readonly [key: string, value: unknown]

function pairsOf(value: unknown): readonly Pair[] | undefined {
  if (value instanceof Members) return value.pairs
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Raw)
    return undefined
  return Object.entries(value)
}

function mutatePairs(pairs: Pair[], random: Random): readonly Pair[] {
  if (pairs.length === 0) return [[random.pick(WORDS), anyValue(random, 1)]]
  const at = random.below(pairs.length)
  const pair = pairs[at]!
  const other = random.pick(pairs)
  switch (random.below(7)) {
    case 0:
      return pairs.toSpliced(at, 1)
    case 1:
      return pairs.with(at, [random.pick(WORDS), pair[1]])
    case 2:
      return [...pairs, [pair[0], random.oneIn(2) ? pair[1] : anyValue(random)]]
    case 3:
      return [...pairs, [random.pick(WORDS), anyValue(random, 1)]]
    case 4:
      return pairs.with(at, [pair[0], other[1]])
    case 5:
      return pairs.toReversed()
    default:
      return pairs.with(at, [caseOf(pair[0], random), pair[1]])
  }
}

function mutateList(list: unknown[], random: Random, depth: number): unknown[] {
  const at = random.below(list.length)
  if (random.oneIn(3) && depth > 0) return list.with(at, mutateAt(list[at], random, depth - 1))
  if (random.oneIn(3)) return list.toSpliced(at, 1)
  if (random.oneIn(3)) return [...list, list[at]]
  return list.toSpliced(at, 0, anyValue(random, 1))
}

function replaced(value: unknown, random: Random): unknown {
  switch (random.below(9)) {
    case 0:
      return anyNumber(random)
    case 1:
      return anyText(random)
    case 2:
      return [value]
    case 3:
      return { a: value }
    case 4:
      return random.oneIn(4) ? nested(random) : null
    case 5:
      return typeof value === 'string' ? mutateText(value, random) : (JSON.stringify(value) ?? '')
    case 6:
      return typeof value === 'string' ? value + anyText(random) : random.oneIn(2)
    default:
      return anyValue(random)
  }
}

function caseOf(key: string, random: Random): string {
  return random.oneIn(2) ? key.toUpperCase() : key.slice(0, -1)
}

// oxfmt-ignore
const TOKENS: readonly string[] = [
  '{', '}', '[', ']', ':', ',', '"', '\\', '\\u', '\\"', '\\\\', '\\ud800', 'null', 'true', 'false', '0', '-', 'e', '.', ' ', '\n', '\r', '\t', '\0', '\ufeff', '/*', '//', "'", '"id":', '"method":',
  '"params":', '"_meta":', '"arguments":', '{"a":', '[[', ']]', '}}', '{}', '[]', '""', 'NaN', '\u2028', '\x1f', '\x7f', '\xa0', '=', ';', '%', '?', '&', '#',
]

/** A text with a few letters flipped, inserted, deleted, cut off, repeated, or exchanged. */
export function mutateText(text: string, random: Random, tokens: readonly string[] = TOKENS): string {
  let mutated = text
  for (let left = 1 + random.few(4); left > 0; left--) mutated = mutateOnce(mutated, random, tokens)
  return mutated
}

function mutateOnce(text: string, random: Random, tokens: readonly string[]): string {
  const at = random.below(text.length + 1)
  const to = Math.min(text.length, at + 1 + random.few(16))
  switch (random.below(9)) {
    case 0:
      return text.slice(0, at) + text.slice(to)
    case 1:
      return text.slice(0, at) + random.pick(tokens) + text.slice(at)
    case 2:
      return text.slice(0, at) + random.pick(tokens) + text.slice(to)
    case 3:
      return text.slice(0, at) + text.slice(at, to).repeat(random.pick([2, 2, 3, 20])) + text.slice(to)
    case 4:
      return text.slice(0, at)
    case 5: {
      const flipped = (text.charCodeAt(at) || 0) ^ (1 << random.below(random.oneIn(4) ? 16 : 7))
      return text.slice(0, at) + String.fromCharCode(flipped) + text.slice(at + 1)
    }
    case 6: {
      const from = random.below(text.length + 1)
      return text.slice(0, at) + text.slice(from, from + random.few(40)) + text.slice(to)
    }
    case 7:
      return text.slice(0, at) + random.pick(WORDS) + text.slice(to)
    default:
      return text.slice(0, at) + anyNumber(random).text + text.slice(to)
  }
}

/** Bytes with a few flipped, inserted, deleted, cut off or repeated; UTF-8 is not spared. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let mutated = [...bytes]
  for (let left = 1 + random.few(4); left > 0; left--) {
    const at = random.below(mutated.length + 1)
    const kind = random.below(6)
    if (kind === 0 && at < mutated.length) mutated[at] = mutated[at]! ^ (1 << random.below(8))
    else if (kind === 1) mutated.splice(at, 0, random.pick(BYTES))
    else if (kind === 2) mutated.splice(at, 1 + random.few(8))
    else if (kind === 3) mutated = mutated.slice(0, at)
    else if (kind === 4) mutated.splice(at, 0, ...mutated.slice(at, at + random.few(16)))
    else mutated.splice(at, 1, random.pick(BYTES))
  }
  return Uint8Array.from(mutated)
}

const BYTES: readonly number[] = [
  0, 9, 10, 13, 32, 34, 44, 58, 91, 92, 93, 123, 125, 127, 0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xa0, 0xef,
  0xbb, 0xf0, 0xf4, 0xff,
]

/** Cuts bytes into pieces anywhere. */
export function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
  const pieces: Uint8Array[] = []
  const most = random.pick([1, 3, 16, 200, 5000])
  for (let at = 0; at < bytes.length;) {
    const to = Math.min(bytes.length, at + random.between(random.oneIn(20) ? 0 : 1, most))
    pieces.push(bytes.slice(at, to))
    at = to
  }
  return pieces
}
