import { mcpError } from '../errors/error.ts'
import { ANSWER_TOO_LARGE, BAD_ANSWER } from '../errors/client.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { Clock } from '../rpc/clock.ts'
import { copyOf } from '../base/copy-of.ts'
import { nextTask, TURN, Turns } from '../base/next-task.ts'
import { namesOnce, weigh, weighKept } from '../base/weight.ts'

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list'

const MAX_ITEMS = 1_000_000
/** The most bytes of memory that all readings of the lists of a server take together. */
const MAX_WEIGHT = 134_217_728
/** The most members of an item, which has few. */
const MAX_MEMBERS = 256
/** The least weight of a member. */
const MEMBER = 72
/** The weight of an item that takes longer to weigh than to look up. */
const LARGE = 65_536

/** The weights of large items, which are not weighed again. */
export const itemWeights: WeakMap<JsonObject, number> = new WeakMap()

/** One reading of a list. */
export interface Reading {
  readonly method: ListMethod
  /** The bytes of its items so far. */
  weight: number
  /** Exists as long as the generator of a reading that has not ended, which a program may abandon. */
  alive: WeakRef<object> | undefined
}

export interface Listed {
  readonly method: ListMethod
  /** The member of each page that contains the items. */
  readonly member: string
  readonly revision: Revision
  readonly maxPages: number
  /** The length of the longest name or URI. */
  readonly maxLength: number
  /** The readings of the lists of the server, to which this one is added: together they have a limit. */
  readonly readings?: Set<Reading>
  /** Receives a warning if items were left out. */
  warn(text: string): void
  /** Measures how long the list has waited for the server. */
  readonly clock?: Clock
}

/**
 * Yields every item of a list, page by page. Throws if the list, or all readings of the server's lists together, are too large, or if
 * it repeats a cursor. The clock does not count the time in which the caller uses the items.
 */
export async function* eachItem<Item>(
  { method, member, revision, maxPages, maxLength, readings = new Set(), warn, clock = new Clock() }: Listed,
  page: (params: JsonObject, clock: Clock) => Promise<JsonObject>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>()
  const reading = begin(readings, method, seen)
  let params: JsonObject = {}
  let waited = clock.elapsed
  let long = 0
  let wide = 0
  try {
    for (let pages = 0, items = 0; ; pages++) {
      clock.elapsed = waited
      const result = await page(params, clock)
      waited = clock.elapsed
      const list = result[member] as readonly JsonObject[]
      items += list.length
      if (items > MAX_ITEMS) throw tooMuch(MAX_ITEMS, 'items of one list')
      const room = MAX_WEIGHT - weightOfOthers(readings, reading)
      let { weight } = reading
      weight += weigh(Object.assign(copyOf(result), { [member]: [] }), Math.max(1, room - weight + 1))
      const fitting: JsonObject[] = []
      const turns = new Turns()
      for (const item of list) {
        const members = namesOnce(item).length
        const left = room - weight + 1
        const bytes = members > MAX_MEMBERS ? Math.min(members * MEMBER, left) : weighKept(item, left)
        weight += bytes
        if (members > MAX_MEMBERS) wide++
        else if (isLong(item, maxLength)) long++
        else fitting.push(mended(item, bytes))
        if (turns.isOver()) await turns.next()
      }
      if (weight > MAX_WEIGHT) throw tooMuch(MAX_WEIGHT, 'bytes of one list')
      // Beyond the room, items are not weighed to their end. Others may have grown meanwhile.
      if (weight > room || weight + weightOfOthers(readings, reading) > MAX_WEIGHT)
        throw tooMuch(MAX_WEIGHT, 'bytes of all its lists')
      reading.weight = weight
      for (const [at, item] of fitting.entries()) {
        yield item as Item
        if (at % TURN === TURN - 1) await nextTask()
      }
      const { nextCursor: cursor } = result
      if (typeof cursor !== 'string') return
      // Only the newest revision allows an empty cursor; servers of older revisions end lists with it.
      if (cursor === '' && revision !== LATEST) return
      if (seen.has(cursor))
        throw mcpError(BAD_ANSWER, { method, issue: 'the list does not end: a cursor was repeated' })
      if (pages + 1 >= maxPages) throw tooMuch(maxPages, 'pages of one list')
      seen.add(cursor)
      params = { cursor }
    }
  } catch (error) {
    readings.delete(reading)
    throw error
  } finally {
    reading.alive = undefined
    if (long > 0)
      warn(`skipped ${long} items of ${method}: a name or URI has more than ${maxLength} characters`)
    if (wide > 0) warn(`skipped ${wide} items of ${method}: they have more than ${MAX_MEMBERS} members`)
  }
}

/** Whether the name or URI of an item is too long. Engines compare long texts that are keys of a Map one by one. */
function isLong({ name, uri, uriTemplate }: JsonObject, most: number): boolean {
  return lengthOf(name) > most || lengthOf(uri) > most || lengthOf(uriTemplate) > most
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0
}

/** The types of the optional members of listed items. */
const TYPES: readonly (readonly [members: string, is: (value: unknown) => boolean])[] = [
  ['name title description mimeType', (value) => typeof value === 'string'],
  ['inputSchema outputSchema annotations _meta', isObject],
  ['icons arguments', (value) => Array.isArray(value) && value.every(isObject)],
]

/**
 * A listed item without the members of a wrong type: one bad item must not cost a list. A tool with an input schema of a wrong type
 * takes any object.
 */
function mended(item: JsonObject, bytes: number): JsonObject {
  let right: Record<string, unknown> | undefined
  for (const [members, is] of TYPES)
    for (const name of members.split(' ')) {
      if (item[name] === undefined || is(item[name])) continue
      right ??= copyOf(item)
      if (name === 'inputSchema') right[name] = { type: 'object' }
      else delete right[name]
    }
  if (bytes > LARGE) itemWeights.set(right ?? item, bytes)
  return right ?? item
}

function tooMuch(limit: number, unit: string): Error {
  return mcpError(ANSWER_TOO_LARGE, { limit, unit })
}

/** Adds a reading. It replaces those of the same list that are over; the others, which run at the same time, still count. */
function begin(readings: Set<Reading>, method: ListMethod, state: object): Reading {
  for (const one of readings) if (one.method === method && one.alive === undefined) readings.delete(one)
  const reading = { method, weight: 0, alive: new WeakRef(state) }
  readings.add(reading)
  return reading
}

/** The bytes of all readings but one. The program may still hold what those that are over have found. */
function weightOfOthers(readings: Set<Reading>, reading: Reading): number {
  let sum = 0
  for (const one of readings)
    if (one.alive !== undefined && one.alive.deref() === undefined) readings.delete(one)
    else if (one !== reading) sum += one.weight
  return sum
}
