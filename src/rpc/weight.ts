import { weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** Messages up to this many characters are admitted whatever others hold; the number of requests limits them. */
export const SMALL_CHARS = 1024
/** More than any character of a message can make its values take. */
const CHAR_BYTES = 64

/** The bytes that a request's message takes while it runs or waits; no more than its characters can cause, because its handler may have added others. */
export function weightOf(params: JsonObject, chars: number): number {
  return chars <= SMALL_CHARS ? chars : weigh(params, chars * CHAR_BYTES)
}
