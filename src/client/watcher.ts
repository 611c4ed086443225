import { McpError, mcpError } from '../errors/error.ts'
import { UNKNOWN_RESOURCE } from '../errors/server.ts'
import { markReceived } from '../errors/where.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { pause } from '../base/backoff.ts'
import type { ChangeQueue } from './change-queue.ts'
import type { State } from './events.ts'
import { isWatched } from './followers.ts'
import { Parents } from './parents.ts'
import { Clock } from '../rpc/clock.ts'
import { asksForCredentials } from './recovery.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { allChanges, filterOf, urisOf, type Change, type Watched } from './watched.ts'

const RELISTEN_MS = 1000
/** The number of reconnects in quick succession after which the watcher pauses before it subscribes again. */
const MAX_BURST = 4
/** How long leaving waits for the server. */
const LEAVE_MS = 1000
/** The number of `resources/unsubscribe` requests at once: over HTTP, each takes a connection. */
const MAX_UNSUBSCRIBING = 16
const MAX_UNREAD = 1000
const MAX_URI = 8192
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** Errors after which it is useless to listen again. */
const FINAL: ReadonlySet<string> = new Set(['unknown_method', 'bad_params', 'not_offered'])
/** Errors that the server answers instead of the first subscription. */
const REJECTED: ReadonlySet<string> = new Set(['remote', 'custom', 'insufficient_scope'])

export interface WatcherEvents {
  /** Called whenever the server has confirmed the subscription. */
  onSubscribed(): void
  /** Called with what may have changed while there was no subscription. */
  onStale(change: Change): void
  warn(text: string): void
}

/** Keeps a subscription to changes, in the form of the agreed revision, until the queue ends. */
export class Watcher {
  readonly #connection: ReconnectingConnection
  readonly #watched: Watched
  readonly #uris: Parents
  readonly #queue: ChangeQueue
  /** The id of the current `subscriptions/listen` request. */
  #listening: number | 'starting' | undefined
  #missed = false
  #resubscribing = false
  #repeat = false
  #resubscribedAt: number[] = []
  #isSubscribed = false
  /** The first error since the last success that rejects the credentials. */
  #rejected: unknown
  readonly #events: WatcherEvents

  constructor(
    connection: ReconnectingConnection,
    watched: Watched,
    queue: ChangeQueue,
    events: WatcherEvents,
  ) {
    this.#connection = connection
    this.#watched = watched
    this.#uris = new Parents(urisOf(watched))
    this.#queue = queue
    this.#events = events
  }

