import { pause } from '../../../base/backoff.ts'
import type { NodeMessage } from '../../../nodes/messages.ts'
import type { Node } from '../../../nodes/node.ts'
import type { AllChanged, NodeListener } from '../../../nodes/node-options.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { anonymousNetwork, ownerOf, type RequestSource } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import { COUNTED_FOR, HOLDER, OWNER, RUNS, SERVER, TRANSPORT } from '../../../rpc/session-fields.ts'
import type { StoredSession } from '../../../rpc/session-store.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { within } from '../../io/timer.ts'
import { LONG_ID } from './noted-id.ts'
import type { ReplicaParts } from './replica.ts'
import { LONGEST_IDLE_MS, settleHere, type Sharing } from './replicas.ts'
import { ownFields, SessionUses } from './session-uses.ts'
import { answerTaken } from './send-answer.ts'
import type { SessionFacts } from './sessions.ts'
import { SharedClient, type SharedParts } from './shared-client.ts'
import { REPLICA_MS } from './shared-part.ts'
import { StoredAnswers } from './stored-answers.ts'

export interface SharedClientsOptions {
  readonly sharing: Sharing
  readonly service: Service
  readonly limits: Limits
  /** The name of the transport, as other nodes know it. */
  readonly transport: 'sse' | 'ws'
  /** How long a session without a connection lives. */
  readonly idleMs: number
}

/** How often to look whether other nodes have answered, and how many looks in a row must show it: a request may have just arrived. */
const [LOOK_MS, QUIET_LOOKS] = [50, 3]

/** The clients of one transport whose messages go both ways, and whose sessions all nodes serve. */
export class SharedClients implements NodeListener {
  readonly node: Node
  readonly #transport: string
  readonly #idleMs: number
  readonly #parts: SharedParts
  readonly #all = new Map<string, SharedClient>()
  readonly #unlisten: () => void
  readonly #unwatch: () => void
  readonly #uses: SessionUses
  #sweptAt: number

