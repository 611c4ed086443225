import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { readCount } from './backlog.ts'
import { WsSession, type Opening, type SessionTable } from './session.ts'

/** How long an id is that nobody can guess, in bytes. */
const ID_BYTES = 18

/** The sessions of all clients that can come back. Those whose clients stay away end after a while. */
export class WsSessions implements SessionTable {
  readonly service: Service
  readonly limits: Limits
  readonly #now: () => number
  readonly #all = new Map<string, WsSession>()
  /** Those without a connection and when they lost it, the longest ago first. */
  readonly #lost = new Map<WsSession, number>()
  #kept = 0
  #isClosed = false

  constructor(service: Service, limits: Limits, now: () => number = () => performance.now()) {
    this.service = service
    this.limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#all.size
  }

  /** How many characters are kept for all of them. */
  get kept(): number {
    return this.#kept
  }

  /**
   * The session that a connection is for. A client that can come back says how many messages it got: none at first,
   * later with the id of its session. Where that cannot go on, the client gets a new one; other clients get none.
   */
  open(headers: IncomingHttpHeaders, auth: Auth | undefined): Opening | undefined {
    const count = readCount(headers['last-event-id'] as string | undefined)
    if (count === undefined || this.limits.resumeMs === 0) return undefined
    this.sweep()
    const known = this.#find(headers, auth)
    if (known !== undefined && this.#comesBack(known, count)) return { session: known, count, auth }
    return { session: this.#create(auth), count: 0, auth }
  }

  /** Cuts the connection of a session that its client comes back to over another; false when there is none. */
  makeRoom(headers: IncomingHttpHeaders, auth: Auth | undefined): boolean {
    return this.#find(headers, auth)?.cut() === true
  }

  /** Ends those whose clients stayed away for too long. */
  sweep(): void {
    for (const [session, lostAt] of this.#lost) {
      if (this.#now() - lostAt <= this.limits.resumeMs) return
      this.service.observers.count('session_expired')
      session.end()
    }
  }

  /** Ends those without a connection, now and from now on. */
  close(): void {
    this.#isClosed = true
    for (const session of this.#lost.keys()) session.end()
  }

  /** Waits for a client to come back; when too many are waited for, the one that left first is not any more. */
  lost(session: WsSession): void {
    if (this.#isClosed) return session.end()
    const [first] = this.#lost.keys()
    if (first !== undefined && this.#lost.size >= this.limits.sessions) {
      this.service.observers.count('session_evicted')
      // What was never used makes nobody else leave.
      if (session.received === 0) return session.end()
      first.end()
    }
    this.#lost.set(session, this.#now())
  }

  over(session: WsSession): void {
    this.#all.delete(session.id)
    this.#lost.delete(session)
  }

  /** Counts what is kept. While it is too much, the session for which most is kept gives that up. */
  keeps(chars: number): void {
    this.#kept += chars
    while (this.#kept > this.limits.unsentBytes) this.#greediest().forget()
  }

  #greediest(): WsSession {
    let greediest: WsSession | undefined
    for (const session of this.#all.values())
      if (greediest === undefined || session.size > greediest.size) greediest = session
    return greediest as WsSession
  }

  #find(headers: IncomingHttpHeaders, auth: Auth | undefined): WsSession | undefined {
    const session = this.#all.get(headers['mcp-session-id'] as string)
    return session?.owner === ownerOf(auth) ? session : undefined
  }

  /** Frees a session for a client that got so many messages of it; false when it cannot go on. */
  #comesBack(session: WsSession, count: number): boolean {
    if (count > session.sent) return false
    session.release()
    this.#lost.delete(session)
    if (session.reaches(count)) return true
    session.end()
    return false
  }

  #create(auth: Auth | undefined): WsSession {
    const session = new WsSession(this, randomBytes(ID_BYTES).toString('base64url'), auth)
    this.#all.set(session.id, session)
    return session
  }
}
