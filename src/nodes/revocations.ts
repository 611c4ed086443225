import type { EventRoom } from '../rpc/event-store.ts'
import { readMessage, writeMessage, type Revocation, type SentMessage } from './messages.ts'
import type { NodeStores } from './node-options.ts'
import { Steps } from './steps.ts'

/** Revocations are also in a log, because other messages may replace them on the bus before a node starts or hears them. */
const LOG = 'revocations'
const ROOM: EventRoom = { events: 100_000, bytes: 1 << 25, idleMs: 30 * 86_400_000 }
/** How many are read at once. */
const PAGE = 500
/** The most that a node remembers to have told. */
const MOST_TOLD = 100_000

/** Publishes a revocation, and keeps it for nodes that start later, or miss it. */
export async function publishRevocation(
  { events, changes }: Pick<NodeStores, 'events' | 'changes'>,
  server: string,
  text: string,
): Promise<void> {
  await events.open(LOG, server, '', ROOM)
  await events.append(LOG, server, { text }, ROOM)
  await changes.publish(text)
}

/** Publishes a revocation for a process that is not one of the nodes, again until it succeeds. Returns steps that end, and can be stopped. */
export function announceRevocation(
  stores: Pick<NodeStores, 'events' | 'changes'>,
  server: string,
  message: Revocation,
  onError: (error: unknown) => void,
): Steps {
  const text = writeMessage({ server, sender: crypto.randomUUID(), message })
  const steps = new Steps(onError)
  steps.add(() => publishRevocation(stores, server, text))
  return steps
}

/** The revocations of a server, in a log that all its nodes share. */
export class Revocations {
  /** Whether messages were missed, and the revocations among them could not be read yet. */
  areMissed = false
  readonly #events: NodeStores['events']
  readonly #server: string
  readonly #tell: (sent: SentMessage) => void
  readonly #told = new Set<string>()
  #reads = 0

  constructor(events: NodeStores['events'], server: string, tell: (sent: SentMessage) => void) {
    this.#events = events
    this.#server = server
    this.#tell = tell
  }

  /** Tells those of the log that were not told before. */
  async read(): Promise<void> {
    const nth = ++this.#reads
    this.areMissed = true
    for (let after = -1, isMore = true; isMore;) {
      const page = await this.#events.read(LOG, this.#server, after, PAGE)
      for (const { text } of page?.events ?? []) {
        const sent = readMessage(text)
        if (sent?.message.kind === 'revoked' && !this.isKnown(sent.message)) this.#tell(sent)
      }
      after = page?.events.at(-1)?.seq ?? after
      isMore = page?.events.length === PAGE
    }
    // One that began earlier may not have seen what a later one could not read.
    if (nth === this.#reads) this.areMissed = false
  }

  /** Whether one was told before; from now on it was. Telling it again would also end what its caller began since. */
  isKnown({ sub, issuer = '', at }: Revocation): boolean {
    const key = JSON.stringify([at, issuer, sub])
    const isKnown = this.#told.has(key)
    this.#told.add(key)
    for (const oldest of this.#told) {
      if (this.#told.size <= MOST_TOLD) break
      this.#told.delete(oldest)
    }
    return isKnown
  }
}
