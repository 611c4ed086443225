import { mcpError } from '../errors/error.ts'
import { BATCH_TOO_LONG } from '../errors/limits.ts'

/** Throws if a message is a batch with too many members. */
export function checkBatchLength(message: unknown, limit: number): void {
  if (Array.isArray(message) && message.length > limit) throw mcpError(BATCH_TOO_LONG, { limit })
}
