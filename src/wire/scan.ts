import { scanFully, type Finding } from './full-scan.ts'
import { isQuiet } from './quiet.ts'

/**
 * Finds in the text of a message or batch what its parsed value no longer shows: repeated keys of the message, its
 * params, arguments and `_meta`, nesting beyond `maxDepth` levels, and integer ids that a number cannot hold.
 * Text that is not JSON is scanned up to its first fault.
 */
export function scan(text: string, maxDepth: number): Finding | undefined {
  return isQuiet(text, maxDepth) ? undefined : scanFully(text, maxDepth)
}
