import { put } from '../base/copy-of.ts'
import { isObject } from './keywords.ts'
import { ANY_PLACE, type Place, type Undeclared } from './place.ts'
import type { JsonSchema } from './schema.ts'
import { toSubschemas } from './subschemas.ts'

/** Whether a value has many parts. Stops counting when it does. */
export function isLarge(value: unknown, most: number = LARGE): boolean {
  return countIn(value, most) < 0
}

/** A library checks this many parts in a few milliseconds, whatever is wrong with them. */
export const LARGE = 10_000

/** So many problems take a library about a tenth of a second. */
const MOST_PROBLEMS = 40_000

/** So many take it about ten milliseconds: more are only found in what fits the JSON Schema, or in pieces. */
const MANY_PROBLEMS = 4_000

/** A piece of a large value has this part of what is large, without what is added from around it. */
const PIECE = 1 / 10

/** The part of a piece that is added to it, so that what is around it is complete, and the least of it. */
const AROUND = 1 / 10
const LEAST_AROUND = 100
/** How many times larger a piece may be if much is around it. */
const MOST_BESIDE = 10
/** The length of a text around a piece, which every piece checks again. Those that decide about others are shorter, or may be as long as the longest choice. */
const SHORT = 64

/** Stands for a text of which only the beginning is around a piece. */
class Beginning {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** From how many parts on a value has a size. */
export interface Sizes {
  /** It is checked in pieces unless it fits the JSON Schema. */
  readonly medium: number
  /** It is checked in pieces. */
  readonly large: number
}

/** The sizes of values for a schema: smaller if the schema may find many problems in each part. */
export function sizesFor(schema: JsonSchema): Sizes {
  const each = problemsPerPart(schema)
  const sizeOf = (problems: number): number => Math.max(10, Math.min(LARGE, Math.floor(problems / each)))
  return { medium: sizeOf(MANY_PROBLEMS), large: sizeOf(MOST_PROBLEMS) }
}

/** Marks copies that lack only what the schema ignores, there or below. */
const PRUNED: number[] = []

type Path = readonly PropertyKey[]
type Step = string | number
type Container = Record<Step, unknown>
type Members = readonly (readonly [name: string, part: unknown])[]

/** A large list or object whose members are being distributed. */
interface Open {
  /** Its place in the one around it. */
  readonly step: Step
  /** The members that all its copies have; undefined for a list. */
  readonly named: Members | undefined
  /** Its copy in the current piece. */
  copy: Container
}

/**
 * Cuts a large value into pieces: copies of the same shape, but with only some members of each large list or object. Every
 * part of the value is in a piece, except what the schema ignores. The members that the schema names are in every copy of their
 * object, large ones with their beginning only: a library may need them to know what the others must be.
 */
export class Pieces {
  readonly #root: Place
  /** The copies that lack members, and for a list, where its members were. */
  readonly #cut = new WeakMap<object, number[] | undefined>()
  /** The members of such copies that are only the beginning of a text. */
  readonly #begunIn = new WeakMap<object, Set<Step>>()
  /** The lists and objects from the value itself to the one that is being read. */
  readonly #open: Open[] = []
  /** The lists and objects that do not fit into a piece. */
  readonly #large = new WeakSet<object>()
  readonly #size: number
  #left: number
  #room: number

  /** `large` is the number of parts from which on a value is large. */
  constructor(root: Place, large: number = LARGE) {
    this.#root = root
    // Every piece has the members that the schema names, so that smaller pieces would consist of them.
    this.#size = this.#left = Math.max(large * PIECE, root.names.size)
    this.#room = Math.max(LEAST_AROUND, this.#size * AROUND)
  }

