import { McpError, mcpError } from '../errors/error.ts'
import { NOT_OFFERED } from '../errors/rpc.ts'
import { TOO_MANY_STREAMS, TOO_MANY_SUBSCRIPTIONS, TOO_MUCH_HELD } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { withMeta } from '../base/shared-params.ts'
import { Tally } from '../base/tally.ts'
import { weigh } from '../base/weight.ts'
import { anonymousNetwork, ownerOf, type Call, type Peer } from '../rpc/call.ts'
import type { Changes, Watcher } from '../rpc/changes.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Session } from '../rpc/session.ts'
import { URI } from '../rpc/session-fields.ts'
import { isTaskId } from '../tasks/id.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Work } from '../uri-template/reach.ts'
import { callOf, partsOf, type Context } from './context.ts'
import { NO_PARAMS, NOTICES } from './following.ts'
import { holderOf, WatchedUris } from './held-bytes.ts'
import { weighIntroduction } from './introduction.ts'
import type { ServerParts } from './parts.ts'
import type { TaskModule } from './task-host.ts'
import {
  checkUriLength,
  findResource,
  readUri,
  toWork,
  unknownResource,
  type ResourceLists,
} from './resources.ts'

const MAX_SUBSCRIPTIONS = 1000
/** The notification of a changed resource. */
export const UPDATED = 'notifications/resources/updated'

/** `resources/subscribe` */
export function subscribe(lists: ResourceLists, context: Context): Result {
  const uri = readUri(context)
  if (findResource(lists, uri, context) === undefined) throw unknownResource(uri)
  const session = reachableSession(context)
  if (session.closed) return {}
  const watched = (session.subscriptions ??= watchedBy(session, partsOf(context), holderOf(callOf(context))))
  if (watched.size >= MAX_SUBSCRIPTIONS && !watched.has(uri))
    throw mcpError(TOO_MANY_SUBSCRIPTIONS, { limit: MAX_SUBSCRIPTIONS })
  watched.add(uri)
  return {}
}

/** The URIs that a session subscribes to, at first none. */
export function watchedBy(
  session: Session,
  { held, changes }: Pick<ServerParts, 'held' | 'changes'>,
  holder: unknown,
): WatchedUris {
  const watcher: Watcher = (params, position) =>
    session.whenReady(() => session.notify(UPDATED, params, position), params.uri)
  const onChange = (uri: string, isWatched: boolean): void =>
    session.keeper?.change(URI + uri, isWatched ? '' : null)
  const watched = new WatchedUris({ held, holder, changes, watcher, onChange })
  session.onClose(() => watched.clear())
  return watched
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
  /** The changes it is notified of, besides those of resources. */
  readonly flags: Flags
  /** The resources it still watches. */
  readonly watched: Set<string>
  /** Ends it, because others need the memory that it takes. */
  readonly end: () => void
}

export interface ListenParts {
  readonly changes: Changes
  readonly lists: ResourceLists
  /** The open streams of each caller. */
  readonly streams: Map<unknown, Set<Listening>>
  /** The extensions whose notices may be requested, by id. */
  readonly extensions: ReadonlyMap<string, { isFor(peer: Peer): boolean }>
  /** The tasks of the server. */
  readonly tasks: () => TaskModule | Promise<TaskModule>
  /** Whether the server offers a capability. */
  offers(capability: string): boolean
}

/** `subscriptions/listen`: sends the requested notifications until the request is cancelled, or stopped at shutdown. */
export function listen(parts: ListenParts, context: Context): Promise<Result> {
  const filter = readFilter(context)
  const wanted = honour(filter, parts, context)
  if (filter.taskIds === undefined || !parts.offers('tasks')) return open(parts, context, wanted)
  return listenToTasks(parts, context, wanted, filter.taskIds)
}

/** Listens for tasks too. The acknowledgement leaves out those that do not exist for the caller. */
async function listenToTasks(
  parts: ListenParts,
  context: Context,
  wanted: Honoured,
  ids: readonly string[],
): Promise<Result> {
  // The engine compares long texts of the same length one by one, so a set of them would take long.
  const possible = [...new Set(ids.filter(isTaskId))]
  const leave = look(parts, context, possible.length * TASK_BYTES + weigh(wanted.uris))
  const { call, followTasks, tasks, heads } = await find(parts, context, possible).finally(leave)
  return open(parts, context, {
    ...wanted,
    taskIds: heads.map(({ id }) => id),
    follow: (notify) =>
      followTasks(tasks, heads, { peer: call.peer, notify, isBehind: () => call.channel.isBehind === true }),
  })
}

