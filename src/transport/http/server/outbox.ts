import { textBytes } from '../../../base/weight.ts'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom } from '../../../rpc/event-store.ts'
import { isMarkedBy, MarkedText, withoutMark } from './marked-text.ts'
import { KeptBuffer, type KeptPool } from '../../io/kept-pool.ts'
import { PAGE, pagesOf } from './recent-pages.ts'
import { STANDALONE } from './sessions.ts'
import { answeredIn } from './stored-answers.ts'

export interface OutboxOptions {
  readonly node: Node
  /** The id of the session. */
  readonly session: string
  readonly room: EventRoom
  /** How many bytes may wait for the store. */
  readonly maxWaiting: number
  /** Counts what the store keeps of the session, while this node has its connection or had the last one. */
  readonly pool: KeptPool
  readonly caller: string
  onError(error: unknown): void
  /** Called when another node has answered a request, because it took this one for dead. */
  onGivenUp(request: string): void
  /** Called when messages are lost: the session cannot go on. */
  onLost(): void
}

/** A message that is on its way to the store. */
interface Waiting {
  readonly text: string
  readonly requests: readonly string[]
  readonly marked: MarkedText
  readonly bytes: number
  /** Its number, once that is known. */
  seq: number | undefined
}

/** What a message takes in the store besides its text. */
const OVERHEAD = 128

