import { entriesOf, isObject } from './keywords.ts'
import { toMatcher } from './pattern.ts'
import { numberOr, type Rule, type Test } from './rule.ts'
import { PRICE, spend } from './work.ts'

const TYPE_TESTS: ReadonlyMap<unknown, Test> = new Map<unknown, Test>([
  ['object', isObject],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
])

export const typeRule: Rule = ({ type }) => {
  if (!Array.isArray(type)) return TYPE_TESTS.get(type)
  const tests = type.flatMap((name) => TYPE_TESTS.get(name) ?? [])
  return (value) => tests.some((test) => test(value))
}

/** `const` and `enum`. */
export const valueRules: readonly Rule[] = [
  ({ const: only }) => (only === undefined ? undefined : oneOfValues([only])),
  ({ enum: values }) => (values === undefined ? undefined : oneOfValues(values as unknown[])),
]

/** Whether a value is one of several, in a time that grows only with the objects and lists among them. */
export function oneOfValues(values: readonly unknown[]): Test {
  const objects = values.filter((value) => typeof value === 'object' && value !== null)
  // Engines hash texts with a secret, but anyone can find numbers with the same hash, so numbers are in a set as texts.
  const numbers = new Set(values.filter((value) => typeof value === 'number').map(String))
  const others = new Set(values.filter((value) => typeof value !== 'number'))
  return (value) => {
    if (typeof value === 'number') return numbers.has(String(value))
    if (typeof value === 'string') spend(value.length >> COMPARED)
    return others.has(value) || objects.some((each) => isSame(each, value))
  }
}

/** Comparing or hashing this power of two of characters takes one unit. */
const COMPARED = 4

/** Whether two values are the same JSON, as a part of a check that counts its work. */
export function isSame(one: unknown, other: unknown): boolean {
  spend(PRICE.name)
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) {
    if (typeof one === 'string') spend(one.length >> COMPARED)
    return one === other
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const members = entriesOf(one)
  const count = Object.keys(other).length
  spend(PRICE.name * (members.length + count))
  if (members.length !== count) return false
  return members.every(
    ([name, each]) =>
      Object.hasOwn(other, name) && isSame(each, (other as Readonly<Record<string, unknown>>)[name]),
  )
}

export const numberRule: Rule = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }) => {
  if ((minimum ?? maximum ?? exclusiveMinimum ?? exclusiveMaximum ?? multipleOf) === undefined)
    return undefined
  const [least, most] = [numberOr(minimum, -Infinity), numberOr(maximum, Infinity)]
  const [above, below] = [numberOr(exclusiveMinimum, -Infinity), numberOr(exclusiveMaximum, Infinity)]
  const step = typeof multipleOf === 'number' ? multipleOf : undefined
  return (value) =>
    typeof value !== 'number' ||
    (value >= least &&
      value <= most &&
      value > above &&
      value < below &&
      (step === undefined || isMultiple(value, step)))
}

/** Whether a number is a multiple of a step, forgiving the rounding of decimal fractions to binary ones. */
export function isMultiple(value: number, step: number): boolean {
  const rest = Math.abs(value % step)
  if (Number.isInteger(value) && Number.isInteger(step)) return rest === 0
  if (Number.isInteger(value) && Number.isInteger(1 / step)) return true
  return Math.min(rest, step - rest) <= Math.min(step * 1e-3, 2 * Number.EPSILON * Math.abs(value))
}

export const stringRule: Rule = ({ minLength, maxLength, pattern }) => {
  const long = (minLength ?? maxLength) === undefined ? undefined : lengthTest(minLength, maxLength)
  const matcher = typeof pattern === 'string' ? toMatcher(pattern) : undefined
  if (long === undefined && matcher === undefined) return undefined
  return (value) => typeof value !== 'string' || (long?.(value) !== false && matcher?.test(value) !== false)
}

function lengthTest(minLength: unknown, maxLength: unknown): (text: string) => boolean {
  const [least, most] = [numberOr(minLength, 0), numberOr(maxLength, Infinity)]
  return (text) => {
    const units = text.length
    // Code points are at least half as many as code units, and at most as many.
    if (units < least || units > most * 2) return false
    if (units >= least * 2 && units <= most) return true
    const points = countPoints(text)
    return points >= least && points <= most
  }
}

/** The length of a string as JSON Schema counts it. */
export function countPoints(text: string): number {
  spend(text.length >> 1)
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--
      at++
    }
  }
  return count
}
