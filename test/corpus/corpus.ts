import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { methodRow } from '../../src/protocol/methods.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import * as at20241105 from './2024-11-05.ts'
import * as at20250326 from './2025-03-26.ts'
import * as at20250618 from './2025-06-18.ts'
import * as at20251125 from './2025-11-25.ts'
import * as at20260728 from './2026-07-28.ts'

export interface Example {
  readonly name: string
  readonly kind: 'request' | 'notification' | 'result'
  readonly method: string
  /** The params of the request or notification, or the result, without the envelope of 2026-07-28. */
  readonly value: JsonObject
}

/** Examples of every message of a revision, in both directions. */
export function corpus(revision: Revision): readonly Example[] {
  const { requests, notifications } = FILES[revision]
  return [
    ...Object.entries(requests).flatMap(([method, { params, result }]) => [
      ...named('request', method, params),
      ...named('result', method, result),
    ]),
    ...Object.entries(notifications).flatMap(([method, params]) => named('notification', method, params)),
  ]
}

/** The message as it travels: a JSON-RPC message, or at 2026-07-28 a bare question or answer inside another one. */
export function toWire(example: Example, revision: Revision): JsonObject {
  const { kind, method, value } = example
  const newest = revision === '2026-07-28'
  const bare = newest && methodRow(method)?.embedded === true
  if (kind === 'notification') return { jsonrpc: '2.0', method, params: value }
  if (bare) return kind === 'request' ? { method, params: value } : value
  if (kind === 'request') return { jsonrpc: '2.0', id: 1, method, params: newest ? enveloped(value) : value }
  return { jsonrpc: '2.0', id: 1, result: newest ? sealed(method, value) : value }
}

interface Examples {
  readonly requests: Readonly<Record<string, { readonly params: Group; readonly result: Group }>>
  readonly notifications: Readonly<Record<string, Group>>
}
type Group = Readonly<Record<string, object>>

const FILES: Readonly<Record<Revision, Examples>> = {
  '2024-11-05': { requests: { ...at20241105.requests }, notifications: { ...at20241105.notifications } },
  '2025-03-26': { requests: { ...at20250326.requests }, notifications: { ...at20250326.notifications } },
  '2025-06-18': { requests: { ...at20250618.requests }, notifications: { ...at20250618.notifications } },
  '2025-11-25': { requests: { ...at20251125.requests }, notifications: { ...at20251125.notifications } },
  '2026-07-28': { requests: { ...at20260728.requests }, notifications: { ...at20260728.notifications } },
}

function named(kind: Example['kind'], method: string, group: Group): readonly Example[] {
  return Object.entries(group).map(([name, value]) => ({ name, kind, method, value: { ...value } }))
}

function enveloped(params: JsonObject): JsonObject {
  const envelope = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} }
  return { ...params, _meta: { ...(params['_meta'] as object | undefined), ...envelope } }
}

function sealed(method: string, result: JsonObject): JsonObject {
  const hints = methodRow(method)?.cached === true ? { ttlMs: 0, cacheScope: 'private' } : {}
  const ended = method === 'subscriptions/listen' ? { _meta: { [META.subscriptionId]: 1 } } : {}
  return { resultType: 'complete', ...hints, ...ended, ...result }
}
