import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { budgetsOf } from '../io/budgets.ts'
import { Owners } from '../io/owners.ts'
import { readCount } from './backlog.ts'
import { WsSession, type Opening, type SessionTable } from './session.ts'

/** The length of a session id in bytes: long enough to be unguessable. */
const ID_BYTES = 18

/** The sessions of all clients that can resume. They time out if the client does not reconnect. */
export class WsSessions implements SessionTable {
  readonly service: Service
  readonly limits: Limits
  readonly #now: () => number
  readonly #all = new Map<string, WsSession>()
  /** Sessions without a connection and when they lost it, oldest first. */
  readonly #lost = new Map<WsSession, number>()
  readonly #owners = new Owners<WsSession>()
  readonly #unwatch: () => void
  #isClosed = false

  constructor(service: Service, limits: Limits, now: () => number = () => performance.now()) {
    this.service = service
    this.limits = limits
    this.#now = now
    // Connections end by themselves.
    this.#unwatch = service.leases.watch((concerns) => {
      for (const session of this.#lost.keys()) if (concerns(session.connection.source.auth)) session.end()
    })
  }

  get size(): number {
    return this.#all.size
  }

  /** The number of bytes kept for clients that may come back. */
  get kept(): number {
    return budgetsOf(this.service, this.limits).kept.bytes
  }

  /**
   * Finds or creates the session of a new connection. A client that can resume sends the number of messages it received,
   * and the id of its session unless it is new. If the session cannot be resumed, the client gets a new one. Clients
   * that cannot resume get none.
   */
  open(headers: IncomingHttpHeaders, auth: Auth | undefined): Opening | undefined {
    const count = readCount(headers['last-event-id'] as string | undefined)
    if (count === undefined || this.limits.resumeMs === 0) return undefined
    this.sweep()
    const known = this.#find(headers, auth)
    if (known !== undefined && this.#canResume(known, count)) return { session: known, count, auth }
    return { session: this.#create(auth), count: 0, auth }
  }

  /** Aborts the old connection of a session that its client is resuming; false when there is none. */
  makeRoom(headers: IncomingHttpHeaders, auth: Auth | undefined): boolean {
    return this.#find(headers, auth)?.abort() === true
  }

  /** Ends sessions whose clients did not reconnect in time. */
  sweep(): void {
    for (const [session, lostAt] of this.#lost) {
      if (this.#now() - lostAt <= this.limits.resumeMs) return
      this.service.observers.count('session_expired')
      session.end()
    }
  }

  /** Ends sessions without a connection, now and in the future. */
  close(): void {
    this.#isClosed = true
    this.#unwatch()
    for (const session of this.#lost.keys()) session.end()
  }

  /** Ends all sessions without a connection, because the server needs memory. Returns how many. */
  shed(): number {
    const ended = [...this.#lost.keys()]
    for (const session of ended) {
      this.service.observers.count('session_evicted')
      session.end()
    }
    return ended.length
  }

  /** Keeps a session for its client to resume; if there are too many, the owner with the most loses the oldest one. */
  lost(session: WsSession): void {
    if (this.#isClosed || this.service.load.isShort) return session.end()
    if (this.#lost.size >= this.limits.sessions) {
      this.service.observers.count('session_evicted')
      // A session that was never used does not evict another.
      if (session.received === 0) return session.end()
      const [first] = this.#owners.largest(session.countedFor).items
      first?.end()
    }
    this.#lost.set(session, this.#now())
    this.#owners.add(session)
  }

  over(session: WsSession): void {
    this.#all.delete(session.id)
    this.#found(session)
  }

  #find(headers: IncomingHttpHeaders, auth: Auth | undefined): WsSession | undefined {
    const session = this.#all.get(headers['mcp-session-id'] as string)
    return session?.owner === ownerOf(auth) ? session : undefined
  }

  /** Detaches a session from its old connection so that it can be resumed; false when it cannot. */
  #canResume(session: WsSession, count: number): boolean {
    if (count > session.sent) return false
    session.release()
    this.#found(session)
    if (session.reaches(count)) return true
    session.end()
    return false
  }

  /** The session has a connection again, or ends. */
  #found(session: WsSession): void {
    this.#lost.delete(session)
    this.#owners.delete(session)
  }

  #create(auth: Auth | undefined): WsSession {
    const session = new WsSession(this, randomBytes(ID_BYTES).toString('base64url'), auth)
    this.#all.set(session.id, session)
    return session
  }
}
