import type { Node } from '../../../nodes/node.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { RequestSource } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import type { Session } from '../../../rpc/session.ts'
import { HOLDER, RUNS, URI, VALUE } from '../../../rpc/session-fields.ts'
import type { FieldChanges, StoredSession } from '../../../rpc/session-store.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { Connection } from '../../io/connection.ts'
import { isNotable, LONG_ID, notedId } from './noted-id.ts'
import { Outbox } from './outbox.ts'
import { Replica, type ReplicaParts, type ReplicaSession } from './replica.ts'
import { RunningIds } from './running-ids.ts'
import type { SessionFacts } from './sessions.ts'
import { answeredIn, readId } from './stored-answers.ts'

/** The connection of a client. */
export interface Holder {
  /** Whether the client reads too slowly. */
  readonly isBehind: boolean
  send(text: string): void
  /** Closes the connection of a client that the server gives up. */
  refuse(why: 'invalid' | 'evicted'): void
  /** Closes the connection, because the client has another one. */
  replace(): void
}

/** The parts of a transport that its clients use. */
export interface SharedParts {
  readonly service: Service
  readonly limits: Limits
  readonly replica: ReplicaParts
  /** Ends the session of a client at all nodes. */
  end(client: SharedClient): void
}

/** What one node knows of a client whose messages go both ways, and whose session all nodes serve. */
export class SharedClient implements ReplicaSession {
  readonly id: string
  readonly owner: string
  readonly countedFor: string
  readonly #node: Node
  readonly connection: Connection
  readonly replica: Replica
  readonly outbox: Outbox
  /** When it was last used. */
  seen: number
  /** The caller that opened it, between messages. */
  readonly source: RequestSource
  /** The node that has the connection, as the store last told it; negative if that node is about to close it. */
  holderNode: number
  /** The fields of the session, as the store last told them, without resources and values. */
  readonly fields: Map<string, string> = new Map()
  /** Requests that other nodes run, as the store last told it. */
  others: ReadonlyMap<number, readonly string[]> = new Map()
  /** How many messages of other nodes had been passed on when the store was last asked because of them. */
  caughtUp = 0
  /** The field with the requests that run here. */
  #runs: string
  /** The requests that the store knows to run here. */
  #noted: string | null = null
  readonly #runningIds: RunningIds
  /** Whether to look at them before the next save. */
  #isToNote = false
  /** Whether another node may have noted requests of this one. */
  #isDoubtful = false
  #holder: Holder | undefined
  #isClosed = false

  constructor({ service, limits, replica, end }: SharedParts, facts: SessionFacts, source: RequestSource) {
    const { node, room, onError, now } = replica
    this.id = facts.id
    this.owner = facts.owner
    this.countedFor = facts.countedFor
    this.seen = now()
    this.source = source
    this.holderNode = node.number
    this.#node = node
    this.#runs = runsField(node)
    this.connection = new Connection({
      service,
      limits,
      source,
      id: facts.id,
      send: (text, request) =>
        this.outbox.send(
          text,
          request === undefined ? answeredIn(text).filter(isNotable) : [notedId(request)],
        ),
      isBehind: () => this.#holder?.isBehind === true || this.outbox.waiting > limits.streamBytes,
      onInvalid: () => this.#holder?.refuse('invalid'),
      evict: () => end(this),
    })
    this.outbox = new Outbox({
      node,
      session: facts.id,
      room,
      maxWaiting: limits.connectionBytes,
      pool: budgetsOf(service, limits).kept,
      caller: facts.countedFor,
      onError,
      onGivenUp: (request) => this.#cancel(request),
      onLost: () => end(this),
    })
    this.#runningIds = new RunningIds(this.connection.calls, this.outbox)
    this.replica = new Replica(this, replica)
    this.session.keeper = this.replica
    this.connection.elsewhere = {
      settle: (answer) => this.replica.settle(answer),
      cancel: (params) => this.replica.cancel(params),
      notify: (text, position) =>
        position === undefined ? this.outbox.send(text) : this.replica.notify(text, position),
    }
  }

  get session(): Session {
    return this.connection.session
  }

  get busy(): boolean {
    return this.#holder !== undefined || this.connection.isBusy
  }

