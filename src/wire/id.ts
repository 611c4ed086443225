import { ID_TOO_LONG } from '../errors/limits.ts'
import type { RequestId } from '../protocol/jsonrpc.ts'
import { mcpError } from '../errors/error.ts'

/** Rejects excessively long ids, because the answer would repeat them. */
export function checkId(id: RequestId, maxLength: number): void {
  if (typeof id === 'string' && id.length > maxLength) throw mcpError(ID_TOO_LONG, { limit: maxLength })
}
