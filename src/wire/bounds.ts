import { STRING_TOO_LONG, TOO_MANY_KEYS } from '../errors/limits.ts'
import type { Message } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { mcpError } from '../errors/error.ts'
import { readText } from './read-text.ts'
import { endOfString, skipSpace } from './skip.ts'

export type Bounds = Pick<Limits, 'depth' | 'values' | 'keys' | 'stringLength'>

/** Reads the text of a message or batch, unless it has too many members or a string that is too long. */
export function readBounded(text: string, bounds: Bounds): Message | readonly unknown[] {
  // A text never has more members than characters, nor a string longer than itself.
  if (text.length > bounds.keys || text.length > bounds.stringLength) checkBounds(text, bounds)
  return readText(text, bounds)
}

/** Throws at the first string that is too long, or at the first member beyond the limit. The text need not be valid JSON. */
export function checkBounds(text: string, { keys, stringLength }: Bounds): void {
  let members = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at + 1)
    if (end - at - 1 > stringLength) throw mcpError(STRING_TOO_LONG, { limit: stringLength })
    at = skipSpace(text, end + 1)
    if (text.charCodeAt(at) === COLON && ++members > keys) throw mcpError(TOO_MANY_KEYS, { limit: keys })
  }
}

const COLON = 58
