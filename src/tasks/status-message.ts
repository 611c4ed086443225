import { asSent } from '../base/as-sent.ts'
import { clip } from '../base/clip.ts'

/** The most characters of a status message. */
const MOST_CHARS = 1024

/** The message that the head of a task keeps. It is a copy, since a part of a text keeps the whole of it in memory. */
export function statusMessageOf(message: string): string {
  return asSent(clip(message, MOST_CHARS))
}
