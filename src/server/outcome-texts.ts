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
