import { mcpError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type Auth, type Call } from '../../rpc/call.ts'
import { Session } from '../../rpc/session.ts'
import { sealNotification } from '../../wire/seal.ts'
import { EventStream, readEventId } from './events.ts'

/** The stream for what belongs to no request. */
const STANDALONE = 's'
const SWEEP_MS = 30_000

/** A session over HTTP: the protocol's state, its running requests, and its streams. */
export class HttpSession {
  readonly id: string = crypto.randomUUID()
  readonly owner: string
  readonly session: Session
  readonly #limits: Limits
  /** When it was last used, by the clock of the table. */
  seen: number
  #calls: Map<string, Call> | undefined
  #streams: Map<string, EventStream> | undefined
  #named = 0

  constructor(owner: string, limits: Limits, now: number) {
    this.owner = owner
    this.seen = now
    this.#limits = limits
    this.session = new Session((method, params) => this.#notify(method, params))
  }

  get calls(): Map<string, Call> {
    return (this.#calls ??= new Map())
  }

  /** Whether a request is being answered. */
  get hasCalls(): boolean {
    return this.#calls !== undefined && this.#calls.size > 0
  }

  /** Whether something keeps the session in use. */
  get busy(): boolean {
    if (this.hasCalls) return true
    return this.#streams?.get(STANDALONE)?.attached === true
  }

  /** A new stream for the answer to one request. The oldest streams that ended are forgotten. */
  openStream(): EventStream {
    const streams = (this.#streams ??= new Map())
    let size = 0
    for (const stream of streams.values()) size += stream.keptSize
    for (const [name, stream] of streams) {
      if (streams.size < this.#limits.keptStreams && size <= this.#limits.streamBytes) break
      if (stream.ended && streams.delete(name)) size -= stream.keptSize
    }
    const name = (++this.#named).toString(36)
    const stream = new EventStream({ limits: this.#limits, name: `r${name}` })
    streams.set(`r${name}`, stream)
    return stream
  }

  /** The stream for notifications, opened when first needed. */
  standalone(): EventStream {
    const streams = (this.#streams ??= new Map())
    let stream = streams.get(STANDALONE)
    if (stream === undefined) {
      stream = new EventStream({ limits: this.#limits, name: STANDALONE, lossy: true })
      streams.set(STANDALONE, stream)
    }
    return stream
  }

  /** The stream that holds an event, and the place of the event; nothing when the stream is over and no event follows. */
  find(eventId: string): { readonly stream: EventStream; readonly seq: number } | undefined {
    const place = readEventId(eventId)
    const stream = place === undefined ? undefined : this.#streams?.get(place.name)
    if (place === undefined || (stream === undefined && !this.#hadStream(place.name))) {
      throw mcpError('unknown_event', {})
    }
    return stream?.mayFollow(place.seq) === true ? { stream, seq: place.seq } : undefined
  }

  /** Gives up a stream: nobody can come back to it. */
  forget(stream: EventStream): void {
    for (const [name, kept] of this.#streams ?? []) if (kept === stream) this.#streams?.delete(name)
  }

  keepAlive(): void {
    if (this.#streams !== undefined) for (const stream of this.#streams.values()) stream.keepAlive()
  }

  close(): void {
    for (const call of this.#calls?.values() ?? [])
      call.cancel(mcpError('connection_closed', { method: call.method }))
    for (const stream of this.#streams?.values() ?? []) stream.end()
    this.session.close()
  }

  #hadStream(name: string): boolean {
    return name.startsWith('r') && Number.parseInt(name.slice(1), 36) <= this.#named
  }

  #notify(method: string, params: JsonObject): void {
    this.standalone().send(sealNotification(method, params, this.session.dialect.revision))
  }
}

/** All sessions of one endpoint. Those that nobody uses end after a while. */
export class Sessions {
  readonly #limits: Limits
  readonly #now: () => number
  readonly #table = new Map<string, HttpSession>()
  #swept: number

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#swept = now()
  }

  get size(): number {
    return this.#table.size
  }

  /** A session that is not in the table yet: it is kept once the handshake succeeded. */
  create(auth: Auth | undefined): HttpSession {
    if (this.#table.size >= this.#limits.sessions || this.#now() - this.#swept > SWEEP_MS) this.sweep()
    if (this.#table.size >= this.#limits.sessions) {
      throw mcpError('session_limit', { limit: this.#limits.sessions }, { retryAfterMs: 30_000 })
    }
    return new HttpSession(ownerOf(auth), this.#limits, this.#now())
  }

  keep(session: HttpSession): void {
    this.#table.set(session.id, session)
  }

  /** The session of an id, for its owner only. */
  get(id: string, auth: Auth | undefined): HttpSession {
    const session = this.#table.get(id)
    if (session === undefined || session.owner !== ownerOf(auth)) throw mcpError('unknown_session', {})
    const now = this.#now()
    if (this.#isIdle(session, now)) {
      this.end(session)
      throw mcpError('unknown_session', {})
    }
    session.seen = now
    return session
  }

  end(session: HttpSession): void {
    this.#table.delete(session.id)
    session.close()
  }

  /** Ends what was idle for too long. */
  sweep(): void {
    const now = (this.#swept = this.#now())
    for (const session of this.#table.values()) if (this.#isIdle(session, now)) this.end(session)
  }

  keepAlive(): void {
    for (const session of this.#table.values()) session.keepAlive()
  }

  close(): void {
    for (const session of this.#table.values()) this.end(session)
  }

  /** Whether nobody used a session for too long. The time begins when the last stream or request of it is over. */
  #isIdle(session: HttpSession, now: number): boolean {
    if (session.busy) session.seen = now
    return now - session.seen > this.#limits.sessionIdleMs
  }
}
