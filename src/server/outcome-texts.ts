import { withStored } from '../base/stored-member.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Tasks } from '../tasks/tasks.ts'

/** Shorter outcomes are parsed as fast as they are found here. */
const LEAST_CHARS = 1024
/** The number of outcomes that are remembered as valid, which takes about 100 bytes for each: a caller may listen for a thousand tasks in each request, and have ten thousand. */
const MOST_VALID = 50_000
const START = '{"result":{'

/** An outcome that was read before and is valid. It never changes. */
interface Valid {
  readonly length: number
  /** Whether its result has a type of its own. */
  readonly isTyped: boolean
}

const valid = new WeakMap<Tasks, Map<string, Valid>>()

/** Remembers that the text of an outcome has a valid result. */
export function rememberValid(tasks: Tasks, id: string, text: string, result: JsonObject): void {
  const { length } = text
  if (length < LEAST_CHARS || !text.startsWith(START)) return
  remember(valid, tasks, id, { length, isTyped: Object.hasOwn(result, 'resultType') }, MOST_VALID)
}

/** The text of the result of a task, with its type, if its outcome was read before; undefined otherwise. */
export function knownResult(tasks: Tasks, id: string, text: string): string | undefined {
  const known = text.length < LEAST_CHARS ? undefined : valid.get(tasks)?.get(id)
  if (known?.length !== text.length) return undefined
  const members = text.slice(START.length, -1)
  if (known.isTyped) return `{${members}`
  return `{"resultType":"complete"${members === '}' ? '' : ','}${members}`
}

/** Remembers something of a task, and forgets what is oldest if it would be too much. */
function remember<Kept>(
  all: WeakMap<Tasks, Map<string, Kept>>,
  tasks: Tasks,
  id: string,
  kept: Kept,
  most: number,
): void {
  const known = all.get(tasks) ?? new Map<string, Kept>()
  all.set(tasks, known.set(id, kept))
  const [oldest] = known.keys()
  if (known.size > most) known.delete(oldest as string)
}

/** The members of a result that may be long. The others are remembered if they are short. */
const MEMBERS: ReadonlySet<string> = new Set(['content', 'structuredContent'])
const SHORT_CHARS = 1024
/** Only of longer outcomes: finding the members takes as long as writing them, and who asks for a single task has asked for it alone. */
const LONG_CHARS = 16_384
const MOST_PLACES = 1000

/** Where the members of a result are in the text of its outcome, and the text of the others. */
interface Places {
  readonly length: number
  readonly members: readonly (readonly [name: string, start: number, end: number])[]
  readonly others: string
}

const places = new WeakMap<Tasks, Map<string, Places>>()

/** Remembers where the long members of a result are in the text of its outcome. */
export function rememberMembers(tasks: Tasks, id: string, text: string, result: JsonObject): void {
  if (text.length < LONG_CHARS || !text.startsWith(START)) return
  const members: [string, number, number][] = []
  let end = START.length - 1
  for (const [name, value] of Object.entries(result)) {
    const own = JSON.stringify(value)
    const start = end + 1 + JSON.stringify(name).length + 1
    if (!text.startsWith(own, start)) return
    end = start + own.length
    if (MEMBERS.has(name)) members.push([name, start, end])
  }
  const others = JSON.stringify(
    Object.fromEntries(Object.entries(result).filter(([name]) => !MEMBERS.has(name))),
  )
  if (others.length > SHORT_CHARS) return
  remember(places, tasks, id, { length: text.length, members, others }, MOST_PLACES)
}

/** The result of a task whose outcome was read before, with its short members changed; undefined if it was not. Long ones are not parsed. */
export function knownMembers(
  tasks: Tasks,
  id: string,
  text: string,
  change: (others: JsonObject) => JsonObject,
): JsonObject | undefined {
  const known = places.get(tasks)?.get(id)
  if (known?.length !== text.length) return undefined
  const { members, others } = known
  const long = members.map(([name, start, end]) => ({ name, text: text.slice(start, end) }))
  return withStored(change(JSON.parse(others) as JsonObject), ...long)
}
