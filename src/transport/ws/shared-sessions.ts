import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { nextTask } from '../../base/next-task.ts'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type Auth, type RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { RUNS } from '../../rpc/session-fields.ts'
import { notRun, type Sharing } from '../http/server/replicas.ts'
import { SharedClients } from '../http/server/shared-clients.ts'
import type { SharedClient } from '../http/server/shared-client.ts'
import { STANDALONE } from '../http/server/sessions.ts'
import { readCount } from './backlog.ts'
import { joinRuns, ReceivedLog, type Received } from './received-log.ts'
import type { Carrier } from './session.ts'
import { SharedConnection } from './shared-connection.ts'

/** A session that all nodes serve, and the new connection's state. */
export interface SharedOpening {
  readonly session: SharedConnection
  /** How many of its messages the client received. */
  readonly count: number
  readonly auth: Auth | undefined
  readonly ip?: string | undefined
  /** Ends a session that was created for a connection that was not accepted. */
  abandon(): void
}

/** A client that asks for its session. */
interface Resuming {
  readonly id: string
  readonly count: number
  readonly source: RequestSource
  isWanted(): boolean
}

const ID_BYTES = 18
const SESSION_ID = /^[\w-]{24}$/
/** The field with the number of the last connection. */
const EPOCH = 'connection'

/**
 * The sessions of clients that can resume, at any node. A connection has a number, and notes the messages of its client in a log of that number.
 * The next connection ends that log first, so it knows how many messages arrived, and the last one can add no more.
 */
export class SharedSessions {
  readonly #clients: SharedClients
  readonly #limits: Limits
  readonly #log: ReceivedLog
  /** The latest connection of each client at this node. */
  readonly #latest = new WeakMap<SharedClient, SharedConnection>()

  constructor(sharing: Sharing, service: Service, limits: Limits) {
    this.#limits = limits
    // A node that dies has prolonged its sessions not long ago.
    this.#clients = new SharedClients({
      sharing,
      service,
      limits,
      transport: 'ws',
      idleMs: 2 * limits.resumeMs,
    })
    this.#log = new ReceivedLog(sharing.node, this.#clients.room.idleMs, limits.batch)
  }

  /**
   * Finds or creates the session of a new connection, like `WsSessions.open`. Rejects if the store cannot be reached. The client may leave while the store
   * answers, above all if this node stands still meanwhile: it does not take over a session that is no longer wanted here.
   */
  async open(
    headers: IncomingHttpHeaders,
    source: RequestSource,
    isWanted: () => boolean,
  ): Promise<SharedOpening | undefined> {
    const count = readCount(headers['last-event-id'] as string | undefined)
    if (count === undefined || this.#limits.resumeMs === 0) return undefined
    const id = headers['mcp-session-id']
    try {
      const isId = typeof id === 'string' && SESSION_ID.test(id)
      const resumed = isId ? await this.#resume({ id, count, source, isWanted }) : undefined
      if (resumed !== undefined) return resumed
      return isWanted() ? await this.#create(source) : undefined
    } catch (error) {
      throw notRun(error)
    }
  }

  /** Aborts the old connection of a session that its client is resuming; false when this node has none. */
  makeRoom(headers: IncomingHttpHeaders, auth: Auth | undefined): boolean {
    const client = this.#clients.find(String(headers['mcp-session-id']))
    if (client?.holder === undefined || client.owner !== ownerOf(auth)) return false
    ;(client.holder as Carrier).abort()
    return true
  }

  /** Keeps sessions alive, and answers requests of nodes that died. */
  sweep(): void {
    this.#clients.sweep()
    this.#clients.noteRuns()
    for (const client of this.#clients) if (client.holder !== undefined) this.#latest.get(client)?.touch()
  }

  /** Answers the requests that run here; their clients have gone to other nodes. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => this.#clients.drain(client)))
    this.#clients.close()
  }

  async #create(source: RequestSource): Promise<SharedOpening> {
    const id = randomBytes(ID_BYTES).toString('base64url')
    const client = await this.#clients.create(id, source, new Map([[EPOCH, '0']]))
    await this.#log.begin(id, 0, 0)
    const session = this.#newSession(client, 0, 0)
    const { auth, ip } = source
    return { session, count: 0, auth, ip, abandon: () => void this.#clients.end(client) }
  }

  /** Takes over a session; undefined if that is not possible. */
  async #resume({ id, count, source, isWanted }: Resuming): Promise<SharedOpening | undefined> {
    const client = await this.#clients.use(id, source)
    if (client === undefined) return undefined
    if (!(await this.#reaches(id, count))) return undefined
    // News of the client may have arrived together with the answer.
    await nextTask()
    if (!isWanted()) return undefined
    const known = Number(client.fields.get(EPOCH) ?? 0)
    const last = await this.#log.end(id, Math.max(known, this.#latest.get(client)?.epoch ?? 0))
    if (last === undefined) return undefined
    this.#noteOthers(client, last)
    // Before the number of the new connection hides the last one's log.
    const runs = this.#ownRuns(client, last)
    if (runs.length > 0) await this.#log.carryOver(id, last, runs)
    if (last.isReady) client.session.setReady()
    client.change(EPOCH, String(last.epoch + 1))
    // A client that moves again and again may be at no node for long enough to keep its stream alive.
    client.replica.notices.touch()
    await client.replica.saved()
    await this.#clients.node.publish({ kind: 'attached', session: id })
    const session = this.#newSession(client, last.epoch + 1, last.total)
    const { auth, ip } = source
    return { session, count, auth, ip, abandon: () => undefined }
  }

  /** Whether all messages after the first `count` are in the store. */
  async #reaches(id: string, count: number): Promise<boolean> {
    const head = await this.#clients.node.stores.events.head(id, STANDALONE)
    return head !== undefined && head.first <= count && count <= head.next
  }

  /** Remembers the requests of nodes that had earlier connections. They answer them, unless they die. */
  #noteOthers(client: SharedClient, { runs }: Received): void {
    for (const { node, ids } of runs) {
      if (node === this.#clients.node.number) continue
      const all = joinRuns(client.others.get(node) ?? [], ids)
      client.others = new Map([...client.others, [node, all]])
      client.change(`${RUNS}${node}`, JSON.stringify(all))
    }
  }

  /** The requests of this node whose responses the store may not have. It must not wait for the store: a later connection may be faster elsewhere. */
  #ownRuns(client: SharedClient, { runs }: Received): readonly string[] {
    if (client.outbox.waiting === 0) return client.runs
    const noted = runs.filter(({ node }) => node === this.#clients.node.number).flatMap(({ ids }) => ids)
    return joinRuns(client.runs, noted)
  }

  #newSession(client: SharedClient, epoch: number, received: number): SharedConnection {
    const session = new SharedConnection({
      client,
      clients: this.#clients,
      log: this.#log,
      epoch,
      received,
      isLatest: () => this.#latest.get(client) === session,
    })
    if ((this.#latest.get(client)?.epoch ?? -1) < epoch) this.#latest.set(client, session)
    return session
  }
}
