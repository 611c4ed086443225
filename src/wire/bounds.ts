import { STRING_TOO_LONG } from '../errors/limits.ts'
import type { Message } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { mcpError } from '../errors/error.ts'
import { readText } from './read-text.ts'
import { endOfString } from './skip.ts'

export type Bounds = Pick<Limits, 'depth' | 'values' | 'keys' | 'containers' | 'stringLength'>

/** Reads the text of a message or batch, unless it has too many values, members or containers, or a string that is too long. */
export function readBounded(text: string, bounds: Bounds): Message | readonly unknown[] {
  checkStrings(text, bounds)
  return readText(text, bounds)
}

/** Throws if a string is too long. The text need not be valid JSON. */
export function checkStrings(text: string, { stringLength }: Bounds): void {
  if (text.length <= stringLength) return
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at + 1)
    if (end - at - 1 > stringLength) throw mcpError(STRING_TOO_LONG, { limit: stringLength })
    at = end + 1
  }
}
