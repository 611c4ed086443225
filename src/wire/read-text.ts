import type { ContentLimits } from '../protocol/client-limits.ts'
import type { Message } from '../protocol/jsonrpc.ts'
import { readScanned } from './message.ts'
import { scan } from './scan.ts'
import { checkValues } from './values.ts'

/** Reads the text of a message, or of a batch as an array of values that must still be read one by one. */
export function readText(text: string, limits: Omit<ContentLimits, 'batch'>): Message | readonly unknown[] {
  checkValues(text, limits)
  return readScanned(text, limits.depth, scan(text, limits.depth))
}
