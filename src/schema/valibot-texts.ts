import { isObject } from './keywords.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import {
  addPattern,
  markBig,
  markCased,
  markNormalized,
  markSplit,
  markUnknown,
  markUrl,
  RATES,
  TextPlace,
  unknownPlace,
  type TextUse,
} from './text-place.ts'

/** A schema or an action of valibot. */
interface Part {
  readonly kind?: unknown
  readonly type?: unknown
  readonly pipe?: readonly Part[]
  readonly requirement?: unknown
  readonly entries?: Readonly<Record<string, Part>>
  readonly items?: readonly Part[]
  readonly item?: Part
  readonly rest?: Part
  readonly key?: Part | string
  readonly value?: Part
  readonly options?: readonly Part[]
  readonly wrapped?: Part
  readonly literal?: unknown
  readonly getter?: (input: unknown) => Part
}

/** The schemas that only look at a value, whatever it is. */
const SCALARS: ReadonlySet<unknown> = new Set(
  'any bigint blob boolean custom date enum file function instance literal nan never null number picklist promise string symbol undefined unknown void'.split(
    ' ',
  ),
)
const MEMBERS: ReadonlySet<unknown> = new Set(
  'object loose_object strict_object object_with_rest tuple loose_tuple strict_tuple tuple_with_rest array record'.split(
    ' ',
  ),
)
/** The actions that take no longer than to read the text, functions of the author aside. */
const ACTIONS: ReadonlySet<unknown> = new Set(
  (
    'length min_length max_length not_length empty non_empty includes excludes starts_with ends_with bytes min_bytes max_bytes not_bytes code_points min_code_points max_code_points not_code_points ' +
    'value not_value values not_values min_value max_value gt_value lt_value integer safe_integer finite multiple_of size min_size max_size not_size entries min_entries max_entries not_entries ' +
    'check raw_check partial_check check_items every_item some_item guard args returns await brand flavor readonly mime_type ' +
    'trim trim_start trim_end to_number to_boolean to_date to_min_value to_max_value parse_boolean'
  ).split(' '),
)
/** Those of them that read all of a text. */
const READING = /bytes|code_points|cludes$|^trim|^to_(?:number|date)/
/** The actions that call a function of the author to make something else of a value. */
const FUNCTIONS: ReadonlySet<unknown> = new Set(
  'transform raw_transform filter_items find_item map_items reduce_items sort_items'.split(' '),
)
/** The actions that divide a text into what people call characters or words. */
const SPLITTING = /^(?:min_|max_|not_)?(?:graphemes|words)$/

/** The places of a schema of valibot; undefined if it does not show its parts. */
export function valibotTexts(schema: StandardSchema, use: Use): TextPlace | undefined {
  const root = rootOf(schema, use)
  const known = new Map<Part, TextPlace>()
  const targets = new Map<Part['getter'], Part | undefined>()
  return isObject(root) ? visit(root) : undefined

  function visit(part: Part | undefined): TextPlace {
    const seen = part && known.get(part)
    if (seen !== undefined) return seen
    const made = new TextPlace()
    if (part !== undefined) known.set(part, made)
    if (part?.pipe !== undefined) readPipe(part.pipe, made)
    else if (part === undefined || !readSchema(part, made)) made.here.push(unknownPlace())
    return made
  }

  /** A getter may make a new schema each time. */
  function visitTarget(getter: Part['getter']): TextPlace {
    if (!targets.has(getter)) targets.set(getter, resultOf(getter))
    return visit(targets.get(getter))
  }

  /** Adds what all parts of a pipe do, one after the other. */
  function readPipe(parts: readonly Part[], first: TextPlace): void {
    let at = first
    let isFunction = false
    for (const part of parts) {
      if (part.kind === 'schema') {
        const next = visit(part)
        at.all = 'pipe'
        at.here.push(next)
        if (at.use.bigs > 0) at.use.bigs++
        if (isFunction) at.after.push(next)
      } else if (part.type === 'parse_json') {
        at.use.short = at.use.coerces = true
        at.use.charge(RATES.parsing)
        at = at.json = new TextPlace()
        isFunction = false
      } else if (FUNCTIONS.has(part.type)) isFunction = true
      else readAction(part, at.use)
    }
  }

  /** False if the type is unknown. */
  function readSchema(part: Part, place: TextPlace): boolean {
    const { type, options, wrapped, getter, key } = part
    if (SCALARS.has(type)) return true
    if (MEMBERS.has(type)) readMembers(part, place)
    else if (wrapped !== undefined) place.here.push(visit(wrapped))
    else if (type === 'lazy') place.here.push(visitTarget(getter))
    else if (type === 'variant' && typeof key === 'string')
      place.choice = {
        name: key,
        options: options!.map((each) => [each.entries?.[key]?.literal, visit(each)] as const),
      }
    else if (type === 'union' || type === 'intersect') {
      if (type === 'intersect') place.all = 'intersection'
      place.here.push(...options!.map(visit))
    } else return false
    return true
  }

  function readMembers({ entries, items, item, rest, value, key }: Part, place: TextPlace): void {
    const all = Object.entries(entries ?? items ?? {})
    place.isList = items !== undefined || item !== undefined
    place.isRecord = !place.isList
    for (const [name, each] of all) place.named.set(name, visit(each))
    place.width = all.length
    for (const each of [item, rest, value]) if (each !== undefined) place.rest.push(visit(each))
    if (isObject(key)) place.names = visit(key)
  }
}

function resultOf(getter: Part['getter']): Part | undefined {
  try {
    return getter?.(undefined)
  } catch {
    return undefined
  }
}

function readAction({ kind, type, requirement }: Part, use: TextUse): void {
  if (kind === 'metadata') return
  // Whatever is wrong with a big integer, the message has all its digits.
  if (use.bigs > 0 || typeof requirement === 'bigint') use.bigs++
  if (ACTIONS.has(type)) {
    if (READING.test(String(type))) use.charge(RATES.reading)
  } else if (requirement instanceof RegExp) addPattern(use, requirement)
  else if (type === 'url') markUrl(use)
  else if (type === 'normalize') markNormalized(use)
  else if (type === 'to_lower_case' || type === 'to_upper_case') markCased(use)
  else if (type === 'to_string') use.coerces = true
  else if (type === 'to_bigint') markBig(use, 2)
  else if (SPLITTING.test(String(type))) markSplit(use)
  else markUnknown(use)
}

/** The schema of valibot in what shows its JSON Schema, which is the only way to it; undefined if there is none. */
export function rootOf(schema: StandardSchema, use: Use): unknown {
  let root: unknown
  const libraryOptions = {
    errorMode: 'ignore',
    // Definitions are converted first. Then the root is looked up among them.
    definitions: { first: { kind: 'schema', type: 'any' } },
    overrideSchema({
      referenceMap: map,
    }: {
      readonly referenceMap: Pick<Map<unknown, unknown>, 'get'>
    }): void {
      const get = map.get.bind(map)
      map.get = (part) => ((root ??= part), get(part))
    },
  }
  const options = { target: 'draft-2020-12', libraryOptions } as const
  try {
    schema['~standard'].jsonSchema?.[use](options)
  } catch {
    // What cannot be converted has been seen.
  }
  return root
}
