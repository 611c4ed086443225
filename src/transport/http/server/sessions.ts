import { SESSION_LIMIT } from '../../../errors/limits.ts'
import { mcpError } from '../../../errors/error.ts'
import { UNKNOWN_EVENT, UNKNOWN_SESSION } from '../../../errors/http.ts'
import { MUCH_LATER } from '../../../errors/retry-after.ts'
import type { JsonObject, Message, RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { anonymousNetwork, ownerOf, type Auth, type RequestSource } from '../../../rpc/call.ts'
import { CallTable } from '../../../rpc/call-table.ts'
import type { Observers } from '../../../rpc/observer.ts'
import type { Service } from '../../../rpc/service.ts'
import { Session } from '../../../rpc/session.ts'
import { encodeNotification } from '../../../wire/encode.ts'
import { budgetsOf } from '../../io/budgets.ts'
import type { KeptPool } from '../../io/kept-pool.ts'
import { Owners } from '../../io/owners.ts'
import { Evictable } from './evictable.ts'
import { EventStream, readEventId, type StreamKeeper, type StreamOptions } from './event-stream.ts'
import { REPLICA_MS, type SharedSession } from './shared-part.ts'

/** The stream for messages that do not belong to a request. */
export const STANDALONE = 's'
const SWEEP_MS = 30_000
/** The same while there is no room for newcomers. */
const FULL_SWEEP_MS = 1000
/** Sessions used more recently than this are not evicted. */
export const FRESH_MS = 10_000
/** The part of its sessions that an owner loses at a time while the server needs memory. */
const SHED_PART = 1 / 4

/** The facts about a session that another node has begun. */
export interface SessionFacts {
  readonly id: string
  readonly owner: string
  readonly countedFor: string
}

/** A session over HTTP: the protocol's state, its running requests, and its streams. */
export class HttpSession implements StreamKeeper {
  readonly id: string
  readonly owner: string
  /** The caller or the network whose sessions it is counted with. */
  readonly countedFor: string
  readonly session: Session
  readonly #limits: Limits
  readonly #observers: Observers
  /** When it was last used, by the table's clock. */
  seen: number
  /** Its unanswered requests. */
  readonly calls: CallTable = new CallTable()
  /** The streams of its requests, from the oldest; a map would keep dropped ones alive (`base/bag.ts`). */
  readonly #streams: EventStream[] = []
  #standalone: EventStream | undefined
  /** How many bytes its streams buffer. */
  #kept = 0
  readonly #pool: KeptPool
  #named = 0
  #shared: SharedSession | undefined

  constructor(source: RequestSource, limits: Limits, service: Service, now: number, facts?: SessionFacts) {
    this.id = facts?.id ?? crypto.randomUUID()
    this.owner = facts?.owner ?? ownerOf(source.auth)
    this.countedFor = facts?.countedFor ?? anonymousNetwork(source) ?? this.owner
    this.seen = now
    this.#limits = limits
    this.#observers = service.observers
    this.#pool = budgetsOf(service, limits).kept
    this.session = new Session(service.dialects, (...notice) => this.#notify(...notice), this.id)
  }

  /** Whether the session is in use. */
  get busy(): boolean {
    return this.calls.size > 0 || this.#standalone?.attached === true || this.#shared?.isFollowed === true
  }

  /** The part that all nodes share; undefined if there are no others. */
  get shared(): SharedSession | undefined {
    return this.#shared
  }

  set shared(shared: SharedSession | undefined) {
    this.#shared = shared
    this.session.keeper = shared
  }

  /** Takes the answer to a question. */
  settle(answer: Message): void {
    if (!this.session.pending.settle(answer)) this.#shared?.settle(answer)
  }

  /** Cancels a request as `notifications/cancelled` asks. */
  cancel(params: JsonObject): void {
    if (!this.calls.cancel(params)) this.#shared?.cancel(params)
  }

  /**
   * Opens a stream for the response to one request. The oldest ended streams are discarded. `onLost` is called when the
   * stream ends early because there was no room for its events. A closed session keeps no streams, since nobody can resume them.
   */
  openStream(
    on: Pick<StreamOptions, 'onLost' | 'onGone'>,
    id?: RequestId | readonly RequestId[],
  ): EventStream {
    if (this.session.closed) return new EventStream({ limits: this.#limits })
    this.#makeRoom()
    const { name, recorder } = this.#shared?.newStream(id) ?? { name: `r${(++this.#named).toString(36)}` }
    const stream = this.#newStream(name, false, { ...on, recorder })
    this.#streams.push(stream)
    return stream
  }

  /** The stream for notifications, created on first use. */
  standalone(): EventStream {
    return (this.#standalone ??= this.#newStream(STANDALONE, true))
  }

  /** Whether the stream of an event is here, with all events that follow it. */
  holds(eventId: string): boolean {
    const place = readEventId(eventId)
    const stream = this.#all().find(({ name }) => name === place?.name)
    return place !== undefined && stream?.reaches(place.seq) === true
  }

  /** The stream of an event, and the event's position; undefined when no event follows or can follow. */
  find(eventId: string): { readonly stream: EventStream; readonly seq: number } | undefined {
    const place = readEventId(eventId)
    const stream = place === undefined ? undefined : this.#all().find(({ name }) => name === place.name)
    if (place === undefined || (stream === undefined && !this.#hadStream(place.name))) {
      throw mcpError(UNKNOWN_EVENT, {})
    }
    if (stream?.reaches(place.seq) === false) throw mcpError(UNKNOWN_EVENT, {})
    return stream?.mayFollow(place.seq) === true ? { stream, seq: place.seq } : undefined
  }

  /** Discards a stream, which then cannot be resumed, here or elsewhere. */
  discard(stream: EventStream): void {
    const at = this.#streams.indexOf(stream)
    if (at < 0) return
    this.#streams.splice(at, 1)
    this.#kept -= stream.keptSize
    stream.release()
    stream.recorder?.forget()
  }

  keepAlive(): void {
    this.#standalone?.keepAlive()
    for (const stream of this.#streams) stream.keepAlive()
    this.#shared?.keepAlive()
  }

  close(): void {
    this.#shared?.close()
    this.session.keeper = undefined
    this.calls.close()
    for (const stream of this.#all()) stream.end()
    this.release()
    this.session.close()
  }

  /** Counts what its streams buffer no longer, because nobody can come back for it. */
  release(): void {
    for (const stream of this.#all()) stream.release()
  }

  counted(bytes: number): void {
    this.#kept += bytes
  }

  forgot(): void {
    this.#observers.count('event_forgotten')
  }

  discarded(stream: EventStream): void {
    this.discard(stream)
    this.#observers.count('stream_forgotten')
  }

  #all(): readonly EventStream[] {
    return this.#standalone === undefined ? [...this.#streams] : [this.#standalone, ...this.#streams]
  }

  /** Discards ended streams, from the oldest, until there is room for another one. */
  #makeRoom(): void {
    const { keptStreams, streamBytes } = this.#limits
    for (let at = 0; at < this.#streams.length;) {
      if (this.#streams.length < keptStreams && this.#kept <= streamBytes) return
      const stream = this.#streams[at] as EventStream
      if (stream.ended) this.discarded(stream)
      else at++
    }
  }

  #newStream(name: string, lossy: boolean, on: Partial<StreamOptions> = {}): EventStream {
    const caller = this.owner === '' ? this : this.owner
    return new EventStream({
      limits: this.#limits,
      name,
      lossy,
      pool: this.#pool,
      caller,
      keeper: this,
      ...on,
    })
  }

  #hadStream(name: string): boolean {
    return name.startsWith('r') && Number.parseInt(name.slice(1), 36) <= this.#named
  }

  #notify(method: string, params: JsonObject, position?: number): void {
    const text = encodeNotification(method, params, this.session.dialect)
    if (this.#shared === undefined) this.standalone().send(text)
    else this.#shared.notify(text, position)
  }
}

/** All sessions of one endpoint. Idle ones time out. */
export class Sessions {
  readonly #limits: Limits
  readonly #service: Service
  readonly #now: () => number
  readonly #table = new Map<string, HttpSession>()
  readonly #owners = new Owners<HttpSession>()
  /** The sessions that may be evicted for anyone, and for an owner with far fewer. */
  readonly #idle = new Evictable<HttpSession>((session) => this.#isEvictable(session, false), true)
  readonly #unused = new Evictable<HttpSession>((session) => this.#isEvictable(session, true), false)
  readonly #share: ((session: HttpSession) => SharedSession) | undefined
  readonly #idleMs: number
  #swept: number

  /** `share` gives sessions the part that all nodes share. */
  constructor(
    limits: Limits,
    service: Service,
    now: () => number,
    share?: (session: HttpSession) => SharedSession,
  ) {
    this.#limits = limits
    this.#service = service
    // V8 keeps whole numbers inside objects, and others beside them, which is one more cold place in memory for each call.
    this.#now = () => Math.floor(now())
    this.#share = share
    this.#idleMs = share === undefined ? limits.sessionIdleMs : Math.min(limits.sessionIdleMs, REPLICA_MS)
    this.#swept = this.#now()
  }

  get size(): number {
    return this.#table.size
  }

  /**
   * Creates a session. It is added to the table once the handshake succeeds; if the table is full, the owner with the most
   * sessions loses the one that was idle for the longest time.
   */
  create(source: RequestSource, facts?: SessionFacts): HttpSession {
    if (this.#now() - this.#swept > SWEEP_MS) this.sweep()
    const session = new HttpSession(source, this.#limits, this.#service, this.#now(), facts)
    this.#makeRoom(session.countedFor)
    session.shared = this.#share?.(session)
    return session
  }

  /** The session with an id, whosever it is. */
  find(id: string): HttpSession | undefined {
    return this.#table.get(id)
  }

  /** Counts a session as used now. */
  touch(session: HttpSession): void {
    session.seen = this.#now()
  }

  [Symbol.iterator](): Iterator<HttpSession> {
    return this.#table.values()
  }

  keep(session: HttpSession): void {
    // Several handshakes may have been running when there was room for only one.
    this.#makeRoom(session.countedFor)
    this.#table.set(session.id, session)
    this.#owners.add(session)
    session.session.evict = this.#evict
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
      this.#expire(session)
      throw mcpError(UNKNOWN_SESSION, {})
    }
    session.seen = now
    return session
  }

  end(session: HttpSession): void {
    this.#table.delete(session.id)
    this.#owners.delete(session)
    session.close()
  }

  /** Closes sessions that were idle for too long. */
  sweep(): void {
    const now = (this.#swept = this.#now())
    for (const session of this.#table.values()) {
      if (this.#isIdle(session, now)) this.#expire(session)
      else session.shared?.sweep()
    }
  }

  #expire(session: HttpSession): void {
    this.end(session)
    if (session.shared === undefined) this.#service.observers.count('session_expired')
  }

  keepAlive(): void {
    for (const session of this.#table.values()) session.keepAlive()
  }

  close(): void {
    for (const session of this.#table.values()) this.end(session)
  }

  /** Throws if the table is full and no session can be evicted for one of `owner`. */
  #makeRoom(owner: string): void {
    const { sessions } = this.#limits
    if (this.#table.size < sessions) return
    if (this.#now() - this.#swept > FULL_SWEEP_MS) this.sweep()
    if (this.#table.size < sessions) return
    const oldest = this.#evictable(owner)
    if (oldest === undefined) throw mcpError(SESSION_LIMIT, { limit: sessions }, MUCH_LATER)
    this.end(oldest)
    this.#service.observers.count('session_evicted')
  }

  /** Evicts a session because others need the memory that it takes. */
  readonly #evict = ({ id }: Session, isLarge: boolean): boolean => {
    const session = this.#table.get(id)
    if (session === undefined || !this.#isEvictable(session, isLarge)) return false
    this.end(session)
    this.#service.observers.count('session_evicted')
    return true
  }

  /** Ends the sessions that were unused for longest, of the owner with the most, because the server needs memory. Returns how many. */
  shed(): number {
    const items = [...this.#owners.largest('').items].sort((one, other) => one.seen - other.seen)
    const ended = items.slice(0, Math.ceil(items.length * SHED_PART))
    for (const session of ended) {
      this.end(session)
      this.#service.observers.count('session_evicted')
    }
    return ended.length
  }

  /** Whether a session may be evicted: if it has been idle for a moment or, with `isLarge`, because it takes too much, if it runs no request. */
  #isEvictable(session: HttpSession, isLarge: boolean): boolean {
    if (session.session.closed) return false
    return isLarge ? session.calls.size === 0 : !session.busy && this.#now() - session.seen >= FRESH_MS
  }

  /** The session to evict for one of `owner`; those in use only if another owner has far more than this one. */
  #evictable(owner: string): HttpSession | undefined {
    const { items, isLarge } = this.#owners.largest(owner)
    return (isLarge ? this.#unused : this.#idle).next(items, this.#now())
  }

  /** Whether a session was idle for too long, counted from the end of its last stream or request. */
  #isIdle(session: HttpSession, now: number): boolean {
    if (session.busy) session.seen = now
    return now - session.seen > this.#idleMs
  }
}