  /** Yields the pieces of a value; none if all that the schema looks at would fit into one. */
  *of(value: object): Generator<object> {
    this.#prune(value, this.#root, false)
    if (this.#isLarge(value)) yield* this.#fill(value, '', this.#root)
  }

  *#fill(value: object, step: Step, place: Place): Generator<object> {
    const names = namesIn(value)
    const room = this.#room
    this.#open.push({ step, named: names && this.#namedIn(value as Container, names, place), copy: {} })
    this.#renew(this.#open.length - 1)
    const { length } = names ?? (value as readonly unknown[])
    for (let at = 0; at < length; at++) {
      const below = names?.[at] ?? at
      const treatment = treatmentOf(below, place)
      if (treatment === 'ignored') continue
      const part = treatment === 'rejected' ? null : (value as Container)[below]
      if (this.#isLarge(part)) {
        yield* this.#fill(part, below, place.below(below))
        continue
      }
      const [size, copy] = this.#prune(part, place.below(below), true)
      if (size > this.#left) {
        const piece = this.#open[0]!.copy
        yield piece
        this.#renew(0)
        this.#left = this.#sizeBeside(this.#open[0]!.copy)
      }
      this.#left -= size
      this.#put(this.#open.at(-1)!.copy, below, copy)
    }
    this.#room = room
    if (this.#open.length === 1) yield this.#open[0]!.copy
    this.#open.pop()
  }

  /** The place in the value that a path of a piece leads to, and whether the piece is the same there as the value. */
  placeOf(piece: unknown, path: Path): { readonly path: Path; readonly isWhole: boolean } {
    const place = [...path]
    let part = piece
    for (const [at, step] of path.entries()) {
      if (!this.#isCut(part)) break
      place[at] = this.#cut.get(part)?.[step as number] ?? step
      if (!Object.hasOwn(part, step)) return { path: place, isWhole: this.#cut.get(part) === PRUNED }
      if (this.#begunIn.get(part)?.has(step as Step) === true) return { path: place, isWhole: false }
      part = part[step as Step]
    }
    return { path: place, isWhole: !this.#isCut(part) }
  }

  /** The size of what a piece gets besides what is around it: as much, if that is possible, so that little is repeated. */
  #sizeBeside(around: object): number {
    const most = this.#size * MOST_BESIDE
    return Math.max(this.#size, sizeOf(around, most - 1))
  }

  #isCut(part: unknown): part is Container {
    return isContainer(part) && this.#cut.has(part)
  }

  #isLarge(part: unknown): part is object {
    return isContainer(part) && this.#large.has(part)
  }

  /**
   * Counts a part and everything in it that the schema looks at, and notes which are too large for a piece. With `hasCopy`, it
   * also makes a copy that lacks what the schema ignores.
   */
  #prune(part: unknown, place: Place, hasCopy: boolean): readonly [size: number, copy: unknown] {
    if (!isContainer(part)) return [1, part]
    const names = namesIn(part)
    const { length } = names ?? (part as readonly unknown[])
    const copy = (names === undefined ? [] : {}) as Container
    let size = 1
    let isPruned = false
    for (let at = 0; at < length; at++) {
      const step = names?.[at] ?? at
      const treatment = treatmentOf(step, place)
      isPruned ||= treatment !== 'checked'
      if (treatment === 'ignored') continue
      let below = treatment === 'rejected' ? null : (part as Container)[step]
      size++
      if (isContainer(below)) {
        const [more, made] = this.#prune(below, place.below(step), hasCopy)
        isPruned ||= this.#isCut(made)
        size += more - 1
        below = made
      }
      if (hasCopy) put(copy, step, below)
    }
    if (size > this.#size) this.#large.add(part)
    if (isPruned) this.#cut.set(copy, PRUNED)
    return [size, copy]
  }

  /** Schemas may change what they check, so pieces share nothing with the value. */
  #own(part: unknown): unknown {
    return this.#isCut(part) ? part : this.#prune(part, ANY_PLACE, true)[1]
  }

  /** Begins new copies of the open ones, from one of them on. */
  #renew(from: number): void {
    for (let at = from; at < this.#open.length; at++) {
      const open = this.#open[at]!
      open.copy = this.#copy(open.named)
      if (at > 0) this.#put(this.#open[at - 1]!.copy, open.step, open.copy)
    }
  }

  #copy(named: Members | undefined): Container {
    const copy = (named === undefined ? [] : {}) as Container
    this.#cut.set(copy, named === undefined ? [] : undefined)
    for (const [name, part] of named ?? []) this.#putBegun(copy, name, part)
    return copy
  }

