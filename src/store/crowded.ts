import { mcpError, type McpError } from '../errors/error.ts'
import { SOON } from '../errors/retry-after.ts'
import { OVERLOADED } from '../errors/rpc.ts'

/** The error of a step for which a store has no time: it is busy, and not away. `why` is for operators. */
export function crowded(why: string): McpError {
  return mcpError(OVERLOADED, {}, { ...SOON, hint: `Try again later. Operators: ${why}.` })
}
