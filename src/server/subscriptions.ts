import { mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Change, Changes } from '../rpc/changes.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Session } from '../rpc/session.ts'
import type { Context } from './context.ts'
import { findResource, MAX_URI, readUri, unknownResource, type ResourceLists } from './resources.ts'

const MAX_SUBSCRIPTIONS = 1000

/** The notification that each kind of change is told by, and the filter that asks for it. */
const NOTICES = {
  tools: { method: 'notifications/tools/list_changed', filter: 'toolsListChanged' },
  prompts: { method: 'notifications/prompts/list_changed', filter: 'promptsListChanged' },
  resources: { method: 'notifications/resources/list_changed', filter: 'resourcesListChanged' },
} as const

/**
 * Tells a session of every change of a list, and of the resources it subscribed to. What changes before the client
 * says that it is ready is told then.
 */
export function follow(changes: Changes, session: Session): void {
  if (session.dialect.changes !== 'session') return
  const stop = changes.listen((change) => {
    if (change.kind !== 'resource') {
      const { method } = NOTICES[change.kind]
      return session.whenReady(() => session.notify(method, {}), method)
    }
    const { uri } = change
    if (!isWatched(session.subscriptions, uri)) return
    session.whenReady(() => session.notify('notifications/resources/updated', { uri }), uri)
  })
  session.onClose(stop)
}

/** `notifications/initialized` */
export function initialized(context: Context): void {
  context.call.peer.session?.setReady()
}

/** `resources/subscribe` */
export function subscribe(lists: ResourceLists, context: Context): Result {
  const uri = readUri(context)
  if (findResource(lists, uri, context) === undefined) throw unknownResource(uri)
  const session = context.call.peer.session as Session
  session.subscriptions ??= new Set()
  if (session.subscriptions.size >= MAX_SUBSCRIPTIONS && !session.subscriptions.has(uri)) {
    throw mcpError('bad_params', {
      method: context.call.method,
      reason: `a session has at most ${MAX_SUBSCRIPTIONS} subscriptions`,
    })
  }
  session.subscriptions.add(uri)
  return {}
}

/** `resources/unsubscribe` */
export function unsubscribe(context: Context): Result {
  const uri = readUri(context)
  context.call.peer.session?.subscriptions?.delete(uri)
  return {}
}

export interface ListenParts {
  readonly changes: Changes
  readonly lists: ResourceLists
  /** Whether the server offers a capability. */
  offers(capability: string): boolean
}

/** `subscriptions/listen`: tells of what the client asked for until the request is cancelled, or stopped at shutdown. */
export function listen(parts: ListenParts, context: Context): Promise<Result> {
  const { call } = context
  const filter = readFilter(context)
  const honoured = honour(filter, parts, context)
  const watched = new Set(honoured.resourceSubscriptions)
  if (typeof call.id === 'bigint') {
    throw mcpError('bad_params', {
      method: call.method,
      reason: 'the id of this request must be a string or a smaller integer',
    })
  }
  const tag = { [META.subscriptionId]: call.id }
  const tell = (method: string, params: JsonObject): void => call.emit(method, { ...params, _meta: tag })

  tell('notifications/subscriptions/acknowledged', { notifications: honoured })
  if (Object.keys(honoured).length === 0) return Promise.resolve({ _meta: tag })
  return new Promise((resolve) => {
    const stop = parts.changes.listen((change: Change) => {
      if (change.kind === 'resource') {
        if (isWatched(watched, change.uri)) tell('notifications/resources/updated', { uri: change.uri })
      } else if (honoured[NOTICES[change.kind].filter] === true) tell(NOTICES[change.kind].method, {})
    })
    const end = (): void => {
      stop()
      resolve({ _meta: tag })
    }
    call.signal.addEventListener('abort', end, { once: true })
    if (call.aborted) end()
  })
}

type Filter = { [Name in (typeof NOTICES)[keyof typeof NOTICES]['filter']]?: boolean } & {
  resourceSubscriptions?: readonly string[]
}

function readFilter(context: Context): Filter {
  const filter = context.call.params['notifications']
  const invalid = (reason: string): Error => mcpError('bad_params', { method: context.call.method, reason })
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
    !uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI)
  ) {
    throw invalid(`notifications.resourceSubscriptions is not a list of at most ${MAX_SUBSCRIPTIONS} URIs`)
  }
  return filter as Filter
}

function honour(filter: Filter, parts: ListenParts, context: Context): Filter {
  const honoured: Filter = {}
  for (const [kind, { filter: name }] of Object.entries(NOTICES)) {
    if (filter[name] === true && parts.offers(`${kind}.listChanged`)) honoured[name] = true
  }
  const uris = (filter.resourceSubscriptions ?? []).filter(
    (uri) => findResource(parts.lists, uri, context) !== undefined,
  )
  if (uris.length > 0) honoured.resourceSubscriptions = uris
  return honoured
}

/** A change of a resource is told to those who watch it or a resource above it. */
function isWatched(watched: ReadonlySet<string> | undefined, uri: string): boolean {
  if (watched === undefined || watched.size === 0) return false
  if (watched.has(uri)) return true
  for (const one of watched) if (uri.startsWith(one.endsWith('/') ? one : `${one}/`)) return true
  return false
}