  constructor({ sharing, service, limits, transport, idleMs }: SharedClientsOptions) {
    const { node, contents } = sharing
    this.node = node
    this.#transport = transport
    this.#idleMs = Math.min(idleMs, LONGEST_IDLE_MS)
    const room = { events: limits.streamEvents, bytes: limits.streamBytes, idleMs: 2 * this.#idleMs }
    const { notices, stored, forwarded, strays } = budgetsOf(service, limits)
    const replica: ReplicaParts = {
      node,
      contents,
      maxSessions: limits.sessions,
      idleMs: this.#idleMs,
      room,
      budget: notices,
      stored,
      forwarded,
      strays,
      // A message over a WebSocket gets no reply.
      isAwaited: transport === 'sse',
      now: () => performance.now(),
      onError: (error) => service.report('error', 'the store failed', { error }),
      onProlonged: () => undefined,
      onEnded: (id) => this.#ended(id),
    }
    this.#parts = { service, limits, replica, end: (client) => void this.end(client) }
    this.#uses = new SessionUses((id, owner) => {
      const known = this.#all.get(id)?.replica
      const expected = known === undefined ? ownFields(node, owner, transport) : undefined
      return node.stores.sessions.use(id, known?.version, this.#idleMs, expected)
    })
    this.#unlisten = node.listen(this)
    this.#sweptAt = performance.now()
    // Connections end by themselves.
    this.#unwatch = service.leases.watch((concerns) => {
      for (const client of this.#all.values())
        if (client.holder === undefined && concerns(client.connection.source.auth)) void this.end(client)
    })
  }

  get size(): number {
    return this.#all.size
  }

  /** How long a session without a connection lives. */
  get idleMs(): number {
    return this.#idleMs
  }

  /** The client of a session, if this node knows it. */
  find(id: string): SharedClient | undefined {
    return this.#all.get(id)
  }

  [Symbol.iterator](): Iterator<SharedClient> {
    return [...this.#all.values()][Symbol.iterator]()
  }

  /** How much streams of this transport keep. */
  get room(): ReplicaParts['room'] {
    return this.#parts.replica.room
  }

  /** Adds the session of a new client to the store, with fields of its transport. */
  async create(id: string, source: RequestSource, own: ReadonlyMap<string, string>): Promise<SharedClient> {
    const owner = ownerOf(source.auth)
    const client = this.#new({ id, owner, countedFor: anonymousNetwork(source) ?? owner }, source)
    const fields = [
      [TRANSPORT, this.#transport],
      [HOLDER, String(this.node.number)],
    ] as const
    try {
      await client.replica.create(new Map([...fields, ...own]))
      await client.replica.notices.open()
      return client
    } catch (error) {
      this.#forget(client)
      throw error
    }
  }

  /** The client of a session as the store knows it, for its owner only. */
  async use(id: string, source: RequestSource): Promise<SharedClient | undefined> {
    const owner = ownerOf(source.auth)
    const known = this.#all.get(id)
    if (known !== undefined && known.owner !== owner) return undefined
    return this.#uses.use(id, owner, (stored) => this.#take(id, stored, source))
  }

  /** Ends the session of a client at all nodes. */
  async end(client: SharedClient): Promise<void> {
    this.#forget(client)
    try {
      await this.node.stores.sessions.end(client.id)
    } catch {
      // It ends by itself.
    }
    this.#ended(client.id)
  }

  /** Keeps the sessions of connected clients alive, forgets clients that are not used, and answers requests of nodes that died. */
  sweep(): void {
    const now = performance.now()
    const isTime = now - this.#sweptAt > this.#idleMs / 4
    if (isTime) this.#sweptAt = now
    for (const client of this.#all.values()) {
      if (client.holder !== undefined) {
        client.replica.sweep()
        if (client.others.size > 0) this.#check(client).catch(() => undefined)
      } else if (!client.busy) {
        // What the store keeps is counted until it ends there.
        const forgetMs = client.outbox.isCounted ? this.room.idleMs : REPLICA_MS
        if (now - client.seen > forgetMs) this.#forget(client)
      } else if (isTime) this.#checkEnded(client).catch(() => undefined)
    }
  }

  /** Notes what runs here for clients of other nodes, for the case that this node dies. */
  noteRuns(): void {
    for (const client of this.#all.values())
      if (client.holder === undefined || client.isNoted) client.noteRuns()
  }

  /** Looks for requests of a client that run at other nodes. */
  lookAround(client: SharedClient): Promise<void> {
    return this.#uses.use(client.id, client.owner, (stored) => {
      if (this.#all.get(client.id) !== client) return
      if (stored === undefined) return this.#forget(client)
      client.refresh(stored, client.connection.source)
    })
  }

  /**
   * Takes over what requests at other nodes have changed: while they may run there, and after a message of theirs, which may be the response of the last one.
   * The next message of the client must find in the session what it may have seen.
   */
  async catchUp(client: SharedClient): Promise<void> {
    const { foreign } = client.outbox
    if (client.others.size === 0 && client.caughtUp === foreign) return
    await this.lookAround(client)
    client.caughtUp = foreign
  }

  onBeat(): void {
    this.#look().catch(() => undefined)
  }

  waitsFor(session: string, question: number): boolean {
    return this.#all.get(session)?.session.pending.has(question) === true
  }

  onMessage(message: NodeMessage, isOwn: boolean): void {
    if (message.kind === 'died') this.onBeat()
    if (message.kind === 'taken') answerTaken(this.#parts.replica, message.key)
    if (!('session' in message)) return
    if (message.kind === 'ended') {
      this.#parts.replica.budget.forget(message.session)
      this.#parts.replica.stored.forget(message.session)
    }
    const client = this.#all.get(message.session)
    if (client === undefined) return
    if (message.kind === 'attached' && !isOwn) this.#moved(client)
    if (message.kind === 'cancelled') client.connection.calls.cancel(message.params)
    if (message.kind === 'subscribed') client.replica.subscribed(message)
    if (message.kind === 'ended') this.#forget(client)
    if (message.kind === 'answered')
      settleHere(this.node, client.session, message).catch((error) => this.#parts.replica.onError(error))
  }

  onAllChanged(...changed: AllChanged): void {
    for (const { session, replica } of this.#all.values())
      session.whenReady(() => replica.notices.allChanged(...changed), replica)
  }

  /** Answers running requests, up to a limit, and gives the store everything. */
  async drain(client: SharedClient): Promise<void> {
    const { drainMs } = this.#parts.limits
    await client.drain(drainMs)
    await within(drainMs, (done) => void this.#flush(client).then(done))
  }

  /** Says that this node is about to close the connection of a client. */
  leave(client: SharedClient): void {
    client.holderNode = -this.node.number
    client.change(HOLDER, String(client.holderNode))
  }

  /** Resolves when the connection of a client has the responses to its requests at other nodes, or after a limit. */
  async othersDone(client: SharedClient): Promise<void> {
    const until = performance.now() + this.#parts.limits.drainMs
    for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < until; await pause(LOOK_MS)) {
      if (this.#all.get(client.id) !== client) return
      const isRunning = await this.#runElsewhere(client).catch(() => true)
      quiet = isRunning ? 0 : quiet + 1
    }
  }

  /** Forgets all clients; their sessions go on at other nodes. */
  close(): void {
    for (const client of this.#all.values()) this.#forget(client)
    this.#unlisten()
    this.#unwatch()
  }

  /** Whether requests of a client at other nodes have no response yet. */
  async #runElsewhere(client: SharedClient): Promise<boolean> {
    await client.replica.saved()
    await this.lookAround(client)
    client.outbox.look()
    await client.outbox.done()
    const running = [...client.others.values()].flat()
    if (running.length === 0) return false
    const answers = this.#answersOf(client)
    await answers.read()
    // A request with a long id runs until its node says otherwise.
    return running.some((id) => id === LONG_ID || !answers.has(id))
  }

  async #flush(client: SharedClient): Promise<void> {
    await client.outbox.done()
    client.noteRuns()
    await Promise.allSettled([client.replica.settled(), client.replica.flushed()])
  }

  #take(
    id: string,
    stored: StoredSession | undefined,
    source: RequestSource,
  ): SharedClient | undefined | Promise<SharedClient | undefined> {
    const client = this.#all.get(id)
    // The session of another caller, which the answer is not about.
    if (client !== undefined && client.owner !== ownerOf(source.auth)) return undefined
    if (stored === undefined) {
      if (client !== undefined) this.#forget(client)
      return undefined
    }
    if (client === undefined) {
      const { fields } = stored
      if (fields === undefined) return this.use(id, source)
      const adopted = this.#adopt(id, fields, source)
      if (adopted !== undefined) this.#refreshNew(adopted, stored, source)
      return adopted
    }
    client.refresh(stored, source)
    return client
  }

  #new(facts: SessionFacts, { auth, ip, certified }: RequestSource): SharedClient {
    const client = new SharedClient(this.#parts, facts, { auth, ip, certified })
    this.#all.set(facts.id, client)
    return client
  }

  #adopt(id: string, fields: ReadonlyMap<string, string>, source: RequestSource): SharedClient | undefined {
    const owner = fields.get(OWNER)
    if (fields.get(SERVER) !== this.node.server || fields.get(TRANSPORT) !== this.#transport) return undefined
    if (owner !== ownerOf(source.auth)) return undefined
    return this.#new({ id, owner, countedFor: fields.get(COUNTED_FOR) ?? owner }, source)
  }

  #refreshNew(
    client: SharedClient,
    stored: Parameters<SharedClient['refresh']>[0],
    source: RequestSource,
  ): void {
    try {
      client.refresh(stored, source)
    } catch (error) {
      this.#forget(client)
      throw error
    }
  }

  /** The client has a connection to another node. */
  #moved(client: SharedClient): void {
    const { holder } = client
    if (holder !== undefined) {
      client.detach(holder)
      holder.replace()
    }
    client.outbox.leave()
    client.noteRuns(true)
  }

  #forget(client: SharedClient): void {
    if (this.#all.get(client.id) === client) this.#all.delete(client.id)
    client.close()
  }

  /** A session has ended in the store, perhaps that of another transport. */
  #ended(id: string): void {
    const client = this.#all.get(id)
    if (client !== undefined) this.#forget(client)
    void Promise.resolve(this.node.stores.events.forget(id)).catch(() => undefined)
    this.node.send({ kind: 'ended', session: id })
  }

  /** Stops the requests of a client whose session has ended. */
  async #checkEnded(client: SharedClient): Promise<void> {
    const version = await this.node.stores.sessions.change(client.id, new Map())
    if (version === undefined) this.#forget(client)
  }

  /** Looks for dead nodes that run requests of clients here. One look at a node does for all its clients. */
  async #look(): Promise<void> {
    const clients = [...this.#all.values()].filter(({ holder, others }) => holder && others.size > 0)
    for (const number of new Set(clients.flatMap(({ others }) => [...others.keys()])))
      if (await this.#isDead(number)) {
        const lost = clients.filter(({ others }) => others.has(number))
        await Promise.allSettled(lost.map((client) => this.#check(client)))
      }
  }

  /** Answers the requests of nodes that are dead. */
  async #check(client: SharedClient): Promise<void> {
    await this.lookAround(client)
    client.outbox.look()
    for (const [number, ids] of client.others)
      if (await this.#isDead(number)) await this.#answerLost(client, number, ids)
  }

  async #isDead(number: number): Promise<boolean> {
    const { stores, suspects } = this.node
    return suspects.isDead(number, await stores.nodes.isAlive(number))
  }

  /** Answers requests of a node that is dead, unless it has. One whose id nobody knows cannot be answered, so its client begins again. */
  async #answerLost(client: SharedClient, number: number, ids: readonly string[]): Promise<void> {
    const answers = this.#answersOf(client)
    for (const id of ids) if (id !== LONG_ID) await answers.giveUp(id, client.session.dialect)
    client.outbox.look()
    await client.outbox.done()
    if (ids.includes(LONG_ID)) return this.end(client)
    client.change(`${RUNS}${number}`, null)
    await client.replica.saved()
    client.others = new Map([...client.others].filter(([other]) => other !== number))
  }

  #answersOf({ id }: SharedClient): StoredAnswers {
    return new StoredAnswers({ events: this.node.stores.events, session: id, room: this.room })
  }
}
