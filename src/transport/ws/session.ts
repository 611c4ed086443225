import type { Limits } from '../../protocol/limits.ts'
import { anonymousNetwork, ownerOf, type Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { budgetsOf } from '../io/budgets.ts'
import { Connection } from '../io/connection.ts'
import { KeptBuffer } from '../io/kept-pool.ts'
import { Backlog, type Keeper } from './backlog.ts'
import type { Refusal } from './close-codes.ts'

/** The current connection of a session. */
export interface Carrier {
  /** Whether the client reads too slowly. */
  readonly isBehind: boolean
  send(text: string): void
  /** Asks the client how many messages arrived. */
  ask(payload: string): void
  /** Gives up the session to another connection. */
  replace(): void
  /** Closes the connection of a client that the server gives up. */
  refuse(why: Refusal): void
  /** Aborts the connection. */
  abort(): void
}

/** A session as its connection sees it. */
export interface ResumableSession {
  readonly connection: Connection
  /** Counts a message; false when it arrived on a connection that no longer belongs to the session. */
  count(carrier: Carrier): boolean
  /** Asks how many messages arrived, if some are unconfirmed. */
  ask(): void
  /** Learns from a pong how many messages arrived. */
  learn(carrier: Carrier, payload: string): void
  /** A connection closed. The session ends if that was agreed; otherwise the client may resume it. */
  detach(carrier: Carrier, wasAgreed: boolean): void
  end(): void
  /** The part of a session that all nodes serve; undefined if there are no others. */
  readonly shared?: SharedPart
}

/** What a connection does if all nodes serve its session. */
export interface SharedPart {
  /** Notes messages before they are handled; false if the client has another connection, which gets them again. */
  note(carrier: Carrier, texts: readonly string[]): Promise<boolean>
  /** Gives the session up, so that its client resumes it at another node; false if it has done so. */
  handOver(carrier: Carrier): boolean
}

/** A session and the new connection's state. */
export interface Opening {
  readonly session: WsSession
  /** How many of its messages the client received. */
  readonly count: number
  /** The caller: the owner of the session, perhaps with a new token. */
  readonly auth: Auth | undefined
  /** The address of the client, if known. */
  readonly ip?: string | undefined
}

/** The table that holds sessions. */
export interface SessionTable {
  readonly service: Service
  readonly limits: Limits
  /** Called when the connection of a session is lost and may be resumed. */
  lost(session: WsSession): void
  /** Called when a session ends. */
  over(session: WsSession): void
}

/** The memory that a kept message takes besides its text. */
const OVERHEAD = 64

/** A session that outlives its connection: requests keep running, and messages for the client are buffered. */
export class WsSession implements Keeper, ResumableSession {
  readonly id: string
  readonly owner: string
  readonly connection: Connection
  readonly #table: SessionTable
  readonly #backlog: Backlog = new Backlog(this)
  readonly #buffer: KeptBuffer
  #carrier: Carrier | undefined
  #received = 0
  /** The number of messages sent when the connection was lost. */
  #sentBefore = 0
  #isOver = false

  constructor(table: SessionTable, id: string, auth: Auth | undefined) {
    const { service, limits } = table
    this.#table = table
    this.id = id
    this.owner = ownerOf(auth)
    this.#buffer = new KeptBuffer({
      pool: budgetsOf(service, limits).kept,
      caller: auth === undefined ? this : this.owner,
      forget: () => this.#discard(),
    })
    this.connection = new Connection({
      service,
      limits,
      source: { auth },
      id,
      send: (text) => this.#send(text),
      isBehind: () => this.#carrier?.isBehind ?? this.#backlog.isHalfFull,
      onInvalid: () => this.#carrier?.refuse('invalid'),
      evict: () => this.#evict(),
    })
  }

  get maxEvents(): number {
    return this.#table.limits.streamEvents
  }

  get maxBytes(): number {
    return this.#table.limits.streamBytes
  }

  /** The caller or the network whose sessions it is counted with. */
  get countedFor(): string {
    return anonymousNetwork(this.connection.source) ?? this.owner
  }

  /** The number of messages sent to the client. */
  get sent(): number {
    return this.#backlog.sent
  }

  /** The number of messages received from the client. */
  get received(): number {
    return this.#received
  }

  /** Whether every message after the first `count` is buffered. */
  reaches(count: number): boolean {
    return !this.#isOver && this.#backlog.reaches(count)
  }

  /** Detaches the session from its connection. */
  release(): void {
    const carrier = this.#carrier
    if (carrier === undefined) return
    this.#lose()
    carrier.replace()
  }

  /** Aborts the connection of the session; false when it has none. */
  abort(): boolean {
    this.#carrier?.abort()
    return this.#carrier !== undefined
  }

  /** Continues on a new connection, starting with the messages that the client missed. */
  carryOn(carrier: Carrier, { count, auth, ip }: Pick<Opening, 'count' | 'auth' | 'ip'>): void {
    this.#carrier = carrier
    this.#buffer.isRead = true
    this.connection.source = { auth, ip }
    for (const text of this.#backlog.after(count)) carrier.send(text)
  }

  count(carrier: Carrier): boolean {
    if (this.#carrier !== carrier) return false
    this.#received++
    return true
  }

  ask(): void {
    if (this.#carrier === undefined) return
    const question = this.#backlog.question()
    if (question !== undefined) this.#carrier.ask(question)
  }

  learn(carrier: Carrier, payload: string): void {
    if (this.#carrier === carrier) this.#backlog.answer(payload)
  }

  detach(carrier: Carrier, wasAgreed: boolean): void {
    if (this.#carrier !== carrier) return
    this.#lose()
    if (wasAgreed) this.end()
    else this.#table.lost(this)
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

  kept(): void {
    this.#buffer.set(this.#backlog.size + this.#backlog.length * OVERHEAD)
  }

  /** Discards buffered messages to make room; a client that missed some of them can no longer resume. */
  #discard(): void {
    this.#backlog.clear()
    this.forgot()
    if (this.#carrier === undefined) this.end()
  }

  #evict(): void {
    const carrier = this.#carrier
    this.#lose()
    this.end()
    carrier?.refuse('evicted')
  }

  #lose(): void {
    this.#carrier = undefined
    this.#buffer.isRead = false
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
