import { readScanned, type Message } from './message.ts'
import { scan } from './scan.ts'

/** Reads the text of one message, or of a batch as an array of values still to be read one by one. */
export function readText(text: string, maxDepth: number): Message | readonly unknown[] {
  return readScanned(text, maxDepth, scan(text, maxDepth))
}
