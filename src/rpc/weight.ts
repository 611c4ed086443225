import type { JsonObject } from '../protocol/jsonrpc.ts'

/** Messages up to this many characters are admitted whatever others hold; the number of requests limits them. */
export const SMALL_CHARS = 1024
/** What an empty object takes, the most expensive value for its length. */
const VALUE_BYTES = 64

/** The bytes that a request's message takes while it runs or waits, estimated from its characters and its values. */
export function weightOf(params: JsonObject, chars: number): number {
  return chars <= SMALL_CHARS ? chars : chars + VALUE_BYTES * valuesIn(params, chars)
}

/**
 * Counts the values inside a value, up to as many as its message had room for: its handler may have added others, even
 * itself. Not recursive, because the nesting of messages may be unlimited.
 */
function valuesIn(outermost: object, most: number): number {
  let count = 0
  const open: object[] = [outermost]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const value of Array.isArray(at) ? (at as unknown[]) : Object.values(at)) {
      if (count++ === most) return most
      if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
  return count
}