  async subscribe(): Promise<Revision> {
    const { revision } = await this.#connection.agreement()
    const options = { repeatable: true, isOwn: true, signal: this.#queue.signal }
    if (revision === LATEST) void this.#listen()
    else
      for (const uri of urisOf(this.#watched))
        await this.#connection.request('resources/subscribe', { uri }, options)
    if (revision !== LATEST) {
      this.#rejected = undefined
      this.#events.onSubscribed()
    }
    return revision
  }

  /** Ends the subscriptions to resources that are no longer watched. Waits for the server for a moment, unless the signal has aborted. */
  async unsubscribe(unwatched: readonly string[]): Promise<void> {
    if (this.#connection.state !== 'ready' || unwatched.length === 0) return
    const { revision } = await this.#connection.agreement()
    if (revision === LATEST) return
    const { signal } = this.#watched
    const clock = new Clock()
    const left = unwatched.values()
    const lanes = unwatched.slice(0, MAX_UNSUBSCRIBING).map(async () => {
      for (const uri of left)
        // Another watcher may have begun in the meantime.
        if (!isWatched(this.#connection, uri))
          await this.#connection.request('resources/unsubscribe', { uri }, { clock }).catch(() => undefined)
    })
    const done = new AbortController()
    void Promise.all(lanes).then(() => done.abort())
    await pause(LEAVE_MS, done.signal, ...(signal === undefined ? [] : [signal]))
  }

  onChange(change: Change): void {
    if (change.kind !== 'resource') {
      if (this.#watched[change.kind] === true) this.#queue.push(change)
      return
    }
    for (const uri of this.#uris.of(change.uri)) {
      if (this.#queue.size < MAX_UNREAD && change.uri.length < MAX_URI) return this.#queue.push(change)
      // The queue is full or the URI too long, so only the watched resources are reported as changed.
      this.#queue.push({ kind: 'resource', uri })
    }
  }

  onNotification({ method, params }: { readonly method: string; readonly params: JsonObject }): void {
    if (method !== ACKNOWLEDGED || !isOurs(params, this.#listening)) return
    if (!this.#isSubscribed) this.#checkWatched(params)
    if (this.#queue.signal.aborted) return
    this.#isSubscribed = true
    this.#rejected = undefined
    this.#events.onSubscribed()
    if (this.#missed) this.#reportAll()
  }

  /** Reports the resources that the server will not report: they do not exist, or are not for this caller. */
  #checkWatched({ notifications }: JsonObject): void {
    if (!isObject(notifications)) return
    const accepted = notifications['resourceSubscriptions']
    const left = new Set<unknown>(urisOf(this.#watched))
    if (Array.isArray(accepted)) for (const uri of accepted) left.delete(uri)
    const missing = [...left] as string[]
    if (missing.length === 0) return
    const isAll = missing.length === allChanges(this.#watched).length
    if (isAll)
      return this.#queue.end(
        markReceived(mcpError(UNKNOWN_RESOURCE, { uri: missing[0] as string, nearest: '' })),
      )
    this.#events.warn(
      `the server does not report changes of ${missing.slice(0, 9).join(', ')}: no such resource`,
    )
  }

  onMissed(): void {
    this.#reportAll()
  }

  onState(state: State): void {
    if (state === 'closed') this.#queue.end()
    if (state === 'reconnecting') void this.#reconnect()
    if (state === 'ready') void this.#resubscribe()
  }

  /** Reopens the connection even if there are no requests. */
  async #reconnect(): Promise<void> {
    const { signal } = this.#queue
    while (!signal.aborted && this.#connection.state === 'reconnecting') {
      let waitMs = 0
      await this.#connection.agreement().catch((error: unknown) => (waitMs = this.#reject(error)))
      if (waitMs > 0) await pause(waitMs, signal)
    }
  }

  /** Subscribes again, once for each new connection, but not too often. */
  async #resubscribe(): Promise<void> {
    this.#missed = true
    this.#repeat = true
    if (this.#resubscribing) return
    this.#resubscribing = true
    while (this.#repeat && !this.#queue.signal.aborted) {
      this.#repeat = false
      await this.#throttle()
      await this.#tryToSubscribe()
    }
    this.#resubscribing = false
  }

  async #tryToSubscribe(): Promise<void> {
    try {
      if ((await this.subscribe()) !== LATEST) this.#reportAll()
    } catch (error) {
      this.#reject(error)
      // If the connection failed again, the next one is tried. Otherwise the server rejected the subscription.
      if (this.#connection.state === 'ready') this.#reportAll()
    }
  }

  /**
   * Ends the queue if a login fails for good, or if the server rejects the credentials twice in a row. Returns how long to wait before the
   * next attempt.
   */
  #reject(error: unknown): number {
    if (!(error instanceof McpError)) return RELISTEN_MS
    const isLogin = error.kind.startsWith('login_')
    if (isLogin && error.retryable) return Math.max(RELISTEN_MS, error.retryAfterMs ?? 0)
    if (!isLogin && !asksForCredentials(error)) return RELISTEN_MS
    // Several requests may fail because of one attempt to connect.
    if (isLogin || (this.#rejected !== undefined && this.#rejected !== error)) this.#queue.end(error)
    this.#rejected ??= error
    return RELISTEN_MS
  }

  async #throttle(): Promise<void> {
    const now = performance.now()
    this.#resubscribedAt = this.#resubscribedAt.filter((at) => now - at < RELISTEN_MS * MAX_BURST)
    if (this.#resubscribedAt.length >= MAX_BURST) await pause(RELISTEN_MS, this.#queue.signal)
    this.#resubscribedAt.push(performance.now())
  }

  /** Reports everything watched as changed, since notifications may have been missed. */
  #reportAll(): void {
    this.#missed = false
    for (const change of allChanges(this.#watched)) {
      this.#events.onStale(change)
      this.#queue.push(change)
    }
  }

  /** Listens at the newest revision, and again whenever the stream ends. */
  async #listen(): Promise<void> {
    if (this.#listening !== undefined) return
    this.#listening = 'starting'
    const { signal } = this.#queue
    const notifications = filterOf(this.#watched)
    while (!signal.aborted) {
      const stream = this.#connection.logins?.stream(signal)
      let waitMs = RELISTEN_MS
      const onId = (id: number): void => {
        this.#listening = id
        stream?.begin()
      }
      try {
        if ((await this.#connection.agreement()).revision !== LATEST) break
        await this.#connection.request(
          'subscriptions/listen',
          { notifications },
          { isOwn: true, signal: stream?.signal ?? signal, onId },
        )
      } catch (error) {
        const { kind } = error as McpError
        if (this.#connection.state === 'closed') return this.#queue.end()
        if (FINAL.has(kind) || (REJECTED.has(kind) && !this.#isSubscribed))
          return this.#queue.end(error as McpError)
        waitMs = this.#reject(error)
      } finally {
        stream?.end()
      }
      this.#missed = true
      this.#listening = 'starting'
      if (stream?.isFormer !== true) await pause(waitMs, signal)
      // If the connection has ended with the login, the next one is that of a request.
      else if (this.#connection.state !== 'ready') break
      else await this.#throttle()
    }
    this.#listening = undefined
  }
}

function isOurs(params: JsonObject, listening: unknown): boolean {
  const id = (params['_meta'] as JsonObject | null | undefined)?.[META.subscriptionId]
  return id === undefined || id === listening
}
