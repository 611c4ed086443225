import type { NodeMessage } from '../../../nodes/messages.ts'
import type { JsonObject } from '../../../protocol/jsonrpc.ts'
import { URI } from '../../../rpc/session-fields.ts'
import type { FieldChanges } from '../../../rpc/session-store.ts'

/** The resources that the client of a session has named at a node. */
export type Subscribed = NodeMessage & { readonly kind: 'subscribed' }

/** The message that lets all nodes with a replica watch the same resources, before the next change of one; undefined if there is none. */
export function toSubscribed(session: string, fields: FieldChanges): Subscribed | undefined {
  const uris = [...fields].filter(([name]) => name.startsWith(URI))
  if (uris.length === 0) return undefined
  const named = (isWatched: boolean): readonly string[] =>
    uris.filter(([, value]) => (value !== null) === isWatched).map(([name]) => name.slice(URI.length))
  return { kind: 'subscribed', session, added: named(true), removed: named(false) }
}

/** The message that lets another node cancel a request that it runs; undefined if no request is named. */
export function toCancelled(session: string, { requestId, reason }: JsonObject): NodeMessage | undefined {
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  const clipped = typeof reason === 'string' ? reason.slice(0, 256) : undefined
  return { kind: 'cancelled', session, params: { requestId, reason: clipped } }
}
