import { SESSION_LIMIT } from '../../../errors/limits.ts'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { UNKNOWN_EVENT, UNKNOWN_SESSION } from '../../../errors/http.ts'
import type { JsonObject } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { ownerOf, type Auth } from '../../../rpc/call.ts'
import { CallTable } from '../../../rpc/call-table.ts'
import type { Observers } from '../../../rpc/observer.ts'
import type { Service } from '../../../rpc/service.ts'
import { Session } from '../../../rpc/session.ts'
import { encodeNotification } from '../../../wire/encode.ts'
import { EventStream, readEventId } from './event-stream.ts'

/** The stream for messages that do not belong to a request. */
const STANDALONE = 's'
const SWEEP_MS = 30_000
/** Sessions used more recently than this are not evicted. */
const FRESH_MS = 10_000

/** A session over HTTP: the protocol's state, its running requests, and its streams. */
export class HttpSession {
  readonly id: string = crypto.randomUUID()
  readonly owner: string
  readonly session: Session
  readonly #limits: Limits
  readonly #observers: Observers
  /** When it was last used, by the table's clock. */
  seen: number
  /** Its unanswered requests. */
  readonly calls: CallTable = new CallTable()
  #streams: Map<string, EventStream> | undefined
  #kept = 0
  readonly #onKept: (session: HttpSession, bytes: number) => void
  #named = 0

