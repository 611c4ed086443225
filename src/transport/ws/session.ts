import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import { Backlog, type Keeper } from './backlog.ts'

/** The connection that carries a session for the time being. */
export interface Carrier {
  /** Whether the client is far behind with reading. */
  readonly isBehind: boolean
  send(text: string): void
  /** Asks the client what arrived. */
  ask(payload: string): void
  /** Another connection carries the session from now on. */
  replace(): void
  /** Ends at once. */
  drop(): void
}

/** A session for a new connection. */
export interface Opening {
  readonly session: WsSession
  /** How many messages the client got of it. */
  readonly count: number
  /** Who came: the owner of the session, perhaps with a new token. */
  readonly auth: Auth | undefined
}

/** Where sessions are kept. */
export interface SessionTable {
  readonly service: Service
  readonly limits: Limits
  /** The connection of a session is lost, and may come back. */
  lost(session: WsSession): void
  /** A session is over. */
  over(session: WsSession): void
  /** So many more characters are kept for a session, or so many fewer. */
  keeps(chars: number): void
}

/** A session that outlives its connection: what the client asked for goes on, and what it is told waits for it. */
export class WsSession implements Keeper {
  readonly id: string
  readonly owner: string
  readonly connection: Connection
  readonly #table: SessionTable
  readonly #backlog: Backlog = new Backlog(this)
  #carrier: Carrier | undefined
  #received = 0
  /** How much was sent when the connection was lost. */
  #sentBefore = 0
  #isOver = false

  constructor(table: SessionTable, id: string, auth: Auth | undefined) {
    const { service, limits } = table
    this.#table = table
    this.id = id
    this.owner = ownerOf(auth)
    this.connection = new Connection({
      service,
      limits,
      source: { auth },
      send: (text) => this.#send(text),
      isBehind: () => this.#carrier?.isBehind ?? this.#backlog.isHalfFull,
    })
  }

  get maxEvents(): number {
    return this.#table.limits.streamEvents
  }

  get maxBytes(): number {
    return this.#table.limits.streamBytes
  }

  /** How many messages were sent to the client. */
  get sent(): number {
    return this.#backlog.sent
  }

  /** How many characters are kept for the client. */
  get size(): number {
    return this.#backlog.size
  }

  /** How many messages of the client were taken. */
  get received(): number {
    return this.#received
  }

  /** Whether all that follows so many messages is kept. */
  reaches(count: number): boolean {
    return !this.#isOver && this.#backlog.reaches(count)
  }

  /** Takes the session from the connection that carries it. */
  release(): void {
    const carrier = this.#carrier
    if (carrier === undefined) return
    this.#lose()
    carrier.replace()
  }

  /** Drops the connection that carries the session; false when none does. */
  cut(): boolean {
    this.#carrier?.drop()
    return this.#carrier !== undefined
  }

  /** Goes on over a connection to a client that got so many messages, beginning with what it missed. */
  carryOn(carrier: Carrier, { count, auth }: Pick<Opening, 'count' | 'auth'>): void {
    this.#carrier = carrier
    this.connection.source = { auth }
    for (const text of this.#backlog.after(count)) carrier.send(text)
  }

  /** Counts a message; false when it came over a connection that does not carry the session any more. */
  count(carrier: Carrier): boolean {
    if (this.#carrier !== carrier) return false
    this.#received++
    return true
  }

  /** Asks what arrived, when there is something to know. */
  ask(): void {
    if (this.#carrier === undefined) return
    const question = this.#backlog.question()
    if (question !== undefined) this.#carrier.ask(question)
  }

  /** Learns from a pong what arrived. */
  learn(carrier: Carrier, payload: string): void {
    if (this.#carrier === carrier) this.#backlog.answer(payload)
  }

  /** A connection is gone: after a last word the session is over, without one the client may come back. */
  leave(carrier: Carrier, saidSo: boolean): void {
    if (this.#carrier !== carrier) return
    this.#lose()
    if (saidSo) this.end()
    else this.#table.lost(this)
  }

  /** Gives up what is kept, so that a client which misses some of it cannot come back. */
  forget(): void {
    this.#backlog.clear()
    this.forgot()
    if (this.#carrier === undefined) this.end()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#backlog.clear()
    this.#table.over(this)
    this.connection.close()
  }

  forgot(): void {
    this.#table.service.observers.count('event_forgotten')
  }

  kept(chars: number): void {
    this.#table.keeps(chars)
  }

  #lose(): void {
    this.#carrier = undefined
    this.#sentBefore = this.#backlog.sent
  }

  #send(text: string): void {
    if (this.#isOver) return
    this.#backlog.add(text)
    const carrier = this.#carrier
    if (carrier !== undefined) {
      carrier.send(text)
      if (this.#backlog.isHalfFull) this.ask()
    } else if (this.#backlog.forgotten > this.#sentBefore) this.end()
  }
}
