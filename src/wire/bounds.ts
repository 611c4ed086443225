import { STRING_TOO_LONG } from '../errors/limits.ts'
import type { Message } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { mcpError } from '../errors/error.ts'
import { readText } from './read-text.ts'
import { endOfString } from './skip.ts'
import { checkKeys } from './values.ts'

export type Bounds = Pick<Limits, 'depth' | 'values' | 'keys' | 'stringLength'>

/** Reads the text of a message or batch, unless it has too many members or a string that is too long. */
export function readBounded(text: string, bounds: Bounds): Message | readonly unknown[] {
  checkBounds(text, bounds)
  return readText(text, bounds)
}

/** Throws if there are too many members, or a string is too long. The text need not be valid JSON. */
export function checkBounds(text: string, { keys, stringLength }: Bounds): void {
  checkKeys(text, keys)
  if (text.length <= stringLength) return
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at + 1)
    if (end - at - 1 > stringLength) throw mcpError(STRING_TOO_LONG, { limit: stringLength })
    at = end + 1
  }
}
