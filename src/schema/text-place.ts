import { proveExpression, toPrice, type Price } from './pattern.ts'

/** What a function of a library takes, in nanoseconds. */
interface Rate {
  readonly each: number
  readonly perChar: number
  /** If the text is not ASCII. Default: the same. */
  readonly perWideChar?: number
}

/** Measured with the texts that take longest. Whoever throws for a wrong text takes about six microseconds for it. */
export const RATES: Readonly<
  Record<'reading' | 'url' | 'parsing' | 'failing' | 'casing' | 'normalizing' | 'splitting', Rate>
> = {
  /** Reads a number, a date or an encoded text, or trims. */
  reading: { each: 0, perChar: 3 },
  url: { each: 500, perChar: 3, perWideChar: 8 },
  /** Tokens, JSON, and all that is unknown. */
  parsing: { each: 6000, perChar: 20 },
  /** Throws at once for a wrong text. */
  failing: { each: 6000, perChar: 0 },
  casing: { each: 0, perChar: 1, perWideChar: 25 },
  /** Twice, because the walk does it, too. */
  normalizing: { each: 0, perChar: 2, perWideChar: 40 },
  /** Divides a text into words. */
  splitting: { each: 12_000, perChar: 600 },
}

/** What patterns take for each character, and for each step of a matcher. */
const PATTERN = 3
const PATTERN_STEP = 1 / 2

/** How a library treats a text at a place. With none of these, checking the text takes as long as reading it. */
export class TextUse {
  /** Whether a text must be short; `data` if it may be a long `data:` URL. */
  short: boolean | 'data' = false
  /** The prices of patterns that take longer than to read the text. */
  readonly prices: Price[] = []
  /** What takes the square of a length: parsing hosts, sorting marks, and splitting any text. */
  hosts = false
  marks = false
  splits = false
  /** How many times as long a text may become before its patterns are matched. */
  growth = 1
  /** Whether a list or an object becomes a text, too. */
  coerces = false
  /** The nanoseconds that all of it takes for each text, for each of its characters, and for each if any is not ASCII. */
  each = 0
  perChar = 0
  perWideChar = 0
  /** How often a text is converted into a big integer, or that is compared, divided or written. */
  bigs = 0

  /** Adds what a function of a library takes. */
  charge({ each, perChar, perWideChar = perChar }: Rate): void {
    this.each += each
    this.perChar += perChar
    this.perWideChar += perWideChar
  }

  /** Whether it takes next to no time. */
  get isFree(): boolean {
    return this.each === 0 && this.perWideChar === 0 && this.bigs === 0
  }

  get isPlain(): boolean {
    return this.short === false && !this.splits && !this.coerces && this.prices.length === 0
  }
}

/** The places of a value, as a library reads it: what it does to texts there, and below. */
export class TextPlace {
  readonly use: TextUse = new TextUse()
  here: TextPlace[] = []
  /** By the names of members, and the positions of items. */
  named: Map<string, TextPlace> = new Map()
  /** For the other members and items. */
  rest: TextPlace[] = []
  /** For the names of members. */
  names: TextPlace | undefined
  /** For what a text becomes that the library parses as JSON. */
  json: TextPlace | undefined
  /** Why the library checks a value against all of `here`, one after the other: none of them are alternatives. */
  all: 'pipe' | 'intersection' | undefined
  /** Whether `named` and `rest` are for lists only. */
  isList = false
  /** Whether they are for objects. Valibot takes a list for an object if it fits nothing else. */
  isRecord = false
  /** What follows a function of the author. */
  readonly after: TextPlace[] = []
  /** The member that chooses among alternatives. */
  choice: TextChoice | undefined
  /** How many members and items the library looks for. */
  width = 0
  /** The names that `rest` does not apply to. */
  declared: ReadonlySet<string> = NONE
  /** Whether a part may get here in several ways. */
  isShared = false
  #isRecursive: boolean | undefined

