import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { NUMBER, pure, tidy } from '../pure.ts'

const BASE = z.int().min(2).max(36)
const POSITIVE = z
  .int()
  .min(1)
  .max(1_000_000_000)
  .meta({ examples: [84] })

function fromBase(digits: string, base: number): bigint {
  let value = 0n
  for (const digit of digits.toLowerCase()) {
    const worth = Number.parseInt(digit, base)
    if (Number.isNaN(worth)) throw new ToolError(`"${digit}" is not a digit in base ${base}.`)
    value = value * BigInt(base) + BigInt(worth)
  }
  return value
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

function factorsOf(n: number): number[] {
  const factors: number[] = []
  let rest = n
  for (let divisor = 2; divisor * divisor <= rest; divisor++)
    while (rest % divisor === 0) {
      factors.push(divisor)
      rest /= divisor
    }
  return rest > 1 ? [...factors, rest] : factors
}

const isPrime = (n: number): boolean => n > 1 && factorsOf(n).length === 1

const ROMAN = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
] as const

function roman(n: number): string {
  let [rest, text] = [n, '']
  for (const [worth, letters] of ROMAN) {
    text += letters.repeat(Math.floor(rest / worth))
    rest %= worth
  }
  return text
}

const ROUNDING = { nearest: Math.round, up: Math.ceil, down: Math.floor }

export const numbers: ToolMap = {
  number_base: pure(
    'Converts a whole number from one base to another, such as ff from 16 to 2.',
    {
      digits: z
        .string()
        .min(1)
        .max(200)
        .meta({ examples: ['101'] }),
      from: BASE.default(10),
      to: BASE,
    },
    { digits: z.string() },
    ({ digits, from, to }) => ({ digits: fromBase(digits, from).toString(to) }),
  ),
  number_gcd: pure(
    'Finds the greatest common divisor and the least common multiple of two numbers.',
    { a: z.int().min(1).max(1_000_000), b: z.int().min(1).max(1_000_000) },
    { gcd: z.int(), lcm: z.int() },
    ({ a, b }) => ({ gcd: gcd(a, b), lcm: (a / gcd(a, b)) * b }),
  ),
  number_factors: pure(
    'Finds the prime factors of a number.',
    { n: POSITIVE },
    { factors: z.array(z.int()) },
    ({ n }) => ({ factors: factorsOf(n) }),
  ),
  number_prime: pure(
    'Says whether a number is prime, and which prime comes next.',
    { n: POSITIVE },
    { prime: z.boolean(), next: z.int() },
    ({ n }) => {
      let next = n + 1
      while (!isPrime(next)) next++
      return { prime: isPrime(n), next }
    },
  ),
  number_roman: pure(
    'Writes a number in Roman numerals.',
    { n: z.int().min(1).max(3999) },
    { roman: z.string() },
    ({ n }) => ({ roman: roman(n) }),
  ),
  number_round: pure(
    'Rounds a number to so many decimals.',
    {
      value: NUMBER,
      decimals: z.int().min(0).max(10).default(0),
      mode: z.enum(['nearest', 'up', 'down']).default('nearest'),
    },
    { value: z.number() },
    // Written with an exponent, the value moves its point exactly.
    ({ value, decimals, mode }) => ({
      value: Number(`${ROUNDING[mode](Number(`${value.toFixed(12)}e${decimals}`))}e-${decimals}`),
    }),
  ),
  number_percent: pure(
    'Says how many percent one number is of another, and by how many it differs.',
    { part: NUMBER, whole: NUMBER },
    { percent: z.number(), difference: z.number() },
    ({ part, whole }) => {
      if (whole === 0) throw new ToolError('Nothing is a percentage of zero.')
      return { percent: tidy((part / whole) * 100), difference: tidy((part / whole - 1) * 100) }
    },
  ),
  number_format: pure(
    'Writes a number for people, with the separators of a language.',
    {
      value: NUMBER,
      decimals: z.int().min(0).max(10).default(2),
      language: z.enum(['en-GB', 'de-DE', 'en-IN']).default('en-GB'),
    },
    { text: z.string() },
    ({ value, decimals, language }) => ({
      text: new Intl.NumberFormat(language, {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      }).format(value),
    }),
  ),
  number_sequence: pure(
    'Lists numbers with equal distances.',
    { from: NUMBER, step: NUMBER, count: z.int().min(1).max(1000) },
    { numbers: z.array(z.number()) },
    ({ from, step, count }) => ({
      numbers: Array.from({ length: count }, (_, i) => tidy(from + i * step)),
    }),
  ),
}
