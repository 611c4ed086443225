import type { RequestId } from '../protocol/jsonrpc.ts'
import { serverError } from '../errors/server.ts'

/** Refuses an id that is longer than anybody needs; the answer would repeat it. */
export function checkId(id: RequestId, maxLength: number): void {
  if (typeof id === 'string' && id.length > maxLength) throw serverError('id_too_long', { limit: maxLength })
}
