import type { Message } from '../../protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../../protocol/revisions.ts'
import type {
  ClientTransport,
  TransportEvents,
  OpenTransport,
  OutgoingRequest,
} from '../../rpc/client-transport.ts'

/** How long a line that could not be opened, or was lost, is done without. */
const RETRY_MS = 1000
const CANCELS = '"notifications/cancelled"'

/**
 * Opens up to so many lines to one server and sends requests over them in turn, where each request stands alone. The
 * first carries everything else, and what comes before the others are open; when it is lost, all are.
 */
export function pooled(open: OpenTransport, size: number): OpenTransport {
  if (size === 1) return open
  return async (events) => new PooledLine(await open(events), { open, events, size })
}

interface PoolOptions {
  readonly open: OpenTransport
  readonly events: TransportEvents
  readonly size: number
}

class PooledLine implements ClientTransport {
  readonly cancels = 'message'
  readonly #first: ClientTransport
  readonly #options: PoolOptions
  /** The lines that are open, by their place. */
  readonly #lines = new Map<number, ClientTransport>()
  /** When a line may be opened at a place; never, while one is being opened. */
  readonly #openAt = new Map<number, number>()
  #revision: Revision | undefined
  #isClosed = false

  constructor(first: ClientTransport, options: PoolOptions) {
    this.#first = first
    this.#options = options
  }

  request(outgoing: OutgoingRequest): Promise<Message> {
    const place = outgoing.id % this.#options.size
    if (this.#revision !== LATEST || place === 0) return this.#first.request(outgoing)
    const line = this.#lines.get(place)
    if (line === undefined) this.#open(place)
    return (line ?? this.#first).request(outgoing)
  }

  /** A cancellation means something only on the line of its request, and nothing on the others. */
  async send(text: string): Promise<void> {
    const others = text.includes(CANCELS) ? [...this.#lines.values()] : []
    await Promise.all([this.#first, ...others].map((line) => line.send(text)))
  }

  agree(revision: Revision): void {
    this.#revision = revision
    this.#first.agree(revision)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#first, ...this.#lines.values()].map((line) => line.close()))
  }

  #open(place: number): void {
    if (performance.now() < (this.#openAt.get(place) ?? 0)) return
    this.#openAt.set(place, Number.POSITIVE_INFINITY)
    const { open, events } = this.#options
    let isLost = false
    const lost = (): void => {
      isLost = true
      this.#lines.delete(place)
      this.#openAt.set(place, performance.now() + RETRY_MS)
    }
    const add = (line: ClientTransport): void => {
      // A line may be lost before it is handed over.
      if (this.#isClosed || isLost) return void line.close()
      line.agree(LATEST)
      this.#lines.set(place, line)
    }
    void open({ ...spread(events), onDown: lost }).then(add, lost)
  }
}

/** The same listeners as a new object, wherever they are defined. */
function spread(events: TransportEvents): Omit<TransportEvents, 'onDown'> {
  return {
    onMessage: (message) => events.onMessage(message),
    onMissed: () => events.onMissed?.(),
    onNote: (kind, text) => events.onNote?.(kind, text),
  }
}
