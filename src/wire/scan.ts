import { scanFully, type Finding } from './full-scan.ts'
import { isQuiet } from './quiet.ts'

/**
 * Finds in the text of a message or batch what its parsed value no longer shows: duplicate keys in the message and
 * anywhere in its params, nesting beyond `maxDepth` levels, and integer ids too large for a number.
 * Invalid JSON is scanned up to its first error.
 */
export function scan(text: string, maxDepth: number): Finding | undefined {
  return isQuiet(text, maxDepth) ? undefined : scanFully(text, maxDepth)
}
