import { Steps } from '../../nodes/steps.ts'
import type { Auth } from '../../rpc/call.ts'
import type { SharedClient } from '../http/server/shared-client.ts'
import type { SharedClients } from '../http/server/shared-clients.ts'
import type { Connection } from '../io/connection.ts'
import type { ReceivedLog } from './received-log.ts'
import type { Carrier, ResumableSession, SharedPart } from './session.ts'

export interface SharedConnectionOptions {
  readonly client: SharedClient
  readonly clients: SharedClients
  readonly log: ReceivedLog
  /** The number of the connection. */
  readonly epoch: number
  /** How many messages arrived over earlier ones. */
  readonly received: number
  /** Whether this node knows of no later connection. */
  isLatest(): boolean
}

/** One connection of a session that all nodes serve. Its messages count once the store knows that they arrived. */
export class SharedConnection implements ResumableSession, SharedPart {
  readonly epoch: number
  readonly #options: SharedConnectionOptions
  readonly #steps: Steps
  #received: number
  #notes = 0
  #carrier: Carrier | undefined
  /** When the store last took a note, which keeps the log alive. */
  #notedAt: number = performance.now()

  constructor(options: SharedConnectionOptions) {
    this.#options = options
    this.epoch = options.epoch
    this.#received = options.received
    this.#steps = new Steps(() => this.#carrier?.abort())
  }

  get id(): string {
    return this.#options.client.id
  }

  get shared(): this {
    return this
  }

  get connection(): Connection {
    return this.#options.client.connection
  }

  /** The number of messages received from the client. */
  get received(): number {
    return this.#received
  }

  /** Begins with the messages that the client missed. */
  carryOn(
    carrier: Carrier,
    {
      count,
      auth,
      ip,
    }: { readonly count: number; readonly auth: Auth | undefined; readonly ip?: string | undefined },
  ): void {
    const { client, isLatest } = this.#options
    if (!isLatest()) return carrier.replace()
    const old = client.holder
    this.#carrier = carrier
    this.connection.source = { auth, ip }
    client.attach(carrier, count)
    old?.replace()
  }

  note(carrier: Carrier, texts: readonly string[]): Promise<boolean> {
    const { client, clients, log } = this.#options
    this.#received += texts.length
    const note = log.prepare({
      session: this.id,
      epoch: this.epoch,
      nth: this.#notes++,
      total: this.#received,
      texts,
      running: () => client.runs,
    })
    return new Promise((resolve) =>
      this.#steps.add(async () => {
        // Before the note: the client sends again what a connection could not take.
        if (texts.length > 0) await clients.catchUp(client)
        const isNoted = await note()
        if (isNoted) this.#notedAt = performance.now()
        else this.#fenced(carrier)
        resolve(isNoted)
      }),
    )
  }

  handOver(carrier: Carrier): boolean {
    return this.#options.client.detach(carrier)
  }

  /** Keeps the log of the connection alive with a note of no messages: unlike `begin`, it cannot bring back a log that has ended and is forgotten. */
  touch(): void {
    const { idleMs } = this.#options.clients
    const carrier = this.#carrier
    const passedMs = performance.now() - this.#notedAt
    if (carrier === undefined || passedMs < idleMs / 3) return
    if (passedMs > idleMs) return carrier.abort()
    if (this.#steps.size === 0) void this.note(carrier, [])
  }

  count(): boolean {
    return true
  }

  ask(): void {}

  learn(): void {}

  detach(carrier: Carrier, wasAgreed: boolean): void {
    const { client, clients } = this.#options
    if (client.detach(carrier) && wasAgreed) void clients.end(client)
  }

  end(): void {
    void this.#options.clients.end(this.#options.client)
  }

  /** The client has another connection. */
  #fenced(carrier: Carrier): void {
    this.#options.client.detach(carrier)
    carrier.replace()
  }
}
