import type { Random } from './random.ts'

/** A piece of JSON text that stands for itself, whether it is valid or not. */
export class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** An object whose members may repeat. */
export class Members {
  readonly pairs: readonly (readonly [key: string, value: unknown])[]

  constructor(pairs: readonly (readonly [key: string, value: unknown])[]) {
    this.pairs = pairs
  }
}

/** Letters that do something to a terminal. */
export const HIDDEN: RegExp = /(?![\t\n])\p{Cc}|\p{Bidi_Control}/u

// oxfmt-ignore
export const WORDS: readonly string[] = [
  '', ' ', 'a', 'id', 'method', 'params', 'arguments', '_meta', 'name', 'uri', 'result', 'error', 'jsonrpc', '2.0', 'ID', 'Params',
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'length', '0', '-1', '1e3', 'true', 'null',
  '\0', '\n', '\r\n', '\t', '\u2028', '\u2029', '\ufeff', '\u202e', '\x7f', '\x85', 'é', 'ü', '😀', '\ud83d', '\ude00', '\ud83d\ud83d', '\uffff',
  '../../etc/passwd', '..%2f..', '%', '%0', '%00', '%C3%BC', '%ff', '=?base64?', '=?base64?aGk=?=', '=?base64?!!!?=', '{', '}', '{}', '{id}', '"', '\\', '\\u0000', '\\ud800',
  'ping', 'tools/call', 'initialize', '2024-11-05', '2025-11-25', '2026-07-28', '1900-01-01', 'application/json', 'text/event-stream', '*/*',
]

// oxfmt-ignore
const NUMBERS: readonly string[] = [
  '0', '-0', '1', '-1', '1.0', '1e0', '1E+2', '0.1', '-0.5', '1e-7', '1e21', '1e308', '1e309', '-1e400', '5e-324', '9007199254740991', '9007199254740992', '9007199254740993',
  '-9007199254740993', '99999999999999999999', '123456789012345', '1234567890123456', '12345678901234567', '2147483648', '4294967296', '18446744073709551616', '-32700',
  '01', '+1', '.5', '1.', '0x10', '1e', '--1', '1_000', 'NaN', 'Infinity', '-Infinity',
]

/** Values that break code which asks an object for its text, its number or its length. */
const HOLLOW: readonly unknown[] = [
  '',
  {},
  [],
  { toString: 1, valueOf: 1 },
  { toString: null },
  [{ toString: 1 }],
  { length: 5 },
  JSON.parse('{"then":1}'),
  { toJSON: 1 },
]

const LETTERS = 'abcxyz019 _-./:%{}[]"\\,=?&#+*\n\r\t\0é😀\ud800\udc00'

/** A text with an eye for what breaks readers. */
export function anyText(random: Random, most: number = 12): string {
  if (random.oneIn(3)) return random.pick(WORDS)
  if (random.oneIn(60))
    return random
      .pick(['a', '\\', '"', 'é', '😀', '{', '%41', '\ud800'])
      .repeat(random.pick([64, 65, 300, 600, 5000]))
  let text = ''
  for (let left = random.few(most + 1); left > 0; left--) {
    text += random.oneIn(12) ? random.pick(WORDS) : LETTERS[random.below(LETTERS.length)]
  }
  return text
}

/** A number as it stands in JSON text, at times one that JSON does not have. */
export function anyNumber(random: Random): Raw {
  if (random.oneIn(40)) return new Raw('9'.repeat(random.pick([15, 16, 17, 300, 1023, 1024, 1025])))
  if (random.oneIn(3)) return new Raw(String(random.between(-300, 300)))
  return new Raw(random.pick(NUMBERS))
}

/** A value of JSON; numbers are raw text. */
export function anyValue(random: Random, depth: number = 3): unknown {
  const kind = random.below(depth > 0 ? 10 : 6)
  if (kind < 2) return anyText(random)
  if (kind === 2) return anyNumber(random)
  if (kind === 3) return random.oneIn(2)
  if (kind === 4) return null
  if (kind === 5) return random.oneIn(30) ? nested(random) : random.pick(HOLLOW)
  if (kind < 8) return random.list(4, () => anyValue(random, depth - 1))
  const pairs = random.list(5, () => [anyText(random), anyValue(random, depth - 1)] as const)
  return new Members(pairs)
}

/** Nesting around the usual limits, and far beyond. */
export function nested(random: Random): Raw {
  const depth = random.pick([1, 2, 60, 64, 120, 125, 126, 127, 128, 129, 130, 2000])
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[[],', ']'],
    ['{"a":"]}","b":', '}'],
  ] as const)
  return new Raw(open.repeat(depth) + random.pick(['1', '"x"', '[]', '{}']) + close.repeat(depth))
}

/** A plain value, as JSON.parse gives it: no raw text, no repeated keys. */
export function plainValue(random: Random, depth: number = 3): unknown {
  const kind = random.below(depth > 0 ? 9 : 5)
  if (kind < 2) return anyText(random)
  if (kind === 2) return plainNumber(random)
  if (kind === 3) return random.oneIn(2)
  if (kind === 4) return null
  if (kind < 7) return random.list(4, () => plainValue(random, depth - 1))
  return Object.fromEntries(random.list(5, () => [anyText(random), plainValue(random, depth - 1)] as const))
}

export function plainNumber(random: Random): number {
  const value = Number(anyNumber(random).text)
  return Number.isFinite(value) ? value : random.between(-9, 9)
}
