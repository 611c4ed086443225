/**
 * The shape of JSON values, as it is recorded in `recorded/`:
 * - a text names alternatives, separated by ` | `: `string`, `number`, `integer`, `boolean`, `null`, a range such as
 *   `number 0..1`, a literal such as `'text'` or `2`, `any`, and `plain` (any value without null and fractions);
 * - `@name` stands for a shape that is written once and used in several places;
 * - `{ "[]": shape }` is an array; its items are `unseen` where no example had any;
 * - `{ "|": [shape, …] }` lists alternatives that a text cannot name;
 * - any other object lists members; `?` after a name means optional, and `*` stands for all names that are not listed.
 */
export type Shape = string | ShapeObject
interface ShapeObject {
  readonly [member: string]: Shape | readonly Shape[]
}

/** Shapes that others refer to as `@name`. */
export type NamedShapes = Readonly<Record<string, Shape>>

/** Why a value does not fit: it is wrong, or it holds something that the shape says nothing about. */
export interface Misfit {
  readonly kind: 'wrong' | 'unseen'
  readonly text: string
}

/** Compares a value with a shape; undefined means that it fits. */
export function misfitOf(value: unknown, shape: Shape, named: NamedShapes, path = 'it'): Misfit | undefined {
  if (typeof shape === 'string') {
    if (shape.startsWith('@')) return misfitOf(value, named[shape.slice(1)] ?? 'unseen', named, path)
    if (shape === 'unseen') return { kind: 'unseen', text: `${path} is not described` }
    if (shape.split(' | ').some((word) => fitsWord(value, word))) return undefined
    return { kind: 'wrong', text: `${path} is ${brief(value)}, not ${shape}` }
  }
  const options = shape['|'] as readonly Shape[] | undefined
  if (options !== undefined) {
    const tagged = options.filter((option) => hasTagOf(value, option))
    const misfits = (tagged.length > 0 ? tagged : options).map((one) => misfitOf(value, one, named, path))
    if (misfits.includes(undefined)) return undefined
    return misfits.find((misfit) => misfit?.kind === 'unseen') ?? misfits.at(-1)
  }
  if ('[]' in shape) {
    const items = shape['[]'] as Shape
    if (!Array.isArray(value)) return { kind: 'wrong', text: `${path} is ${brief(value)}, not an array` }
    return worst(value.map((item, index) => misfitOf(item, items, named, `${path}[${index}]`)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { kind: 'wrong', text: `${path} is ${brief(value)}, not an object` }
  return worst(memberMisfits(value, shape, named, path))
}

function memberMisfits(
  value: object,
  shape: ShapeObject,
  named: NamedShapes,
  path: string,
): readonly (Misfit | undefined)[] {
  const missing = Object.keys(shape).filter(
    (name) => name !== '*' && !name.endsWith('?') && !Object.hasOwn(value, name),
  )
  const others = Object.entries(value).map(([name, member]) => {
    const found = [name, `${name}?`, '*'].find((key) => Object.hasOwn(shape, key))
    if (found === undefined) return { kind: 'unseen', text: `${path}.${name} is not described` } as const
    return misfitOf(member, shape[found] as Shape, named, `${path}.${name}`)
  })
  return [
    ...missing.map((name) => ({ kind: 'wrong', text: `${path}.${name} is missing` }) as const),
    ...others,
  ]
}

function worst(misfits: readonly (Misfit | undefined)[]): Misfit | undefined {
  return misfits.find((misfit) => misfit?.kind === 'wrong') ?? misfits.find((misfit) => misfit !== undefined)
}

/** Whether an alternative is for objects with the same `type` as the value. */
function hasTagOf(value: unknown, option: Shape): boolean {
  if (typeof option === 'string' || typeof value !== 'object' || value === null) return false
  const { type } = value as { readonly type?: unknown }
  return typeof type === 'string' && option['type'] === `'${type}'`
}

function fitsWord(value: unknown, word: string): boolean {
  if (word === 'any') return true
  if (word === 'plain') return isPlain(value)
  if (word === 'null') return value === null
  if (word.startsWith("'")) return value === word.slice(1, -1)
  const [type = '', range] = word.split(' ')
  if (range !== undefined) {
    const [low, high] = range.split('..')
    if (typeof value !== 'number') return false
    if (low !== '' && value < Number(low)) return false
    if (high !== '' && value > Number(high)) return false
  }
  if (type === 'integer') return Number.isInteger(value)
  if (['string', 'number', 'boolean'].includes(type)) return typeof value === type
  return String(value) === type && typeof value !== 'string'
}

function isPlain(value: unknown): boolean {
  if (value === null) return false
  if (typeof value === 'object') return Object.values(value).every(isPlain)
  return typeof value !== 'number' || Number.isInteger(value)
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null
    ? 'an object'
    : String(JSON.stringify(value)).slice(0, 80)
}

/** One shape for everything that fits either of two. */
export function merged(one: Shape, other: Shape): Shape {
  const words = new Set<string>()
  const wholes: ShapeObject[] = []
  for (const option of [...optionsOf(one), ...optionsOf(other)]) {
    if (typeof option === 'string') {
      for (const word of option.split(' | ')) words.add(word)
      continue
    }
    const index = wholes.findIndex((whole) => isSameKind(whole, option))
    if (index === -1) wholes.push(option)
    else wholes[index] = mergedWhole(wholes[index]!, option)
  }
  if (words.has('any')) return 'any'
  if (words.size > 1) words.delete('unseen')
  if (words.has('number')) words.delete('integer')
  const text = [...words].sort().join(' | ')
  const options: readonly Shape[] = [...(text === '' ? [] : [text]), ...wholes]
  const seen = options.length > 1 ? options.filter((option) => option !== 'unseen') : options
  return seen.length === 1 ? seen[0]! : { '|': seen }
}

function optionsOf(shape: Shape): readonly (string | ShapeObject)[] {
  return typeof shape === 'object' && '|' in shape ? (shape['|'] as readonly ShapeObject[]) : [shape]
}

/** Objects that must have the same members are of one kind, unless their `type` or `method` differs. */
function isSameKind(one: ShapeObject, other: ShapeObject): boolean {
  return kindOf(one) === kindOf(other)
}

function kindOf(shape: ShapeObject): string {
  if ('[]' in shape) return '[]'
  return Object.keys(shape)
    .filter((name) => name !== '*' && !name.endsWith('?'))
    .map((name) => (name === 'type' || name === 'method' ? `${name}=${JSON.stringify(shape[name])}` : name))
    .sort()
    .join(' ')
}

function mergedWhole(one: ShapeObject, other: ShapeObject): ShapeObject {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort()
  return Object.fromEntries(
    names.map((name) => [name, merged((one[name] ?? 'unseen') as Shape, (other[name] ?? 'unseen') as Shape)]),
  )
}
