import { entriesOf, isObject, KEYWORDS } from './keywords.ts'

/** Whether a value matches. */
export type Test = (value: unknown) => boolean

/** A check built from plain closures for common schemas; undefined if the schema uses anything else. */
export function toDirectTest(schema: unknown): Test | undefined {
  if (!isObject(schema)) return undefined
  for (const [keyword, value] of entriesOf(schema)) {
    if (value !== undefined && KEYWORDS.get(keyword)?.note !== true && !isOurs(keyword)) return undefined
  }
  const tests: Test[] = []
  for (const make of [typeTest, valuesTest, numberTest, stringTest, arrayTest, objectTest]) {
    const test = make(schema)
    if (test === null) return undefined
    if (test !== undefined) tests.push(test)
  }
  const [first, second] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  if (tests.length === 2) return (value) => first(value) && second(value)
  return (value) => tests.every((test) => test(value))
}

type Schema = Readonly<Record<string, unknown>>
/** Undefined: no constraint. Null: not supported here. */
type Made = Test | undefined | null

const OURS = new Set(
  'type enum const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength items minItems maxItems properties required additionalProperties'.split(
    ' ',
  ),
)

function isOurs(keyword: string): boolean {
  return OURS.has(keyword) || !KEYWORDS.has(keyword)
}

const TYPE_TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['object', isObject],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
])

function typeTest({ type }: Schema): Made {
  if (type === undefined) return undefined
  if (typeof type === 'string') return TYPE_TESTS.get(type)
  const tests = (type as string[]).map((name) => TYPE_TESTS.get(name)!)
  return (value) => tests.some((test) => test(value))
}

function valuesTest(schema: Schema): Made {
  const { const: only, enum: values } = schema
  const named = only === undefined ? (values as unknown[] | undefined) : [only]
  if (named === undefined) return undefined
  if (
    (only !== undefined && values !== undefined) ||
    named.some((item) => typeof item === 'object' && item !== null)
  )
    return null
  return (value) => named.some((item) => item === value)
}

function numberTest(schema: Schema): Made {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if ((minimum ?? maximum ?? exclusiveMinimum ?? exclusiveMaximum) === undefined) return undefined
  const [least, most] = [numberOr(minimum, -Infinity), numberOr(maximum, Infinity)]
  const [above, below] = [numberOr(exclusiveMinimum, -Infinity), numberOr(exclusiveMaximum, Infinity)]
  return (value) =>
    typeof value !== 'number' || (value >= least && value <= most && value > above && value < below)
}

function stringTest({ minLength, maxLength }: Schema): Made {
  if ((minLength ?? maxLength) === undefined) return undefined
  const [least, most] = [numberOr(minLength, 0), numberOr(maxLength, Infinity)]
  return (value) => {
    if (typeof value !== 'string') return true
    const units = value.length
    // Code points are at least half as many as code units, and at most as many.
    if (units < least || units > most * 2) return false
    if (units >= least * 2 && units <= most) return true
    const points = countPoints(value)
    return points >= least && points <= most
  }
}

function arrayTest({ items, minItems, maxItems }: Schema): Made {
  if (items === undefined && (minItems ?? maxItems) === undefined) return undefined
  const each = items === undefined || items === true ? () => true : toDirectTest(items)
  if (each === undefined) return null
  const [least, most] = [numberOr(minItems, 0), numberOr(maxItems, Infinity)]
  return (value) =>
    !Array.isArray(value) ||
    (value.length >= least && value.length <= most && value.every((item) => each(item)))
}

interface Member {
  readonly name: string
  readonly required: boolean
  readonly test: Test
  /** Every object inherits a member with this name. */
  readonly inherited: boolean
}

function objectTest({ properties = {}, required = [], additionalProperties }: Schema): Made {
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') return null
  const needed = new Set(required as string[])
  const members: Member[] = []
  const known = new Set<string>()
  for (const [name, schema] of entriesOf(properties)) {
    const test = schema === true ? () => true : toDirectTest(schema)
    if (test === undefined) return null
    members.push({ name, required: needed.has(name), test, inherited: name in Object.prototype })
    known.add(name)
  }
  for (const name of needed) {
    if (!known.has(name))
      members.push({ name, required: true, test: () => true, inherited: name in Object.prototype })
  }
  const closed = additionalProperties === false
  if (members.length === 0 && !closed) return undefined
  return (value) =>
    !isObject(value) || (members.every((member) => fits(member, value)) && (!closed || hasOnly(known, value)))
}

function fits(member: Member, value: Schema): boolean {
  const item = member.inherited && !Object.hasOwn(value, member.name) ? undefined : value[member.name]
  if (item !== undefined) return member.test(item)
  if (!member.required) return true
  return Object.hasOwn(value, member.name) && member.test(item)
}

function hasOnly(known: ReadonlySet<string>, value: Schema): boolean {
  for (const name in value) if (!known.has(name) && Object.hasOwn(value, name)) return false
  return true
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** The length of a string as JSON Schema counts it. */
export function countPoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--
      at++
    }
  }
  return count
}
