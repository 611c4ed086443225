import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Dialect, Dialects } from '../protocol/switches.ts'
import type { ClientInfo, Peer } from './call.ts'
import { READY } from './session-fields.ts'
import { PendingRequests } from './pending-requests.ts'

/** Connects a session with the other nodes that serve it. */
export interface SessionKeeper {
  /** Notes that a field of the session has another value, or none. */
  change(field: string, value: string | null): void
  /** Resolves once the store has all changes, and rejects if it cannot be reached; undefined if it has them already. */
  saved(): Promise<void> | undefined
  /** An id for a question to the client that no other node uses. */
  nextQuestion(): number
}

const NOTHING: JsonObject = Object.freeze({})
/** The most actions kept for a client that is not ready. It has a moment for that, but one that never is stays for long. */
const MAX_WAITING = 32

type Notify = (method: string, params: JsonObject, position?: number) => void

/** The state that a revision with a handshake needs. Parts are created on first use. */
export class Session implements Peer {
  /** Before the handshake, that of the newest revision that has one. */
  dialect: Dialect
  client: ClientInfo | undefined = undefined
  capabilities: JsonObject = NOTHING
  /** Whether `initialize` was answered. */
  opened = false
  /** Whether the client has sent `notifications/initialized`. */
  ready = false
  /** The lowest severity of log messages that the client wants. */
  logLevel = 'info'
  /** URIs of the resources that the client subscribed to. */
  subscriptions: Set<string> | undefined = undefined
  /** Evicts the session, and returns true, if it is idle or, with `isLarge`, runs no request. Absent where the client cannot open another one. */
  evict: ((session: Session, isLarge: boolean) => boolean) | undefined = undefined
  /** Absent if only this node serves the session. */
  keeper: SessionKeeper | undefined = undefined
  #pending: PendingRequests | undefined
  #waiting: Map<unknown, () => void> | undefined
  #closers: readonly (() => void)[] | undefined
  #closed = false
  #id: string | undefined
  readonly #notify: Notify | undefined

  /** `notify` sends notifications that do not belong to a request; omit it if they cannot reach the client. `id` is that of the transport, if it has one. */
  constructor(dialects: Dialects, notify?: Notify, id?: string) {
    this.#id = id
    this.dialect = dialects['2025-11-25']
    this.#notify = notify
  }

  /** Whoever knows the id of a transport may be able to use the session, so it must not get into logs. */
  get id(): string {
    return (this.#id ??= crypto.randomUUID())
  }

  /** Whether the client can be notified between its requests. */
  get reachable(): boolean {
    return this.#notify !== undefined
  }

  get session(): this {
    return this
  }

  /** Requests sent to the client that it has not answered yet. */
  get pending(): PendingRequests {
    return (this.#pending ??= new PendingRequests(this.keeper))
  }

  /** Sends a notification that does not belong to a request, unless the client is gone. `position` is that of the change it reports, if nodes share changes. */
  notify(method: string, params: JsonObject, position?: number): void {
    if (!this.#closed) this.#notify?.(method, params, position)
  }

  /** Runs `act` now, or once the client is ready. Of several waiting actions with the same key, only the first runs. */
  whenReady(act: () => void, key: unknown = act): void {
    if (this.ready) return act()
    this.#waiting ??= new Map()
    if (this.#waiting.size < MAX_WAITING && !this.#waiting.has(key)) this.#waiting.set(key, act)
  }

  /** Marks the client as ready and runs the actions that waited for it. */
  setReady(): void {
    if (!this.ready) this.keeper?.change(READY, '')
    this.ready = true
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) for (const act of waiting.values()) act()
  }

  /** Whether the client is gone. */
  get closed(): boolean {
    return this.#closed
  }

  /** Runs `closer` when the client disconnects, or now if it already has. */
  onClose(closer: () => void): void {
    if (this.#closed) return closer()
    // An array that grows by `push` takes room for 16 more, and sessions have two.
    this.#closers = (this.#closers ?? []).concat(closer)
  }

  close(): void {
    this.#closed = true
    this.#pending?.close()
    const closers = this.#closers
    this.#closers = undefined
    if (closers !== undefined) for (const closer of closers) closer()
  }
}