  get isConnected(): boolean {
    return this.#holder !== undefined
  }

  /** The connection, if this node has it. */
  get holder(): Holder | undefined {
    return this.#holder
  }

  /** Takes over what the store knows; throws if there is no room for it. */
  refresh(stored: StoredSession, source: RequestSource): void {
    this.seen = performance.now()
    this.replica.refresh(stored, source)
    const news: FieldChanges | undefined = stored.changes ?? stored.fields
    if (news === undefined) return
    if (stored.fields !== undefined) this.fields.clear()
    for (const [name, text] of [...news, ...this.replica.unsaved]) this.#set(name, text)
    this.others = othersIn(this.fields, this.#runs)
    this.holderNode = Number(this.fields.get(HOLDER))
  }

  /** Changes a field of its transport at all nodes. */
  change(name: string, text: string | null): void {
    this.#set(name, text)
    this.replica.change(name, text)
  }

  #set(name: string, text: string | null): void {
    if (text === null) this.fields.delete(name)
    else if (!name.startsWith(URI) && !name.startsWith(VALUE)) this.fields.set(name, text)
  }

  /** Sends everything after the first `count` messages over a connection. */
  attach(holder: Holder, count: number): void {
    // Its session may have ended while the connection opened.
    if (this.#isClosed) return holder.refuse('evicted')
    this.#holder = holder
    this.outbox.attach((text) => holder.send(text), count)
  }

  /** Notices that the connection is gone; false if the client has another one here. */
  detach(holder: Holder): boolean {
    if (this.#holder !== holder) return false
    this.#holder = undefined
    this.outbox.detach()
    this.seen = performance.now()
    return true
  }

  /** The ids of the requests that run here, or whose responses the store does not have, as they are noted. */
  get runs(): readonly string[] {
    return this.#runningIds.noted
  }

  /** Whether the store knows of requests that run here. */
  get isNoted(): boolean {
    return this.#noted !== null
  }

  /**
   * Tells other nodes which requests run here, so that one of them can answer them if this one dies. While a save is under way, the next one
   * does it for all messages that arrive meanwhile. `isForced` if another node may have said so.
   */
  noteRuns(isForced = false): void {
    this.#isDoubtful ||= isForced
    this.#isToNote = true
    queueMicrotask(() => void this.replica.saved()?.catch(() => undefined))
  }

  beforeSave(): void {
    if (!this.#isToNote) return
    this.#isToNote = false
    const isSending = this.outbox.waiting > 0
    const { runs } = this
    const field = runsField(this.#node)
    if (field !== this.#runs) {
      // The node has another number now.
      this.replica.change(this.#runs, null)
      this.#runs = field
      this.#noted = null
    }
    const noted = runs.length === 0 ? null : JSON.stringify(runs)
    if (noted === this.#noted && (isSending || !this.#isDoubtful)) return
    this.#isDoubtful &&= isSending
    this.#noted = noted
    this.replica.change(this.#runs, noted)
  }

  /** Stops a request that another node has answered. */
  #cancel(request: string): void {
    if (request === LONG_ID) return
    const reason = 'another node took this one for dead, and answered the request'
    this.connection.calls.cancel({ requestId: readId(request) as string, reason })
  }

  /** Answers running requests, up to a limit, and gives the store everything. */
  async drain(limitMs: number): Promise<void> {
    await this.connection.drain(limitMs)
    this.connection.abortAll()
  }

  /** Forgets the client at this node. */
  close(): void {
    const holder = this.#holder
    this.#isClosed = true
    this.#holder = undefined
    this.outbox.stop()
    this.session.keeper = undefined
    this.replica.close()
    this.connection.close()
    holder?.refuse('evicted')
  }
}

function runsField({ number }: Node): string {
  return `${RUNS}${number}`
}

/** The requests of each node but one, by the names of their fields. */
function othersIn(fields: ReadonlyMap<string, string>, own: string): ReadonlyMap<number, readonly string[]> {
  const found = [...fields].filter(([name]) => name.startsWith(RUNS) && name !== own)
  return new Map(
    found.map(([name, ids]) => [Number(name.slice(RUNS.length)), JSON.parse(ids) as readonly string[]]),
  )
}
