import { mcpError } from '../../errors/error.ts'
import { NODE_STOPPING, UNKNOWN_SESSION } from '../../errors/http.ts'
import { AT_ONCE } from '../../errors/retry-after.ts'
import { SHUTTING_DOWN } from '../../errors/rpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Service } from '../../rpc/service.ts'
import { EventStream } from '../http/server/event-stream.ts'
import type { HttpIn } from '../http/server/parts.ts'
import { notRun, type Sharing } from '../http/server/replicas.ts'
import type { Holder, SharedClient } from '../http/server/shared-client.ts'
import { SharedClients } from '../http/server/shared-clients.ts'
import { askedId } from '../io/asked-id.ts'
import { withHandshake } from './with-handshake.ts'

/** How long a session lives whose node has died. */
const IDLE_MS = 60_000
/** How long a node counts as alive after a look. */
const ALIVE_MS = 1000

/**
 * The clients of HTTP+SSE whose messages may arrive at any node. A message is handled where it arrives, and what the server sends comes
 * through the store to the node that has the stream. The revision has no resumption: a session ends with its stream.
 */
export class SharedSse {
  readonly #clients: SharedClients
  readonly #limits: Limits
  /** The nodes that have streams, and when they were last seen alive. */
  readonly #aliveAt = new Map<number, number>()
  readonly #streams = new Set<EventStream>()
  #isStopping = false

  constructor(sharing: Sharing, service: Service, limits: Limits) {
    this.#limits = limits
    const idleMs = Math.max(IDLE_MS, 4 * Math.min(limits.keepAliveMs, IDLE_MS))
    this.#clients = new SharedClients({
      sharing,
      service: withHandshake(service),
      limits,
      transport: 'sse',
      idleMs,
    })
  }

  get size(): number {
    return this.#clients.size
  }

  /** Opens the stream of a new client. */
  async open(request: HttpIn, addressOf: (id: string) => string, streaming: Limits): Promise<EventStream> {
    const client = await this.#clients.create(crypto.randomUUID(), request, new Map())
    request.session = client.connection
    const stream = new EventStream({
      limits: streaming,
      onGone: () => {
        this.#streams.delete(stream)
        if (client.detach(holder)) void this.#clients.end(client)
      },
    })
    const { streamBytes } = this.#limits
    const end = (): void => stream.end()
    const holder: Holder = {
      get isBehind() {
        return stream.waiting > streamBytes
      },
      send: (text) => stream.send(text, 'message'),
      refuse: end,
      replace: end,
    }
    this.#streams.add(stream)
    stream.send(addressOf(client.id), 'endpoint')
    client.attach(holder, 0)
    return stream
  }

  /** Handles a message for the client of any node. Resolves when other nodes can know what it changed, and which request runs here. */
  async take(id: string, request: HttpIn): Promise<void> {
    const client = await this.#clients.use(id, request).catch((error: unknown) => {
      throw notRun(error)
    })
    if (client === undefined || !(await this.#hasStream(client.holder, Math.abs(client.holderNode))))
      throw mcpError(UNKNOWN_SESSION, {})
    const { connection } = client
    const text = request.parsed === undefined ? request.body : JSON.stringify(request.parsed)
    if (askedId(text) !== undefined) this.#checkStopping(client)
    request.session = connection
    connection.source = request
    const { sent } = client.outbox
    connection.receive(text)
    connection.source = client.source
    client.noteRuns()
    await client.replica.settled()
    // A request that is answered at once is noted nowhere: its response must not be lost with this node.
    if (client.outbox.sent > sent) await client.outbox.reached()
  }

  keepAlive(): void {
    for (const stream of this.#streams) stream.keepAlive()
  }

  /** Looks after all clients. */
  sweep(): void {
    this.#clients.sweep()
    this.#clients.noteRuns()
    for (const client of this.#clients)
      if (client.holder !== undefined) this.#clients.lookAround(client).catch(() => undefined)
  }

  /** Ends the streams once all requests of their clients are answered, here and at other nodes; meanwhile the clients connect elsewhere. */
  async close(): Promise<void> {
    this.#isStopping = true
    const all = [...this.#clients].map(async (client) => {
      const { holder } = client
      if (holder === undefined) return this.#clients.drain(client)
      this.#clients.leave(client)
      await Promise.all([this.#clients.drain(client), this.#clients.othersDone(client)])
      if (!client.detach(holder)) return
      await this.#clients.end(client)
    })
    await Promise.all(all)
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
    this.#clients.close()
  }

  /** Rejects a request if its stream is about to end, or if this node stops. */
  #checkStopping({ holderNode }: SharedClient): void {
    if (holderNode < 0 || (this.#isStopping && this.#clients.node.isLast))
      throw mcpError(SHUTTING_DOWN, {}, AT_ONCE)
    if (this.#isStopping) throw mcpError(NODE_STOPPING, {}, AT_ONCE)
  }

  /** Whether the stream of a client is open. */
  async #hasStream(holder: Holder | undefined, number: number): Promise<boolean> {
    if (holder !== undefined) return true
    const now = performance.now()
    if (now - (this.#aliveAt.get(number) ?? Number.NEGATIVE_INFINITY) < ALIVE_MS) return true
    const isAlive = await this.#clients.node.stores.nodes.isAlive(number)
    if (isAlive) this.#aliveAt.set(number, now)
    else this.#aliveAt.delete(number)
    return isAlive
  }
}
