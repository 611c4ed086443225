import { arktypeTexts } from './arktype-texts.ts'
import type { Issue } from './issue.ts'
import { isObject } from './keywords.ts'
import { libraryCosts, toGuard } from './library-patterns.ts'
import type { JsonSchema, StandardSchema } from './schema.ts'
import { toRounds } from './rounds.ts'
import type { Use } from './shown.ts'
import { toSubschemas, type Schema } from './subschemas.ts'
import {
  containsItself,
  hasBigs,
  hasHosts,
  markUnknown,
  needsLook,
  placesFrom,
  pruned,
  RATES,
  TextPlace,
} from './text-place.ts'
import { isSmall, PARSED_TEXT, SMALL_PER_CHAR, textProblem } from './text-walk.ts'
import { valibotTexts } from './valibot-texts.ts'
import { zodTexts } from './zod-texts.ts'

/** Finds a problem of a value whose texts would take a library too long. */
export interface Texts {
  /** `timesOf` says how often the library checks the whole value. */
  readonly problemOf: ((value: unknown, timesOf: () => number) => Issue | undefined) | undefined
  /** Whether the library would check the parts of a value too often; undefined if it never does. */
  readonly isRepeated: ((value: unknown) => boolean) | undefined
  /** The most characters of a text that the library may parse as a URL; 0 if it parses none. */
  readonly hostChars: number
  /** The most characters of a text that the library may make a big integer of; 0 if it makes none. */
  readonly digitChars: number
}

/**
 * Reads what a library does with the texts of a value. What we know to take no longer than to read the text has no limit of its own, nor
 * have functions of the author. Patterns have their price, for everything else a text must be short, and what all texts take together is limited.
 * `remembers` says whether the library checks no part twice against the same alternatives, and `isShown` whether its JSON Schema shows these.
 */
export function textsOf(
  schema: StandardSchema,
  use: Use,
  json: JsonSchema,
  {
    remembers = false,
    isShown = true,
    most = PARSED_TEXT,
  }: {
    readonly remembers?: boolean
    readonly isShown?: boolean
    readonly most?: number | undefined
  } = {},
): Texts {
  const shown = partsOf(schema, use)
  // Pruning changes the places.
  const whole = shown === undefined || !containsItself(shown) ? undefined : partsOf(schema, use)
  const { vendor } = schema['~standard']
  const skipsLists = remembers && !isShown
  const isRepeated = whole && toRounds(whole, remembers && (isShown || vendor === 'zod'), skipsLists)
  const root = pruned(shown ?? jsonTexts(json))
  // The definition has all patterns, also those that the JSON Schema does not show.
  const guard = shown === undefined ? toGuard(json, libraryCosts(schema)) : undefined
  if (root === undefined && guard === undefined)
    return { problemOf: undefined, isRepeated, hostChars: 0, digitChars: 0 }
  const isAlways = root !== undefined && needsLook(root, SMALL_PER_CHAR)
  const look = {
    most,
    repeats: repeatsOf(vendor, remembers),
    skipsKinds: skipsLists && !hasFunctions(whole),
  }
  return {
    problemOf(value, timesOf) {
      const problem = guard?.(value)
      if (problem !== undefined || root === undefined || !(isAlways || !isSmall(value))) return problem
      return textProblem(root, value, look, timesOf)
    },
    isRepeated,
    hostChars: root !== undefined && hasHosts(root) ? most : 0,
    digitChars: root !== undefined && hasBigs(root) ? most : 0,
  }
}

/**
 * Whether a schema contains itself, also where no JSON Schema shows it, in such a way that nothing is done twice if the outcome for each part
 * is remembered. A pipe on the way to itself makes new parts, which nobody knows.
 */
export function readsItself(schema: StandardSchema, use: Use): boolean {
  const root = partsOf(schema, use)
  if (root === undefined || !containsItself(root)) return false
  return ![...placesFrom(root)].some(makesParts)
}

/** Whether functions of the author may make something else of a part, such as an object of a list. */
function hasFunctions(root: TextPlace | undefined): boolean {
  return root === undefined || [...placesFrom(root)].some(({ after }) => after.length > 0)
}

function makesParts(place: TextPlace): boolean {
  const isPipe = place.all === 'pipe' && place.here.length > 1
  return (isPipe || place.json !== undefined || place.after.length > 0) && place.isRecursive
}

/** Which places a part gets to more than once. Arktype chooses alternatives by what distinguishes them. */
function repeatsOf(vendor: string, remembers: boolean): (place: TextPlace) => boolean {
  if (vendor === 'arktype') return () => false
  return remembers ? ({ isRecursive }) => !isRecursive : () => true
}

function partsOf(schema: StandardSchema, use: Use): TextPlace | undefined {
  const { vendor } = schema['~standard']
  if (vendor === 'zod') return zodTexts(schema)
  if (vendor === 'valibot') return valibotTexts(schema, use)
  return vendor === 'arktype' ? arktypeTexts(schema) : undefined
}

/** Of other libraries, only the JSON Schema is known: a text is plain if nothing else is said about it. */
function jsonTexts(json: JsonSchema): TextPlace {
  const subschemasOf = toSubschemas(json)
  const known = new Map<Schema, TextPlace>()
  return visit(json)

  function visit(schema: unknown): TextPlace {
    if (!isObject(schema)) return new TextPlace()
    const seen = known.get(schema)
    if (seen !== undefined) return seen
    const place = new TextPlace()
    known.set(schema, place)
    if (Object.keys(schema).some((keyword) => /^(?:format|content)/.test(keyword))) {
      markUnknown(place.use)
      // Most formats are patterns.
      place.use.each = RATES.url.each
    }
    const { here, named, members } = subschemasOf(schema)
    const { propertyNames } = schema
    place.here = here.map(visit)
    for (const [name, each] of named) place.named.set(name, visit(each))
    place.rest = members.filter((each) => each !== propertyNames).map(visit)
    if (propertyNames !== undefined) place.names = visit(propertyNames)
    return place
  }
}
