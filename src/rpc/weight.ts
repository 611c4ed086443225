import { weigh } from '../base/weight.ts'

/** Messages up to this many characters are admitted whatever others hold; the number of requests limits them. */
export const SMALL_CHARS = 1024
/** Responses up to this many characters are sent even to callers that leave too much unread. */
export const SMALL_ANSWER = 65_536
/** More than any character of a message can make its values take. */
const CHAR_BYTES = 64

/** Estimates the bytes that a message takes while its request runs or waits. Bounded by the message size, because the handler may have added values. */
export function weightOf(content: unknown, chars: number): number {
  return chars <= SMALL_CHARS ? chars : weigh(content, chars * CHAR_BYTES)
}
