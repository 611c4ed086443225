import { below, placesFrom, type TextPlace } from './text-place.ts'

/**
 * How many visits of parts a check may take: a few times as many as if no part were visited again at the same place, and always
 * the least. Each may end with a problem, which takes a few microseconds.
 */
const LEAST_VISITS = 5000
const TIMES = 3

/**
 * Says of a value whether a library would check its parts too often, because a schema contains itself on both sides of an intersection or
 * in several stages of a pipe: every level then doubles the work. Undefined if the schema does not. The JSON Schema shows
 * only one stage of a pipe, and the later ones read what the first has made, so neither steps nor reads of the value tell.
 * `skipsLists` says that a list is checked as an object only once, whatever leads there.
 */
export function toRounds(
  root: TextPlace,
  remembers: boolean,
  skipsLists: boolean,
): ((value: unknown) => boolean) | undefined {
  const all = placesFrom(root)
  const endless = endlessPlaces(all)
  return [...all].some(doubles) ? (value) => new Visits(skipsLists).exceed(root, value) : undefined

  function doubles(place: TextPlace): boolean {
    if (place.all === undefined || place.here.length < 2) return false
    // Alternatives in a later stage double the work, too, unless the library remembers their results.
    const [, ...later] = place.here
    if (place.all === 'pipe' && !remembers && later.some((each) => endless.has(each))) return true
    return endless.has(place) && place.here.filter((each) => placesFrom(each).has(place)).length > 1
  }
}

/** The places that are below themselves, or lead to such: all but those from which every way ends. */
function endlessPlaces(all: ReadonlySet<TextPlace>): ReadonlySet<TextPlace> {
  const left = new Set(all)
  const users = new Map<TextPlace, TextPlace[]>([...all].map((place) => [place, []]))
  const open = new Map<TextPlace, number>()
  for (const place of all) {
    const next = below(place)
    open.set(place, next.length)
    for (const each of next) users.get(each)?.push(place)
  }
  const ends = [...all].filter((place) => open.get(place) === 0)
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    left.delete(end)
    for (const user of users.get(end)!) {
      const count = open.get(user)! - 1
      open.set(user, count)
      if (count === 0) ends.push(user)
    }
  }
  return left
}

/** Counts how often the parts of one value are visited. */
class Visits {
  readonly #known = new Map<TextPlace, Map<object, number>>()
  readonly #skipsLists: boolean
  #once = 0

  constructor(skipsLists: boolean) {
    this.#skipsLists = skipsLists
  }

  exceed(root: TextPlace, value: unknown): boolean {
    const visits = this.#count(root, value)
    return visits > LEAST_VISITS + TIMES * this.#once
  }

  #count(place: TextPlace, part: unknown): number {
    if (typeof part !== 'object' || part === null) return this.#countHere(place, part)
    let counts = this.#known.get(place)
    if (counts === undefined) this.#known.set(place, (counts = new Map()))
    const known = counts.get(part)
    if (known !== undefined) return known
    // The check of a part that contains itself never ends.
    counts.set(part, Infinity)
    const visits = this.#countHere(place, part) + this.#countBelow(place, part)
    counts.set(part, visits)
    return visits
  }

  #countHere({ here, choice }: TextPlace, part: unknown): number {
    const own = here.length === 0 && choice === undefined ? 1 : 0
    this.#once += own
    let visits = own
    for (const each of here) visits += this.#count(each, part)
    if (choice === undefined || typeof part !== 'object' || part === null) return visits
    const chosen = (part as Readonly<Record<string, unknown>>)[choice.name]
    for (const [constant, each] of choice.options)
      if (constant === undefined || constant === chosen) visits += this.#count(each, part)
    return visits
  }

  #countBelow({ named, rest, isList, isRecord }: TextPlace, part: object): number {
    if (named.size === 0 && rest.length === 0) return 0
    if (Array.isArray(part) ? isRecord && this.#skipsLists : isList) return 0
    let visits = 0
    for (const [name, each] of Object.entries(part)) {
      const own = named.get(name)
      if (own !== undefined) visits += this.#count(own, each)
      for (const other of rest) visits += this.#count(other, each)
    }
    return visits
  }
}