  /** Whether the place is below itself. */
  get isRecursive(): boolean {
    return (this.#isRecursive ??= below(this).some((each) => placesFrom(each).has(this)))
  }
}

/** Alternatives of which a library checks those whose constant is the value of a member. */
export interface TextChoice {
  readonly name: string
  readonly options: readonly (readonly [constant: unknown, place: TextPlace])[]
}

const NONE: ReadonlySet<string> = new Set()

/** The price of a pattern; none if it takes no longer than to read the text. */
export function addPattern(
  use: TextUse,
  { source, flags }: { readonly source: string; readonly flags: string },
): void {
  const cost = proveExpression(source, flags)
  if (cost.cost === 'unsafe') return
  const price = toPrice(cost.curve)
  if (price.limit !== Infinity) use.prices.push(price)
  else use.charge({ each: 0, perChar: PATTERN + PATTERN_STEP * (cost.curve.slope ?? 0) })
}

/** A text that a library treats in a way that we do not know: everything is possible. */
export function markUnknown(use: TextUse): void {
  use.short = true
  use.hosts = use.marks = true
  use.charge(RATES.parsing)
}

/** A text that becomes a big integer, which takes the square of its length. */
export function markBig(use: TextUse, times: number): void {
  use.short = use.coerces = true
  use.bigs += times
  use.charge(RATES.failing)
}

/** A text that is divided into what people call characters or words. */
export function markSplit(use: TextUse): void {
  markUnknown(use)
  use.splits = true
  use.charge(RATES.splitting)
}

/** A text that is parsed as a URL. */
export function markUrl(use: TextUse): void {
  if (use.short === false) use.short = 'data'
  use.hosts = true
  use.charge(RATES.url)
}

/** A text that is normalised, which makes it longer: at most so many times. */
export function markNormalized(use: TextUse): void {
  use.short = true
  use.marks = true
  use.growth *= 18
  use.charge(RATES.normalizing)
}

/** Case mapping makes a text longer: at most so many times. */
export function markCased(use: TextUse): void {
  use.growth *= 3
  use.charge(RATES.casing)
}

/** A place of a kind that we do not know. The same holds for everything below it. */
export function unknownPlace(): TextPlace {
  const place = new TextPlace()
  markUnknown(place.use)
  place.isShared = true
  place.rest.push(place)
  place.names = place
  return place
}

export function below(place: TextPlace): readonly TextPlace[] {
  const { here, named, rest, names, json, choice } = place
  return [
    ...here,
    ...named.values(),
    ...rest,
    ...(choice?.options.map(([, option]) => option) ?? []),
    ...(names === undefined ? [] : [names]),
    ...(json === undefined ? [] : [json]),
  ]
}

/** Every place from one on. */
export function placesFrom(root: TextPlace): ReadonlySet<TextPlace> {
  const all = new Set([root])
  for (const place of all) for (const each of [...below(place), ...place.after]) all.add(each)
  return all
}

/** Whether a library may parse a text as a URL. */
export function hasHosts(root: TextPlace): boolean {
  return [...placesFrom(root)].some(({ use }) => use.hosts)
}

/**
 * Whether every text needs a look, however short the value is: some do, or all places together may take longer than this for a
 * character. Places that contain themselves may be reached very often.
 */
export function needsLook(root: TextPlace, mostPerChar: number): boolean {
  const all = placesFrom(root)
  let sum = 0
  for (const { use, json } of all) {
    if (!use.isPlain || json !== undefined) return true
    sum += Math.max(use.perChar, use.perWideChar) + use.each
  }
  return sum > mostPerChar || containsItself(root)
}

export function containsItself(root: TextPlace): boolean {
  const done = new Set<TextPlace>()
  const open = new Set<TextPlace>()
  return visit(root)

  function visit(place: TextPlace): boolean {
    if (open.has(place)) return true
    if (done.has(place)) return false
    done.add(place)
    open.add(place)
    const found = below(place).some(visit)
    open.delete(place)
    return found
  }
}

/** Whether a library may make a big integer of a text. */
export function hasBigs(root: TextPlace): boolean {
  return [...placesFrom(root)].some(({ use }) => use.bigs > 0)
}

/** Removes the places where no text needs a look, there or below. Undefined if that is all of them. */
export function pruned(root: TextPlace): TextPlace | undefined {
  const all = placesFrom(root)
  for (const place of all) limitBefore(place)
  // What a text becomes is counted in steps, so nothing is removed there.
  const parsed = new Set<TextPlace>()
  for (const { json } of all) if (json !== undefined) for (const each of placesFrom(json)) parsed.add(each)
  const users = new Map<TextPlace, TextPlace[]>([...all].map((place) => [place, []]))
  for (const place of all) for (const each of below(place)) users.get(each)!.push(place)
  for (const [place, { length }] of users) if (length > (place === root ? 0 : 1)) place.isShared = true
  const kept = new Set(
    [...all].filter(
      (place) => !place.use.isPlain || !place.use.isFree || place.json !== undefined || parsed.has(place),
    ),
  )
  for (const place of kept) for (const user of users.get(place)!) kept.add(user)
  if (!kept.has(root)) return undefined
  for (const place of kept) prune(place, kept)
  return root
}

function prune(place: TextPlace, kept: ReadonlySet<TextPlace>): void {
  const isKept = (each: TextPlace): boolean => kept.has(each)
  place.declared = new Set(place.named.keys())
  place.here = place.here.filter(isKept)
  place.rest = place.rest.filter(isKept)
  if (place.names !== undefined && !isKept(place.names)) place.names = undefined
  if (place.choice !== undefined)
    place.choice = { ...place.choice, options: place.choice.options.filter(([, each]) => isKept(each)) }
  place.named = new Map([...place.named].filter(([, each]) => isKept(each)))
}

/** Nobody sees what a function makes of a text. It is short if a library does more with the result, or with a part of it, than to read it. */
function limitBefore({ after, use }: TextPlace): void {
  for (const first of after)
    for (const { use: later } of placesFrom(first)) {
      // The patterns of the first are matched with the whole text, which pays for them.
      if (later.short !== false || (later.prices.length > 0 && later !== first.use)) use.short = true
      if (later.hosts) use.hosts = true
      if (later.marks) use.marks = true
    }
}
