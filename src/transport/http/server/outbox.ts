import { textBytes } from '../../../base/weight.ts'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom } from '../../../rpc/event-store.ts'
import { MarkedText, withoutMark } from './marked-text.ts'
import { STANDALONE } from './sessions.ts'

export interface OutboxOptions {
  readonly node: Node
  /** The id of the session. */
  readonly session: string
  readonly room: EventRoom
  /** How many bytes may wait for the store. */
  readonly maxWaiting: number
  onError(error: unknown): void
  /** Called when messages are lost: the session cannot go on. */
  onLost(): void
}

/** A message that is on its way to the store. */
interface Waiting {
  readonly text: string
  readonly marked: MarkedText
  readonly bytes: number
  /** Its number, once that is known. */
  seq: number | undefined
}

/** How many messages are read at once. */
const PAGE = 100

/**
 * Sends the messages of a session that several nodes serve. Each node adds its messages to the stream of the session in the store, and the
 * one with the connection passes them on in the order of the store. So the client gets only what the store has.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #steps: Steps
  #waiting = 0
  /** The connection, and the number of the next message for it. */
  #pass: ((text: string) => void) | undefined
  #next = 0
  /** The last event that is known to be in the store. */
  #last = -1
  #unwatch: (() => void) | undefined
  #isOver = false

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#steps = new Steps((error) => {
      options.onError(error)
      this.#lose()
    })
  }

  /** The bytes that wait for the store. */
  get waiting(): number {
    return this.#waiting
  }

  /** Adds a message to the stream. */
  send(text: string): void {
    if (this.#isOver) return
    const bytes = textBytes(text)
    if (this.#waiting > 0 && this.#waiting + bytes > this.#options.maxWaiting) return this.#lose()
    this.#waiting += bytes
    const marked = new MarkedText(text, this.#options.node.number)
    const waiting: Waiting = { text, bytes, marked, seq: undefined }
    this.#steps.add(() => this.#add(waiting))
  }

  /** Passes all messages on to a connection, after the first `count` of the session. */
  attach(pass: (text: string) => void, count: number): void {
    const { node, session } = this.#options
    this.detach()
    this.#pass = pass
    this.#next = count
    this.#know(count - 1)
    this.#unwatch = node.stores.events.watch(session, STANDALONE, () => this.look())
    this.look()
  }

  detach(): void {
    this.#pass = undefined
    this.#unwatch?.()
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

  stop(): void {
    this.#isOver = true
    this.detach()
    this.#steps.stop()
  }

  async #add(waiting: Waiting): Promise<void> {
    const { node, session, room } = this.#options
    const { text, marked, bytes } = waiting
    if (waiting.seq === undefined) {
      waiting.seq = await marked.add({ events: node.stores.events, session, room }, this.#last)
      if (waiting.seq === undefined) return this.#lose()
      this.#waiting -= bytes
      this.#know(waiting.seq)
    }
    if (waiting.seq === this.#next && this.#pass !== undefined) {
      this.#next++
      this.#pass(text)
    } else if (waiting.seq > this.#next) await this.#read()
  }

  #know(seq: number): void {
    if (seq > this.#last) this.#last = seq
  }

  /** Passes on what the connection has not got. */
  async #read(): Promise<void> {
    const { node, session } = this.#options
    for (let isMore = true; isMore;) {
      const pass = this.#pass
      if (pass === undefined) return
      const page = await node.stores.events.read(session, STANDALONE, this.#next - 1, PAGE)
      if (this.#pass !== pass) continue
      if (page === undefined || page.first > this.#next) return this.#lose()
      for (const { seq, text } of page.events) {
        this.#next = seq + 1
        this.#know(seq)
        pass(withoutMark(text))
      }
      isMore = page.events.length === PAGE
    }
  }

  #lose(): void {
    if (this.#isOver) return
    this.stop()
    this.#options.onLost()
  }
}
