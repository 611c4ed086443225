import type { Limits } from '../../protocol/limits.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import { EventStream } from '../http/server/event-stream.ts'

export interface SseClientOptions {
  readonly service: Service
  readonly limits: Limits
  /** Those of the stream. */
  readonly streaming: Limits
  /** Who opened the stream: nobody else may post to it. */
  readonly owner: string
  /** Called when the client goes away. */
  onGone(): void
}

/** Between messages, so that none is kept for longer than it takes. */
const NOWHERE: RequestSource = {}

/** One client of the transport of 2024-11-05: what it posts comes in, everything for it leaves on its stream. */
export class SseClient {
  readonly owner: string
  readonly stream: EventStream
  readonly since: number = performance.now()
  /** Whether the client has sent anything. */
  spoken = false
  readonly #connection: Connection
  readonly #drainMs: number

  constructor({ service, limits, streaming, owner, onGone }: SseClientOptions) {
    const { streamBytes, drainMs } = limits
    this.owner = owner
    this.#drainMs = drainMs
    this.stream = new EventStream({
      limits: streaming,
      onGone: () => {
        onGone()
        this.#connection.close()
      },
    })
    this.#connection = new Connection({
      service,
      limits,
      source: NOWHERE,
      send: (text) => this.stream.send(text, 'message'),
      isBehind: () => this.stream.waiting > streamBytes,
    })
  }

  /** Tells the client where to send its messages. */
  greet(address: string): void {
    this.stream.send(address, 'endpoint')
  }

  /** Takes what was posted, from where it came: the token of a message may be another than that of the stream. */
  receive(text: string, source: RequestSource): void {
    this.spoken = true
    this.#connection.source = source
    this.#connection.receive(text)
    this.#connection.source = NOWHERE
  }

  keepAlive(): void {
    this.stream.keepAlive()
  }

  /** Lets what is running finish, up to a limit, and ends the stream. */
  async close(): Promise<void> {
    await this.#connection.drain(this.#drainMs)
    this.#connection.close()
    this.stream.end()
  }
}