/** The tasks that the caller may know, and what is needed to follow them. */
async function find(
  parts: ListenParts,
  context: Context,
  ids: readonly string[],
): Promise<Pick<TaskModule, 'followTasks' | 'tasks'> & { call: Call; heads: readonly TaskHead[] }> {
  const { tasks, requireTasks, taskOwnerOf, followTasks } = await parts.tasks()
  const call = callOf(context)
  requireTasks(call)
  const owner = taskOwnerOf(call)
  const caller = anonymousNetwork(call.source) ?? listenerOf(context)
  const heads = await tasks.lookups.of({ ids, owner, caller, isOver: () => call.aborted })
  return { call, followTasks, tasks, heads }
}

/** The requests of each caller that wait for the store, which may take long. Like streams, they do not count as running. */
const LOOKING = new WeakMap<ListenParts['streams'], Tally>()

/** Counts a request that waits for the store as a stream, and what it asks for as held. Returns a function that ends this. */
function look({ streams }: ListenParts, context: Context, bytes: number): () => void {
  const call = callOf(context)
  const { held, limits } = partsOf(context)
  const looking = LOOKING.get(streams) ?? new Tally()
  LOOKING.set(streams, looking)
  const caller = listenerOf(context)
  if ((streams.get(caller)?.size ?? 0) + looking.get(caller) >= limits.streams)
    throw mcpError(TOO_MANY_STREAMS, { limit: limits.streams }, MUCH_LATER)
  const holder = holderOf(call)
  held.take(holder, bytes)
  looking.add(caller, 1)
  call.dropParams()
  return () => {
    looking.add(caller, -1)
    held.free(holder, bytes)
  }
}

/** What a stream is notified of, as far as the server agrees. */
interface Honoured {
  readonly uris: readonly string[]
  readonly flags: Flags
  readonly taskIds?: readonly string[]
  /** Follows the tasks until the returned function is called. */
  readonly follow?: (notify: (task: JsonObject) => void) => () => void
}

