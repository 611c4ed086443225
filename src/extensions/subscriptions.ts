import type { CallOptions } from '../client/options.ts'
import type { Context } from '../server/context.ts'
import type { Listening } from '../server/subscriptions.ts'
import { defineExtension, type Extension } from './define.ts'
import type { Host } from './install.ts'

/** A resource that the caller subscribed to, or an open `subscriptions/listen` request. */
export type Subscription =
  | {
      /** A subscription to one resource, up to 2025-11-25. */
      readonly kind: 'resource'
      /** The URI of the resource. */
      readonly uri: string
    }
  | {
      /** An open `subscriptions/listen` request, at 2026-07-28. */
      readonly kind: 'stream'
      /** The id of the request. */
      readonly id: string | number
      /** The changes it is notified of, with the resources it still watches. */
      readonly notifications: Readonly<Record<string, boolean | readonly string[]>>
    }

/** The subscriptions of a client as it manages them: `subscriptions.of(client)`. */
export interface SubscriptionsApi {
  /** The `subscriptions` of the caller: resources first, then open requests. */
  list(
    params?: Readonly<Record<string, never>>,
    options?: CallOptions,
  ): Promise<{ readonly subscriptions: readonly Subscription[] }>
  /** Ends every subscription of the caller to the resource `uri`; `removed` says how many there were. */
  remove(params: { readonly uri: string }, options?: CallOptions): Promise<{ readonly removed: number }>
}

const URI = {
  type: 'object',
  properties: { uri: { type: 'string', maxLength: 8192 } },
  required: ['uri'],
} as const
const SUBSCRIPTION = {
  type: 'object',
  properties: {
    kind: { enum: ['resource', 'stream'] },
    uri: { type: 'string' },
    notifications: { type: 'object' },
  },
  required: ['kind'],
}
const ALL = {
  type: 'object',
  properties: { subscriptions: { type: 'array', items: SUBSCRIPTION } },
  required: ['subscriptions'],
}
const REMOVED = { type: 'object', properties: { removed: { type: 'integer' } }, required: ['removed'] }

/**
 * A caller's own subscriptions: `dev.pierhead/subscriptions/…`. At 2026-07-28 over HTTP, only authenticated callers can be
 * recognised from one request to the next.
 */
export const subscriptions: Extension<SubscriptionsApi> = /* @__PURE__ */ defineExtension({
  id: 'dev.pierhead/subscriptions',
  about: 'The subscriptions of the caller.',
  methods: {
    list: { about: 'The subscriptions of the caller.', result: ALL, idempotent: true },
    remove: {
      about: 'Ends the subscriptions of the caller to one resource.',
      params: URI,
      result: REMOVED,
      idempotent: true,
    },
  },
  serve: (_options: undefined, { service }: Host) => ({
    list: async (_params, context) => {
      const { watched, streams } = await held(service, context)
      return {
        subscriptions: [
          ...[...(watched ?? [])].map((uri) => ({ kind: 'resource', uri })),
          ...streams.map(toShown),
        ],
      }
    },
    remove: async ({ uri }, context) => {
      const { watched: own, streams } = await held(service, context)
      const session = own?.delete(uri) === true ? 1 : 0
      return { removed: session + streams.filter(({ watched }) => watched.delete(uri)).length }
    },
  }),
  client: (remote) => remote as unknown as SubscriptionsApi,
})

interface Held {
  readonly watched: Set<string> | undefined
  readonly streams: readonly Listening[]
}

/** The subscriptions of a caller: those of its session, and the requests that listen. */
async function held({ streams }: Host['service'], context: Context): Promise<Held> {
  const { listenerOf, subscribedBy } = await import('../server/subscriptions.ts')
  return { watched: subscribedBy(context), streams: [...(streams.get(listenerOf(context)) ?? [])] }
}

function toShown({ id, flags, watched }: Listening): Subscription {
  const uris = watched.size === 0 ? {} : { resourceSubscriptions: [...watched] }
  return { kind: 'stream', id, notifications: { ...(flags as Readonly<Record<string, boolean>>), ...uris } }
}
