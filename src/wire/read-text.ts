import type { Message } from '../protocol/jsonrpc.ts'
import { readScanned } from './message.ts'
import { scan } from './scan.ts'

/** Reads the text of a message, or of a batch as an array of values that must still be read one by one. */
export function readText(text: string, maxDepth: number): Message | readonly unknown[] {
  return readScanned(text, maxDepth, scan(text, maxDepth))
}
