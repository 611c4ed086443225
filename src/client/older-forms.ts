import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import { loweringFor, lowerNotification, lowerRequest, lowerResult } from '../wire/lower.ts'
import type { Forms } from './forms.ts'

/** The forms of a revision with a handshake, in the dialect of the profile. */
export function formsOf(revision: Revision, dialects: Dialects | undefined): Forms {
  const lowering = loweringFor(revision)
  const forms: Forms = {
    request: (method, params) => lowerRequest(method, params, lowering),
    result: (method, result) => lowerResult(method, result, lowering),
    notification: (method, params) => lowerNotification(method, params, lowering),
  }
  const adapter = dialects?.[revision].adapter
  if (adapter === undefined) return forms
  return {
    request: (method, params) => adapter.encodeRequest(method, forms.request(method, params)),
    result: (method, result) => adapter.encodeResult(method, forms.result(method, result)),
    notification: (method, params) => forms.notification(method, params),
    adapter,
  }
}
