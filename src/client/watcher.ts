import { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { pause } from '../base/backoff.ts'
import type { ChangeQueue } from './change-queue.ts'
import type { State } from './events.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { everything, filterOf, isWanted, urisOf, type Change, type Watched } from './watched.ts'
import { isWithin } from './within.ts'

const RELISTEN_MS = 1000
/** So often in a row a server is asked again at once; after that only as often as listening begins anew. */
const AT_ONCE = 4
const MAX_WAITING = 1000
const MAX_URI = 8192
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** Refusals after which listening again is of no use. */
const FINAL: ReadonlySet<string> = new Set(['closed', 'unknown_method', 'bad_params', 'not_offered'])

/** Has a server tell of changes, in the way of the revision, for as long as somebody reads them. */
export class Watcher {
  readonly #link: ReconnectingConnection
  readonly #watched: Watched
  readonly #queue: ChangeQueue
  /** The id of the request that listens. */
  #listening: number | 'about to' | undefined
  #missed = false
  #resuming = false
  #again = false
  #resumed: number[] = []
  readonly #onBegun: () => void

  constructor(link: ReconnectingConnection, watched: Watched, queue: ChangeQueue, onBegun: () => void) {
    this.#link = link
    this.#watched = watched
    this.#queue = queue
    this.#onBegun = onBegun
  }

  /** Asks the server to tell of changes. */
  async follow(): Promise<Revision> {
    const { revision } = await this.#link.agreement()
    const options = { repeatable: true, signal: this.#queue.signal }
    if (revision === LATEST) void this.#listen()
    else
      for (const uri of urisOf(this.#watched))
        await this.#link.request('resources/subscribe', { uri }, options)
    if (revision !== LATEST) this.#onBegun()
    return revision
  }

  /** Asks the server to tell no more of resources that nobody watches. */
  async unfollow(left: readonly string[]): Promise<void> {
    if (this.#link.state !== 'ready' || left.length === 0) return
    const { revision } = await this.#link.agreement()
    if (revision === LATEST) return
    for (const uri of left) await this.#link.request('resources/unsubscribe', { uri }).catch(() => undefined)
  }

  onChange(change: Change): void {
    if (!isWanted(change, this.#watched)) return
    if (change.kind !== 'resource' || (this.#queue.size < MAX_WAITING && change.uri.length < MAX_URI))
      return this.#queue.push(change)
    // Too much to keep: what is watched counts as changed as a whole.
    for (const uri of urisOf(this.#watched))
      if (isWithin(change.uri, uri)) this.#queue.push({ kind: 'resource', uri })
  }

  onNotification({ method, params }: { readonly method: string; readonly params: JsonObject }): void {
    if (method !== ACKNOWLEDGED || !isOurs(params, this.#listening)) return
    this.#onBegun()
    if (this.#missed) this.#caughtUp()
  }

  onMissed(): void {
    this.#caughtUp()
  }

  onState(state: State): void {
    if (state === 'closed') this.#queue.end()
    if (state === 'reconnecting') void this.#revive()
    if (state === 'ready') void this.#resume()
  }

  /** Opens the connection again, even when nobody sends a request. */
  async #revive(): Promise<void> {
    const { signal } = this.#queue
    while (!signal.aborted && this.#link.state === 'reconnecting') {
      const opened = await this.#link.agreement().catch(() => undefined)
      if (opened === undefined) await pause(RELISTEN_MS, signal)
    }
  }

  /** Asks the server anew, once for each new connection and not too often. */
  async #resume(): Promise<void> {
    this.#missed = true
    this.#again = true
    if (this.#resuming) return
    this.#resuming = true
    while (this.#again && !this.#queue.signal.aborted) {
      this.#again = false
      await this.#slowDown()
      await this.#ask()
    }
    this.#resuming = false
  }

  async #ask(): Promise<void> {
    try {
      if ((await this.follow()) !== LATEST) this.#caughtUp()
    } catch {
      // A connection that is lost again is opened again; a server that refuses now leaves the reader with what it knows.
      if (this.#link.state === 'ready') this.#caughtUp()
    }
  }

  async #slowDown(): Promise<void> {
    const now = performance.now()
    this.#resumed = this.#resumed.filter((at) => now - at < RELISTEN_MS * AT_ONCE)
    if (this.#resumed.length >= AT_ONCE) await pause(RELISTEN_MS, this.#queue.signal)
    this.#resumed.push(performance.now())
  }

  #caughtUp(): void {
    this.#missed = false
    for (const change of everything(this.#watched)) this.#queue.push(change)
  }

  /** Listens again whenever the stream ends. */
  async #listen(): Promise<void> {
    if (this.#listening !== undefined) return
    this.#listening = 'about to'
    const { signal } = this.#queue
    const onId = (id: number): void => void (this.#listening = id)
    const notifications = filterOf(this.#watched)
    while (!signal.aborted) {
      try {
        if ((await this.#link.agreement()).revision !== LATEST) break
        await this.#link.request('subscriptions/listen', { notifications }, { signal, onId })
      } catch (error) {
        if (error instanceof McpError && FINAL.has(error.kind)) return this.#queue.end()
      }
      this.#missed = true
      this.#listening = 'about to'
      await pause(RELISTEN_MS, signal)
    }
    this.#listening = undefined
  }
}

function isOurs(params: JsonObject, listening: unknown): boolean {
  const id = (params['_meta'] as JsonObject | null | undefined)?.[META.subscriptionId]
  return id === undefined || id === listening
}
