import { mcpError } from '../../errors/error.ts'
import { CLOSED } from '../../errors/rpc.ts'
import type { Message } from '../../protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../../protocol/revisions.ts'
import type {
  ClientTransport,
  TransportEvents,
  OpenTransport,
  OutgoingRequest,
} from '../../rpc/client-transport.ts'

/** How long to wait before reopening a connection that was lost or could not be opened. */
const RETRY_MS = 1000
const CANCELS = '"notifications/cancelled"'

/**
 * Opens up to `size` connections to one server and distributes independent requests over them. The first connection
 * carries everything else, and all requests until the others are open; when it is lost, the transport is down.
 */
export function pooled(open: OpenTransport, size: number): OpenTransport {
  if (size === 1) return open
  return async (events) => new PooledTransport(await open(events), { open, events, size })
}

interface PoolOptions {
  readonly open: OpenTransport
  readonly events: TransportEvents
  readonly size: number
}

class PooledTransport implements ClientTransport {
  readonly cancels = 'message'
  readonly #first: ClientTransport
  readonly #options: PoolOptions
  /** The open connections besides the first, by slot. */
  readonly #others = new Map<number, ClientTransport>()
  /** When a connection may be opened in a slot; `Infinity` while one is being opened. */
  readonly #openAt = new Map<number, number>()
  #revision: Revision | undefined
  readonly #closing = new AbortController()

  constructor(first: ClientTransport, options: PoolOptions) {
    this.#first = first
    this.#options = options
  }

  request(outgoing: OutgoingRequest): Promise<Message> {
    const slot = outgoing.id % this.#options.size
    if (this.#revision !== LATEST || slot === 0) return this.#first.request(outgoing)
    const transport = this.#others.get(slot)
    if (transport === undefined) this.#open(slot)
    return (transport ?? this.#first).request(outgoing)
  }

  /** Cancellations go to all connections: those that do not know the request ignore them. */
  async send(text: string): Promise<void> {
    const others = text.includes(CANCELS) ? [...this.#others.values()] : []
    await Promise.all([this.#first, ...others].map((transport) => transport.send(text)))
  }

  agree(revision: Revision): void {
    this.#revision = revision
    this.#first.agree(revision)
  }

  async close(): Promise<void> {
    this.#closing.abort(mcpError(CLOSED, {}))
    await Promise.all([this.#first, ...this.#others.values()].map((transport) => transport.close()))
  }

  #open(slot: number): void {
    if (performance.now() < (this.#openAt.get(slot) ?? 0)) return
    this.#openAt.set(slot, Number.POSITIVE_INFINITY)
    const { open, events } = this.#options
    const { signal } = this.#closing
    let isLost = false
    const lost = (): void => {
      isLost = true
      this.#others.delete(slot)
      this.#openAt.set(slot, performance.now() + RETRY_MS)
    }
    const add = (transport: ClientTransport): void => {
      // A connection may be lost before `open` resolves.
      if (signal.aborted || isLost) return void transport.close()
      transport.agree(LATEST)
      this.#others.set(slot, transport)
    }
    void open({ ...spread(events), signal, onDown: lost }).then(add, lost)
  }
}

/** Copies the listeners, including those that are methods of a prototype. */
function spread(events: TransportEvents): Omit<TransportEvents, 'onDown'> {
  return {
    onMessage: (message) => events.onMessage(message),
    onMissed: () => events.onMissed?.(),
    onNote: (kind, text) => events.onNote?.(kind, text),
  }
}