  #putBegun(copy: Container, step: Step, part: unknown): void {
    if (!(part instanceof Beginning)) return this.#put(copy, step, this.#own(part))
    this.#put(copy, step, part.text)
    const begun = this.#begunIn.get(copy) ?? new Set()
    this.#begunIn.set(copy, begun.add(step))
  }

  #put(copy: Container, step: Step, part: unknown): void {
    this.#begunIn.get(copy)?.delete(step)
    if (Array.isArray(copy)) this.#cut.get(copy)![copy.push(part) - 1] = step as number
    else put(copy, step, part)
  }

  #namedIn(value: Container, names: readonly string[], place: Place): Members {
    return names
      .filter((name) => place.names.has(name))
      .map((name) => [name, this.#begun(value[name], place.below(name))] as const)
      .filter(([, part]) => part !== undefined)
  }

  /** A part, or the beginning of a larger one; undefined if there is no room for it. */
  #begun(part: unknown, place: Place): unknown {
    if (typeof part === 'string')
      return part.length > Math.max(SHORT, place.longest) ? new Beginning(part.slice(0, SHORT)) : part
    if (!isContainer(part)) return part
    if (this.#room <= 0) return undefined
    const size = sizeOf(part, this.#room)
    const fits = size <= this.#room
    this.#room -= fits ? size : 1
    if (fits) return part
    if (!Array.isArray(part)) return this.#copy(this.#namedIn(part as Container, Object.keys(part), place))
    const copy = this.#copy(undefined)
    for (let at = 0; at < part.length && (at === 0 || place.names.has(String(at))); at++) {
      const item = this.#begun(part[at], place.below(at))
      if (item === undefined) return undefined
      this.#putBegun(copy, at, item)
    }
    return copy
  }
}

/** How a schema treats the member of an object, or the item of a list, which is never undeclared. */
function treatmentOf(step: Step, place: Place): Undeclared {
  return typeof step === 'number' || place.undeclared === 'checked' || place.names.has(step)
    ? 'checked'
    : place.undeclared
}

/** The most subschemas that are looked at. */
const MAX_LOOKED_AT = 10_000

/**
 * How many problems a library may find in one part of a value: every subschema for the same place may find one, and one for
 * each required member. Recursion is followed once.
 */
function problemsPerPart(schema: JsonSchema): number {
  const places = new Map<string, number>()
  const subschemasOf = toSubschemas(schema)
  let left = MAX_LOOKED_AT
  look(schema, '', [])
  return Math.max(1, ...places.values())

  function look(below: unknown, place: string, above: readonly unknown[]): void {
    if (!isObject(below) || above.filter((each) => each === below).length > 1 || left-- <= 0) return
    const { required } = below
    const missing = Array.isArray(required) ? required.length : 0
    places.set(place, (places.get(place) ?? 0) + 1 + missing)
    const { here, named, members } = subschemasOf(below)
    const path = [...above, below]
    for (const each of here) look(each, place, path)
    for (const [name, each] of named) look(each, `${place}/${name}`, path)
    for (const each of members) look(each, `${place}/*`, path)
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The number of parts in a part, itself included; more than `most` if there are more. */
function sizeOf(part: unknown, most: number): number {
  return isContainer(part) ? 1 + most - countIn(part, most) : 1
}

/** The number of parts in a value, itself included. */
export function partsIn(value: unknown): number {
  return sizeOf(value, MAX_PARTS)
}

const MAX_PARTS = 2 ** 40

/** Subtracts the number of parts of a value from `left`; negative if there are more. */
function countIn(value: unknown, left: number): number {
  if (!isContainer(value)) return left - 1
  const names = namesIn(value)
  const { length } = names ?? (value as readonly unknown[])
  let rest = left - length
  for (let at = 0; at < length && rest >= 0; at++) {
    const part = (value as Container)[names?.[at] ?? at]
    if (isContainer(part)) rest = countIn(part, rest)
  }
  return rest
}

/** The names of the members of an object; undefined for a list. Of many names, `Object.values` and `Object.entries` take much longer. */
function namesIn(value: object): readonly string[] | undefined {
  return Array.isArray(value) ? undefined : Object.keys(value)
}