function open(parts: ListenParts, context: Context, wanted: Honoured): Promise<Result> {
  const call = callOf(context)
  const { uris, flags, taskIds = [] } = wanted
  if (typeof call.id === 'bigint') {
    throw mcpError(BAD_PARAMS, {
      method: call.method,
      reason: 'the id of this request must be a string or a smaller integer',
    })
  }
  const tag = { [META.subscriptionId]: call.id }
  const notify = (method: string, params: JsonObject): void => call.emit(method, withMeta(params, tag))

  const watcher: Watcher = (params) => notify(UPDATED, params)
  const { watched, leave } = enter(
    call.id as string | number,
    { uris, flags, watcher, taskBytes: taskIds.length * TASK_BYTES },
    parts.streams,
    context,
  )
  const resourceSubscriptions = uris.length > 0 ? { resourceSubscriptions: uris } : {}
  notify('notifications/subscriptions/acknowledged', {
    notifications: { ...flags, ...resourceSubscriptions, ...(wanted.taskIds && { taskIds }) },
  })
  // From here on, what the client sent is kept only as far as it is watched.
  call.dropParams()
  if (watched.size === 0 && taskIds.length === 0 && Object.keys(flags).length === 0) {
    leave()
    return Promise.resolve({ _meta: tag })
  }
  return new Promise((resolve) => {
    const stop = parts.changes.listen((change) => {
      if (change.kind === 'extension') {
        if (flags[change.id as `${string}/${string}`] === true) notify(change.method, change.params)
      } else if (flags[NOTICES[change.kind].filter] === true) notify(NOTICES[change.kind].method, NO_PARAMS)
    })
    const unfollow = wanted.follow?.((task) => notify('notifications/tasks', task))
    let isOver = false
    const end = (): void => {
      isOver = true
      stop()
      unfollow?.()
      leave()
      resolve({ _meta: tag })
    }
    call.signal.addEventListener('abort', end, { once: true })
    // A request that the runtime has stopped gets no signal.
    call.source.lifetime?.hold(() => isOver, end)
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

/** What a stream is notified of. */
interface Wanted {
  readonly uris: readonly string[]
  readonly flags: Flags
  readonly watcher: Watcher
  /** The memory for the tasks that it follows. */
  readonly taskBytes: number
}

/** The memory that following a task takes. */
const TASK_BYTES = 1024

/** Adds a stream of a caller, and counts what is kept for it. */
function enter(
  id: string | number,
  { uris, flags, watcher, taskBytes }: Wanted,
  streams: ListenParts['streams'],
  context: Context,
): { readonly watched: Set<string>; readonly leave: () => void } {
  const caller = listenerOf(context)
  const { held, limits, changes } = partsOf(context)
  const open = streams.get(caller) ?? new Set()
  if (open.size >= limits.streams) throw mcpError(TOO_MANY_STREAMS, { limit: limits.streams }, MUCH_LATER)
  const call = callOf(context)
  const { method, peer } = call
  const { client, capabilities, session } = peer
  const holder = holderOf(call)
  const bytes =
    weigh(id) + taskBytes + (session === undefined ? weighIntroduction(method, client, capabilities) : 0)
  held.take(holder, bytes)
  const free = (): void => held.free(holder, bytes)
  const watched = watchedOr(free, () => new WatchedUris({ held, holder, changes, watcher }, uris))
  const leave = (): void => {
    if (!open.delete(stream)) return
    if (open.size === 0) {
      streams.delete(caller)
      held.evictors.delete(holder)
    }
    watched.clear()
    free()
  }
  const end = (): void => {
    leave()
    call.abort(mcpError(TOO_MUCH_HELD, { limit: limits.heldBytes, share: 'a quarter' }))
  }
  const stream: Listening = { id, flags, watched, end }
  streams.set(caller, open.add(stream))
  // An authenticated caller has its share, however many streams it opens.
  if (holder === call.channel) held.evictors.set(holder, () => open.forEach((each) => each.end()))
  return { watched, leave }
}

function watchedOr(giveUp: () => void, watch: () => WatchedUris): WatchedUris {
  try {
    return watch()
  } catch (thrown) {
    giveUp()
    throw thrown
  }
}

type Flags = { [Name in (typeof NOTICES)[keyof typeof NOTICES]['filter']]?: boolean } & {
  /** Notices of an extension, by its id. */
  [id: `${string}/${string}`]: boolean
}

type Filter = Flags & { resourceSubscriptions?: readonly string[]; taskIds?: readonly string[] }

function readFilter(context: Context): Filter {
  const filter = context.params['notifications']
  const invalid = (reason: string): Error => mcpError(BAD_PARAMS, { method: context.method, reason })
  if (!isObject(filter)) throw invalid('notifications is not an object')
  for (const { filter: name } of Object.values(NOTICES)) {
    const wanted = filter[name]
    if (wanted !== undefined && typeof wanted !== 'boolean')
      throw invalid(`notifications.${name} is not a boolean`)
  }
  const ids = filter['taskIds']
  if (ids !== undefined && !isTexts(ids))
    throw invalid(`notifications.taskIds is not a list of at most ${MAX_SUBSCRIPTIONS} ids`)
  const uris = filter['resourceSubscriptions']
  if (uris === undefined) return filter as Filter
  if (!isTexts(uris))
    throw invalid(`notifications.resourceSubscriptions is not a list of at most ${MAX_SUBSCRIPTIONS} URIs`)
  for (const uri of uris) checkUriLength(uri, context)
  return filter as Filter
}

function isTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length <= MAX_SUBSCRIPTIONS && value.every((one) => typeof one === 'string')
  )
}

function honour(filter: Filter, parts: ListenParts, context: Context): Honoured {
  const flags: Flags = {}
  for (const [kind, { filter: name }] of Object.entries(NOTICES)) {
    if (filter[name] === true && parts.offers(`${kind}.listChanged`)) flags[name] = true
  }
  for (const [id, { isFor }] of parts.extensions) {
    const name = id as `${string}/${string}`
    if (filter[name] === true && isFor(callOf(context).peer)) flags[name] = true
  }
  const wanted = filter.resourceSubscriptions ?? []
  const work = toWork(parts.lists, wanted)
  const uris = wanted.filter((uri) => mayWatch(uri, parts.lists, context, work))
  return { uris, flags }
}

/** Whether a caller may watch a resource. The acknowledgement leaves out the others, so that they do not end the stream. */
function mayWatch(uri: string, lists: ResourceLists, context: Context, work: Work): boolean {
  try {
    return findResource(lists, uri, context, work) !== undefined
  } catch (error) {
    if (error instanceof McpError && error.kind === 'insufficient_scope') return false
    throw error
  }
}
