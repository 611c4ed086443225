import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import { lowerFromClient } from '../wire/lower-client.ts'
import type { Forms } from './forms.ts'

/** The forms of a revision with a handshake, in the dialect of the profile. */
export function formsOf(revision: Revision, dialects: Dialects | undefined): Forms {
  const lowering =
    (kind: 'request' | 'result' | 'notification') =>
    (method: string, value: JsonObject): JsonObject =>
      lowerFromClient(kind, method, value, revision)
  const forms: Forms = {
    request: lowering('request'),
    result: lowering('result'),
    notification: lowering('notification'),
  }
  const adapter = dialects?.[revision].adapter
  if (adapter === undefined) return forms
  return {
    ...forms,
    request: (method, params) => adapter.encodeRequest(method, forms.request(method, params)),
    result: (method, result) => adapter.encodeResult(method, forms.result(method, result)),
    adapter,
  }
}