/**
 * Sends the messages of a session that several nodes serve. Each node adds its messages to the stream of the session in the store, and the
 * one with the connection passes them on in the order of the store. So the client gets only what the store has.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #steps: Steps
  #waiting = 0
  #sent = 0
  #stored = 0
  /** The connection, and the number of the next message for it. */
  #pass: ((text: string) => void) | undefined
  #next = 0
  #foreign = 0
  /** Whether the connection has got nothing yet. */
  #isResuming = false
  /** The last event that is known to be in the store. */
  #last = -1
  readonly #buffer: KeptBuffer
  /** Whether this node has the connection, or had the last one. */
  #isLatest = false
  /** The sizes of the messages in the store before the next one to count, as far as the stream has room for them. */
  #sizes: number[] = []
  #bytes = 0
  #toCount = 0
  #isTrimming = false
  #unwatch: (() => void) | undefined
  #isOver = false

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#steps = new Steps((error) => {
      options.onError(error)
      this.#lose()
    })
    const { pool, caller } = options
    this.#buffer = new KeptBuffer({ pool, caller, forget: () => this.#discard() })
  }

  /** The bytes that wait for the store. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many messages were sent here, and how many of them, the first ones, the store has or has refused. */
  get sent(): number {
    return this.#sent
  }

  get stored(): number {
    return this.#stored
  }

  /** How many messages of other nodes were passed on. */
  get foreign(): number {
    return this.#foreign
  }

  /** Whether this node counts what the store keeps. */
  get isCounted(): boolean {
    return this.#buffer.bytes > 0
  }

  /** Adds a message to the stream, unless one of the requests that it belongs to is given up. */
  send(text: string, requests: readonly string[] = []): void {
    if (this.#isOver) return
    const bytes = textBytes(text)
    if (this.#waiting > 0 && this.#waiting + bytes > this.#options.maxWaiting) return this.#lose()
    this.#waiting += bytes
    this.#sent++
    const marked = new MarkedText(text, this.#options.node.number, requests)
    const waiting: Waiting = { text, requests, bytes, marked, seq: undefined }
    this.#steps.add(() => this.#add(waiting))
  }

  /** Passes all messages on to a connection, after the first `count` of the session. */
  attach(pass: (text: string) => void, count: number): void {
    const { node, session } = this.#options
    this.detach()
    this.#pass = pass
    this.#isResuming = true
    this.#next = count
    this.#know(count - 1)
    this.#isLatest = true
    this.#buffer.isRead = true
    this.#unwatch = node.stores.events.watch(session, STANDALONE, () => this.look())
    this.look()
  }

  detach(): void {
    this.#pass = undefined
    this.#buffer.isRead = false
    this.#unwatch?.()
  }

  /** Another node has the connection, and counts what the store keeps. */
  leave(): void {
    this.#isLatest = false
    this.#clearSizes()
    this.#toCount = 0
    this.#buffer.set(0)
  }

  /** Looks for messages of other nodes. */
  look(): void {
    // One more may begin too early to see all news.
    if (this.#pass !== undefined && this.#steps.size < 2) this.#steps.add(() => this.#read())
  }

  /** Resolves when the store has all messages, and the connection too if there is one. */
  done(): Promise<void> {
    return this.#steps.done()
  }

  /** Resolves when the store has all messages that were sent until now, or when the session is over. */
  reached(): Promise<void> {
    return this.#steps.reached()
  }

  stop(): void {
    this.#isOver = true
    this.detach()
    this.#buffer.end()
    this.#steps.stop()
  }

  async #add(waiting: Waiting): Promise<void> {
    const { node, session, room } = this.#options
    const { text, marked, bytes } = waiting
    if (waiting.seq === undefined) {
      waiting.seq = await marked.add({ events: node.stores.events, session, room }, this.#last)
      if (waiting.seq === undefined) return this.#refused(waiting)
      this.#waiting -= bytes
      this.#stored++
      this.#know(waiting.seq)
    }
    if (this.#isLatest && waiting.seq === this.#toCount) this.#count(waiting.seq, bytes)
    if (waiting.seq === this.#next && this.#pass !== undefined) {
      this.#next++
      this.#pass(text)
    } else if (waiting.seq > this.#next) await this.#read()
  }

  /** The stream is gone, or another node has answered a request of the message: nothing more of it may reach the client. */
  async #refused({ text, requests, bytes }: Waiting): Promise<void> {
    const { node, session, onGivenUp } = this.#options
    const [request, ...others] = requests
    if (request === undefined) return this.#lose()
    if ((await node.stores.events.head(session, STANDALONE)) === undefined) return this.#lose()
    this.#waiting -= bytes
    this.#stored++
    if (others.length === 0) return onGivenUp(request)
    // The client still needs the other responses of a batch.
    for (const member of JSON.parse(text) as readonly unknown[]) {
      const one = `[${JSON.stringify(member)}]`
      this.send(one, answeredIn(one))
    }
  }

  #know(seq: number): void {
    if (seq > this.#last) this.#last = seq
  }

  /** Passes on what the connection has not got, and counts all that the store keeps. */
  async #read(): Promise<void> {
    const { node, session, caller } = this.#options
    for (let isMore = true; isMore;) {
      const pass = this.#pass
      if (pass === undefined) return
      const place = { session, stream: STANDALONE, after: Math.min(this.#next, this.#toCount) - 1 }
      const resuming = { caller, isWanted: (): boolean => this.#pass === pass }
      const read = await pagesOf(node).read(place, this.#isResuming ? resuming : undefined)
      if (read === undefined || this.#pass !== pass) continue
      this.#isResuming = false
      const { page } = read
      if (page === undefined || page.first > this.#next) return this.#lose()
      for (const { seq, text } of page.events) {
        if (seq >= this.#toCount) this.#count(seq, textBytes(text))
        if (seq < this.#next) continue
        this.#next = seq + 1
        this.#know(seq)
        if (!isMarkedBy(text, node.number)) this.#foreign++
        pass(withoutMark(text))
      }
      isMore = read.isRecent || page.events.length === PAGE
    }
  }

  /** Counts a message that the store keeps. */
  #count(seq: number, bytes: number): void {
    const { room } = this.#options
    this.#toCount = seq + 1
    this.#sizes.push(bytes)
    this.#bytes += bytes
    while (this.#sizes.length > 1 && (this.#sizes.length > room.events || this.#bytes > room.bytes))
      this.#bytes -= this.#sizes.shift() as number
    this.#buffer.set(this.#bytes + this.#sizes.length * OVERHEAD)
  }

  /** Makes room: the store forgets what the connection has got. Without a connection, the session ends. */
  #discard(): void {
    this.#clearSizes()
    if (this.#pass === undefined) return this.#lose()
    if (this.#isTrimming) return
    this.#isTrimming = true
    this.#steps.add(() => this.#trim())
  }

  async #trim(): Promise<void> {
    const { node, session } = this.#options
    if (this.#isLatest) await node.stores.events.trim(session, STANDALONE, this.#next)
    this.#isTrimming = false
    // A client that has resumed meanwhile may need some that were counted.
    this.#toCount = Math.min(this.#toCount, this.#next)
    // Like every step, it must not miss news.
    await this.#read()
  }

  #clearSizes(): void {
    this.#sizes = []
    this.#bytes = 0
  }

  #lose(): void {
    if (this.#isOver) return
    this.stop()
    this.#options.onLost()
  }
}
