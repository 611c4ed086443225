import { withStored } from '../base/stored-member.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Tasks } from '../tasks/tasks.ts'

/** The number of outcomes that are remembered. */
const MOST = 1000
/** Shorter ones are read as fast as they are found here. */
const LONG_CHARS = 16_384
const START = '{"result":{'

/** The outcomes that were read before and are valid, by the id of their task, with their length: an outcome never changes. */
const valid = new WeakMap<Tasks, Map<string, number>>()

/** Remembers that the text of an outcome has a valid result. */
export function rememberValid(tasks: Tasks, id: string, text: string, result: JsonObject): void {
  if (text.length < LONG_CHARS || !text.startsWith(START) || 'resultType' in result) return
  let known = valid.get(tasks)
  if (known === undefined) valid.set(tasks, (known = new Map()))
  known.set(id, text.length)
  const [oldest] = known.keys()
  if (known.size > MOST) known.delete(oldest as string)
}

/** The text of the result of a task, with its type, if its outcome was read before; undefined otherwise. */
export function knownResult(tasks: Tasks, id: string, text: string): string | undefined {
  if (text.length < LONG_CHARS || valid.get(tasks)?.get(id) !== text.length) return undefined
  const members = text.slice(START.length, -1)
  return `{"resultType":"complete"${members === '}' ? '' : ','}${members}`
}

/** The members of a result that may be long. The others are remembered if they are short. */
const MEMBERS: ReadonlySet<string> = new Set(['content', 'structuredContent'])
const SHORT_CHARS = 1024

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
  let known = places.get(tasks)
  if (known === undefined) places.set(tasks, (known = new Map()))
  known.set(id, { length: text.length, members, others })
  const [oldest] = known.keys()
  if (known.size > MOST) known.delete(oldest as string)
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
