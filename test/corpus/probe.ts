import { merged, misfitOf, type Shape } from './shape.ts'

/** A place in a value: the object or array that holds it, and its name or index there. */
interface Place {
  readonly holder: object
  readonly key: string
}

const FRESH = 'pierhead-probe'
const BIG = 1_000_003

/**
 * Describes a valid value by trying variations of it: members are left out or added and values are replaced, and
 * `isValid` says which of the variations are still valid.
 */
export function describe(value: unknown, isValid: (value: unknown) => boolean): Shape {
  const holder = { value: structuredClone(value) }
  return new Probe(() => isValid(holder.value)).shapeAt({ holder, key: 'value' })
}

class Probe {
  readonly #isValid: () => boolean

  constructor(isValid: () => boolean) {
    this.#isValid = isValid
  }

  shapeAt(place: Place): Shape {
    const words = this.#wordsAt(place)
    const value = get(place)
    if (misfitOf(value, words, {}) === undefined) return words
    if (Array.isArray(value)) return merged(words, this.#arrayAt(value))
    if (typeof value === 'object' && value !== null) return merged(words, this.#objectAt(value))
    return merged(words, literal(value))
  }

  /** The simple values that are valid at a place. */
  #wordsAt(place: Place): string {
    const accepts = (...values: readonly unknown[]): boolean =>
      values.every((value) => this.#with(place, value))
    const text = accepts(FRESH)
    const nested = accepts([], {}, [[7]], { [FRESH]: { [FRESH]: [true, 'a'] } })
    if (text && nested && accepts(7, true, null, 0.5, { [FRESH]: null })) return 'any'
    if (text && nested && accepts(7, true)) return 'plain'
    const words = [
      ...(text ? ['string'] : []),
      ...(accepts(true, false) ? ['boolean'] : []),
      ...(accepts(null) ? ['null'] : []),
      ...this.#numberWords(accepts),
    ]
    return words.length === 0 ? 'unseen' : words.sort().join(' | ')
  }

  #numberWords(accepts: (...values: readonly unknown[]) => boolean): readonly string[] {
    const fraction = accepts(0.5)
    if (!fraction && !accepts(7)) return []
    const low = accepts(-BIG) ? '' : accepts(0) ? '0' : '1'
    const high = accepts(BIG) ? '' : '1'
    const type = fraction ? 'number' : 'integer'
    return [low === '' && high === '' ? type : `${type} ${low}..${high}`]
  }

  #arrayAt(value: readonly unknown[]): Shape {
    const items = value.map((_, index) => this.shapeAt({ holder: value, key: String(index) }))
    return { '[]': items.reduce(merged, 'unseen') }
  }

  #objectAt(value: object): Shape {
    const fresh: Place = { holder: value, key: FRESH }
    const others = this.#wordsAt(fresh)
    const members = new Map<string, Shape>()
    const add = (name: string, shape: Shape): void => {
      members.set(name, merged(members.get(name) ?? 'unseen', shape))
    }
    if (others !== 'unseen') add('*', others)
    for (const key of Object.keys(value)) {
      const place = { holder: value, key }
      const required = !this.#without(place)
      const isOneOfMany = !required && this.#with(fresh, get(place)) && this.#wordsAt(place) === others
      // Where any name may hold anything, a name that was chosen by a peer says nothing more.
      if (isOneOfMany && (others === 'any' || others === 'plain')) continue
      add(isOneOfMany ? '*' : required ? key : `${key}?`, this.shapeAt(place))
    }
    return Object.fromEntries([...members].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** Whether all stays valid with another value at a place. */
  #with(place: Place, value: unknown): boolean {
    const before = Object.getOwnPropertyDescriptor(place.holder, place.key)
    set(place, value)
    const valid = this.#isValid()
    if (before === undefined) Reflect.deleteProperty(place.holder, place.key)
    else Object.defineProperty(place.holder, place.key, before)
    return valid
  }

  /** Whether all stays valid without a member. */
  #without(place: Place): boolean {
    const value = get(place)
    Reflect.deleteProperty(place.holder, place.key)
    const valid = this.#isValid()
    set(place, value)
    return valid
  }
}

function get({ holder, key }: Place): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value
}

/** Defines rather than assigns, because a name may be `__proto__`. */
function set({ holder, key }: Place, value: unknown): void {
  Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true })
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
