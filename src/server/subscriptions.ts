import { McpError, mcpError } from '../errors/error.ts'
import { NOT_OFFERED } from '../errors/rpc.ts'
import { TOO_MANY_STREAMS, TOO_MANY_SUBSCRIPTIONS } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { ownerOf, type Peer } from '../rpc/call.ts'
import type { Change, Changes } from '../rpc/changes.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Session } from '../rpc/session.ts'
import { callOf, partsOf, type Context } from './context.ts'
import { isWatched, NOTICES } from './following.ts'
import { checkUriLength, findResource, readUri, unknownResource, type ResourceLists } from './resources.ts'

const MAX_SUBSCRIPTIONS = 1000

/** `resources/subscribe` */
export function subscribe(lists: ResourceLists, context: Context): Result {
  const uri = readUri(context)
  if (findResource(lists, uri, context) === undefined) throw unknownResource(uri)
  const session = reachableSession(context)
  session.subscriptions ??= new Set()
  if (session.subscriptions.size >= MAX_SUBSCRIPTIONS && !session.subscriptions.has(uri))
    throw mcpError(TOO_MANY_SUBSCRIPTIONS, { limit: MAX_SUBSCRIPTIONS })
  session.subscriptions.add(uri)
  return {}
}

/** `resources/unsubscribe` */
export function unsubscribe(context: Context): Result {
  const uri = readUri(context)
  reachableSession(context).subscriptions?.delete(uri)
  return {}
}

function reachableSession(context: Context): Session {
  const call = callOf(context)
  const session = call.peer.session as Session
  if (!session.reachable)
    throw mcpError(NOT_OFFERED, { method: call.method, capability: 'resources.subscribe' })
  return session
}

/** An open `subscriptions/listen` request. */
export interface Listening {
  readonly id: string | number
  /** The changes it is notified of. */
  readonly filter: Filter
  /** The resources it still watches. */
  readonly watched: Set<string>
}

export interface ListenParts {
  readonly changes: Changes
  readonly lists: ResourceLists
  /** The open streams of each caller. */
  readonly streams: Map<unknown, Set<Listening>>
  /** The extensions whose notices may be requested, by id. */
  readonly extensions: ReadonlyMap<string, { isFor(peer: Peer): boolean }>
  /** Whether the server offers a capability. */
  offers(capability: string): boolean
}

/** `subscriptions/listen`: sends the requested notifications until the request is cancelled, or stopped at shutdown. */
export function listen(parts: ListenParts, context: Context): Promise<Result> {
  const call = callOf(context)
  const filter = readFilter(context)
  const honoured = honour(filter, parts, context)
  const watched = new Set(honoured.resourceSubscriptions)
  if (typeof call.id === 'bigint') {
    throw mcpError(BAD_PARAMS, {
      method: call.method,
      reason: 'the id of this request must be a string or a smaller integer',
    })
  }
  const tag = { [META.subscriptionId]: call.id }
  const notify = (method: string, params: JsonObject): void => call.emit(method, { ...params, _meta: tag })

  const leave = enter({ id: call.id as string | number, filter: honoured, watched }, parts.streams, context)
  notify('notifications/subscriptions/acknowledged', { notifications: honoured })
  if (Object.keys(honoured).length === 0) {
    leave()
    return Promise.resolve({ _meta: tag })
  }
  return new Promise((resolve) => {
    const stop = parts.changes.listen((change: Change) => {
      if (change.kind === 'resource') {
        if (isWatched(watched, change.uri)) notify('notifications/resources/updated', { uri: change.uri })
      } else if (change.kind === 'extension') {
        if (honoured[change.id as `${string}/${string}`] === true) notify(change.method, change.params)
      } else if (honoured[NOTICES[change.kind].filter] === true) notify(NOTICES[change.kind].method, {})
    })
    const end = (): void => {
      stop()
      leave()
      resolve({ _meta: tag })
    }
    call.signal.addEventListener('abort', end, { once: true })
    if (call.aborted) end()
  })
}

/** The URIs that a session subscribed to; undefined outside sessions. */
export function subscribedBy(context: Context): Set<string> | undefined {
  return callOf(context).peer.session?.subscriptions
}

/** The key under which streams are counted and listed together: the authenticated caller, or else the connection. */
export function listenerOf(context: Context): unknown {
  const { source, channel } = callOf(context)
  return source.auth === undefined ? channel : ownerOf(source.auth)
}

/** Adds a stream of a caller. */
function enter(stream: Listening, streams: ListenParts['streams'], context: Context): () => void {
  const caller = listenerOf(context)
  const { streams: limit } = partsOf(context).limits
  const open = streams.get(caller) ?? new Set()
  if (open.size >= limit) throw mcpError(TOO_MANY_STREAMS, { limit }, { retryAfterMs: 30_000 })
  streams.set(caller, open.add(stream))
  return () => {
    open.delete(stream)
    if (open.size === 0) streams.delete(caller)
  }
}

type Filter = { [Name in (typeof NOTICES)[keyof typeof NOTICES]['filter']]?: boolean } & {
  resourceSubscriptions?: readonly string[]
  /** Notices of an extension, by its id. */
  [id: `${string}/${string}`]: boolean
}

function readFilter(context: Context): Filter {
  const filter = context.params['notifications']
  const invalid = (reason: string): Error => mcpError(BAD_PARAMS, { method: context.method, reason })
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw invalid('notifications is not an object')
  for (const { filter: name } of Object.values(NOTICES)) {
    const wanted = (filter as JsonObject)[name]
    if (wanted !== undefined && typeof wanted !== 'boolean')
      throw invalid(`notifications.${name} is not a boolean`)
  }
  const uris = (filter as JsonObject)['resourceSubscriptions']
  if (uris === undefined) return filter as Filter
  if (
    !Array.isArray(uris) ||
    uris.length > MAX_SUBSCRIPTIONS ||
    !uris.every((uri) => typeof uri === 'string')
  ) {
    throw invalid(`notifications.resourceSubscriptions is not a list of at most ${MAX_SUBSCRIPTIONS} URIs`)
  }
  for (const uri of uris) checkUriLength(uri, context)
  return filter as Filter
}

function honour(filter: Filter, parts: ListenParts, context: Context): Filter {
  const honoured: Filter = {}
  for (const [kind, { filter: name }] of Object.entries(NOTICES)) {
    if (filter[name] === true && parts.offers(`${kind}.listChanged`)) honoured[name] = true
  }
  const uris = (filter.resourceSubscriptions ?? []).filter((uri) => mayWatch(uri, parts.lists, context))
  if (uris.length > 0) honoured.resourceSubscriptions = uris
  for (const [id, { isFor }] of parts.extensions) {
    const name = id as `${string}/${string}`
    if (filter[name] === true && isFor(callOf(context).peer)) honoured[name] = true
  }
  return honoured
}

/** Whether a caller may watch a resource. The acknowledgement leaves out the others, so that they do not end the stream. */
function mayWatch(uri: string, lists: ResourceLists, context: Context): boolean {
  try {
    return findResource(lists, uri, context) !== undefined
  } catch (error) {
    if (error instanceof McpError && error.kind === 'insufficient_scope') return false
    throw error
  }
}
