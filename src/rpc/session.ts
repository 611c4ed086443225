import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Dialect, Dialects } from '../protocol/switches.ts'
import type { ClientInfo, Peer } from './call.ts'
import { Pending } from './pending.ts'

const NOTHING: JsonObject = Object.freeze({})
/** What a client that never gets ready can make wait. */
const MAX_WAITING = 1000

/** The state that a revision with a handshake needs, and nothing more. Parts are made when first used. */
export class Session implements Peer {
  /** Until the handshake the newest revision that has one. */
  dialect: Dialect
  client: ClientInfo | undefined = undefined
  capabilities: JsonObject = NOTHING
  /** Whether `initialize` was answered. */
  opened = false
  /** Whether the client said that it is ready for more than answers. */
  ready = false
  /** The least severe level of log messages that the client wants. */
  logLevel = 'info'
  /** Resource URIs that the client subscribed to. */
  subscriptions: Set<string> | undefined = undefined
  #pending: Pending | undefined
  #waiting: Map<unknown, () => void> | undefined
  #closers: (() => void)[] | undefined
  readonly #notify: ((method: string, params: JsonObject) => void) | undefined

  /** `notify` sends what belongs to no request; without it nothing of the kind can reach the client. */
  constructor(dialects: Dialects, notify?: (method: string, params: JsonObject) => void) {
    this.dialect = dialects['2025-11-25']
    this.#notify = notify
  }

  /** Whether the client can be told of something between its requests. */
  get reachable(): boolean {
    return this.#notify !== undefined
  }

  get session(): this {
    return this
  }

  /** Requests sent to the client and not yet answered. */
  get pending(): Pending {
    return (this.#pending ??= new Pending())
  }

  notify(method: string, params: JsonObject): void {
    this.#notify?.(method, params)
  }

  /** Does something now or as soon as the client is ready; of several things under one key only the first. */
  whenReady(act: () => void, key: unknown = act): void {
    if (this.ready) return act()
    this.#waiting ??= new Map()
    if (this.#waiting.size < MAX_WAITING && !this.#waiting.has(key)) this.#waiting.set(key, act)
  }

  /** The client is ready: what waited for it is done. */
  setReady(): void {
    this.ready = true
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) for (const act of waiting.values()) act()
  }

  onClose(closer: () => void): void {
    ;(this.#closers ??= []).push(closer)
  }

  close(): void {
    this.#pending?.close()
    const closers = this.#closers
    this.#closers = undefined
    if (closers !== undefined) for (const closer of closers) closer()
  }
}