  /** Calls `onKept` with every change in the number of buffered bytes. */
  constructor(
    owner: string,
    limits: Limits,
    { observers, dialects }: Service,
    now: number,
    onKept: (session: HttpSession, bytes: number) => void,
  ) {
    this.owner = owner
    this.seen = now
    this.#onKept = onKept
    this.#limits = limits
    this.#observers = observers
    this.session = new Session(dialects, (method, params) => this.#notify(method, params), this.id)
  }

  /** How many bytes its streams buffer. */
  get kept(): number {
    return this.#kept
  }

  /** Whether the session is in use. */
  get busy(): boolean {
    if (this.calls.size > 0) return true
    return this.#streams?.get(STANDALONE)?.attached === true
  }

  /** Opens a stream for the response to one request. The oldest ended streams are discarded. */
  openStream(): EventStream {
    const streams = (this.#streams ??= new Map())
    const { keptStreams, streamBytes } = this.#limits
    for (const [name, stream] of streams) {
      if (streams.size < keptStreams && this.#kept <= streamBytes) break
      if (!stream.ended) continue
      this.#remove(name, stream)
      this.#observers.count('stream_forgotten')
    }
    const name = (++this.#named).toString(36)
    return this.#newStream(`r${name}`, false)
  }

  /** The stream for notifications, created on first use. */
  standalone(): EventStream {
    return this.#streams?.get(STANDALONE) ?? this.#newStream(STANDALONE, true)
  }

  /** The stream of an event, and the event's position; undefined when no event follows or can follow. */
  find(eventId: string): { readonly stream: EventStream; readonly seq: number } | undefined {
    const place = readEventId(eventId)
    const stream = place === undefined ? undefined : this.#streams?.get(place.name)
    if (place === undefined || (stream === undefined && !this.#hadStream(place.name))) {
      throw mcpError(UNKNOWN_EVENT, {})
    }
    return stream?.mayFollow(place.seq) === true ? { stream, seq: place.seq } : undefined
  }

  /** Discards a stream, which then cannot be resumed. */
  discard(stream: EventStream): void {
    for (const [name, kept] of this.#streams ?? []) if (kept === stream) this.#remove(name, stream)
  }

  /** Discards the streams that ended. */
  discardEnded(): void {
    for (const [name, stream] of this.#streams ?? []) {
      if (!stream.ended) continue
      this.#remove(name, stream)
      this.#observers.count('stream_forgotten')
    }
  }

  keepAlive(): void {
    if (this.#streams !== undefined) for (const stream of this.#streams.values()) stream.keepAlive()
  }

  close(): void {
    this.calls.close()
    for (const stream of this.#streams?.values() ?? []) stream.end()
    this.session.close()
  }

  #remove(name: string, stream: EventStream): void {
    this.#streams?.delete(name)
    this.#count(-stream.keptSize)
  }

  #count(bytes: number): void {
    this.#kept += bytes
    this.#onKept(this, bytes)
  }

  #newStream(name: string, lossy: boolean): EventStream {
    const onForget = (): void => this.#observers.count('event_forgotten')
    const onKept = (bytes: number): void => this.#count(bytes)
    const stream = new EventStream({ limits: this.#limits, name, lossy, onForget, onKept })
    this.#streams ??= new Map()
    this.#streams.set(name, stream)
    return stream
  }

  #hadStream(name: string): boolean {
    return name.startsWith('r') && Number.parseInt(name.slice(1), 36) <= this.#named
  }

  #notify(method: string, params: JsonObject): void {
    this.standalone().send(encodeNotification(method, params, this.session.dialect))
  }
}

/** All sessions of one endpoint. Idle ones time out. */
export class Sessions {
  readonly #limits: Limits
  readonly #service: Service
  readonly #now: () => number
  readonly #table = new Map<string, HttpSession>()
  readonly #onKept = (session: HttpSession, bytes: number): void => {
    if (this.has(session)) this.#count(bytes)
  }
  /** How many bytes the streams of all sessions buffer. */
  #kept = 0
  #swept: number

  constructor(limits: Limits, service: Service, now: () => number) {
    this.#limits = limits
    this.#service = service
    this.#now = now
    this.#swept = now()
  }

  get size(): number {
    return this.#table.size
  }

  /**
   * Creates a session. It is added to the table once the handshake succeeds; if the table is full, the session that was
   * idle for the longest time is evicted.
   */
  create(auth: Auth | undefined): HttpSession {
    const isFull = this.#table.size >= this.#limits.sessions
    if (isFull || this.#now() - this.#swept > SWEEP_MS) {
      const oldest = this.sweep()
      if (this.#table.size >= this.#limits.sessions) this.#evict(oldest)
    }
    if (this.#table.size >= this.#limits.sessions) throw this.#full()
    return new HttpSession(ownerOf(auth), this.#limits, this.#service, this.#now(), this.#onKept)
  }

  keep(session: HttpSession): void {
    // Several handshakes may have been running when there was room for only one.
    if (this.#table.size >= this.#limits.sessions) this.#evict(this.sweep())
    if (this.#table.size >= this.#limits.sessions) throw this.#full()
    this.#table.set(session.id, session)
    this.#count(session.kept)
  }

  has({ id }: HttpSession): boolean {
    return this.#table.has(id)
  }

  /** Finds a session by id, for its owner only. */
  get(id: string, auth: Auth | undefined): HttpSession {
    const session = this.#table.get(id)
    if (session === undefined || session.owner !== ownerOf(auth)) throw mcpError(UNKNOWN_SESSION, {})
    const now = this.#now()
    if (this.#isIdle(session, now)) {
      this.end(session)
      this.#service.observers.count('session_expired')
      throw mcpError(UNKNOWN_SESSION, {})
    }
    session.seen = now
    return session
  }

  end(session: HttpSession): void {
    if (this.#table.delete(session.id)) this.#count(-session.kept)
    session.close()
  }

  /** Closes sessions that were idle for too long; returns the longest idle one of the rest. */
  sweep(): HttpSession | undefined {
    const now = (this.#swept = this.#now())
    let oldest: HttpSession | undefined
    for (const session of this.#table.values()) {
      if (this.#isIdle(session, now)) {
        this.end(session)
        this.#service.observers.count('session_expired')
      } else if (oldest === undefined || session.seen < oldest.seen) oldest = session
    }
    return oldest
  }

  keepAlive(): void {
    for (const session of this.#table.values()) session.keepAlive()
  }

  close(): void {
    for (const session of this.#table.values()) this.end(session)
  }

  /** Counts buffered bytes. Beyond the limit, the ended streams of the oldest sessions are discarded. */
  #count(bytes: number): void {
    this.#kept += bytes
    if (bytes <= 0) return
    for (const session of this.#table.values()) {
      if (this.#kept <= this.#limits.unsentBytes) return
      session.discardEnded()
    }
  }

  #full(): McpError {
    return mcpError(SESSION_LIMIT, { limit: this.#limits.sessions }, { retryAfterMs: 30_000 })
  }

  #evict(session: HttpSession | undefined): void {
    if (session === undefined || this.#now() - session.seen < FRESH_MS) return
    this.end(session)
    this.#service.observers.count('session_evicted')
  }

  /** Whether a session was idle for too long, counted from the end of its last stream or request. */
  #isIdle(session: HttpSession, now: number): boolean {
    if (session.busy) session.seen = now
    return now - session.seen > this.#limits.sessionIdleMs
  }
}
