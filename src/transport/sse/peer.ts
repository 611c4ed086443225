import type { Limits } from '../../protocol/limits.ts'
import { inLifetime, type RequestLifetime, type RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import { EventStream } from '../http/server/event-stream.ts'

export interface SseClientOptions {
  /** The id in the address for its messages. */
  readonly id: string
  readonly service: Service
  readonly limits: Limits
  /** The limits of the stream. */
  readonly streaming: Limits
  /** The caller that opened the stream; only this caller may post to it. */
  readonly owner: string
  /** The caller or the network whose clients it is counted with. */
  readonly countedFor: string
  /** The lifetime of the request that opened the stream. */
  readonly lifetime: RequestLifetime | undefined
  /** Called when the client disconnects. */
  onGone(): void
}

/** The source between messages, so that no request is kept in memory longer than needed. */
const NOWHERE: RequestSource = {}

/** One client of the transport of 2024-11-05: it posts messages, and receives all of its own on one stream. */
export class SseClient {
  readonly id: string
  readonly owner: string
  /** The caller or the network whose clients it is counted with. */
  readonly countedFor: string
  readonly stream: EventStream
  /** When it was opened. */
  readonly seen: number = performance.now()
  /** Whether the client has sent anything. */
  spoken = false
  /** Stands for the client wherever callers are counted, unless it is authenticated. */
  readonly connection: Connection
  readonly #drainMs: number
  readonly #lifetime: RequestLifetime | undefined

  constructor({ id, service, limits, streaming, owner, countedFor, lifetime, onGone }: SseClientOptions) {
    const { streamBytes, drainMs } = limits
    this.id = id
    this.owner = owner
    this.countedFor = countedFor
    this.#drainMs = drainMs
    this.#lifetime = lifetime
    this.stream = new EventStream({
      limits: streaming,
      onGone: () => {
        onGone()
        this.connection.close()
      },
    })
    const end = (): void => {
      onGone()
      void this.close()
    }
    this.connection = new Connection({
      service,
      limits,
      source: NOWHERE,
      id,
      send: (text) => this.stream.send(text, 'message'),
      isBehind: () => this.stream.waiting > streamBytes,
      onInvalid: end,
      evict: end,
    })
  }

  /** Whether the client is waiting for a response. */
  get isBusy(): boolean {
    return this.connection.isBusy
  }

  /** Sends the address for messages to the client. */
  greet(address: string): void {
    this.stream.send(address, 'endpoint')
  }

  /** Receives a posted message and its source: its token may differ from that of the stream. */
  receive(text: string, source: RequestSource): void {
    this.spoken = true
    // The request that brought the message ends at once, so handlers run on behalf of the one that opened the stream.
    const lifetime = this.#lifetime
    inLifetime(lifetime, () => {
      this.connection.source = lifetime === undefined ? source : { ...source, lifetime }
      this.connection.receive(text)
      this.connection.source = NOWHERE
    })
  }

  keepAlive(): void {
    this.stream.keepAlive()
  }

  /** Waits for running requests, up to `drainMs`, and ends the stream. */
  async close(): Promise<void> {
    await this.connection.drain(this.#drainMs)
    this.connection.close()
    this.stream.end()
  }
}
