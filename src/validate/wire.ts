import { excessOf, isObject, messagesIn, parsed, type Message, type Received } from './message.ts'
import type { Keeper } from './memory.ts'
import type { Trace } from './trace.ts'
import type { Transport } from './rule.ts'

/** A reply over HTTP. */
export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<{ [name: string]: string }>
  /** The body, unless it is a stream of events: these are received one by one. */
  readonly body: string
  readonly isStream: boolean
  /** The name of its stream, as in what was received on it. */
  readonly stream: string
  /** Its place in the trace. */
  readonly at: number
  /** Settles when the peer has ended the reply, with `true`, or when it broke off, with `false`. */
  readonly ended: Promise<boolean>
  /** Closes the connection of the reply. */
  close(): void
}

export interface SendOptions {
  /** Headers besides the usual ones, over HTTP; undefined removes a usual one. */
  readonly headers?: Readonly<{ [name: string]: string | undefined }> | undefined
}

export interface WaitOptions {
  /** Looks only at what came from this place of the trace on. */
  readonly from?: number | undefined
  readonly ms?: number | undefined
}

/** The most that a peer may send on one connection, so that an endless one does no harm. */
export const MOST_BYTES = 16_000_000
const MOST_MESSAGES = 10_000

/** A raw connection to a peer: it sends what it is told to, and keeps what comes. */
export abstract class Wire implements Keeper {
  abstract readonly transport: Transport
  readonly received: Received[] = []
  /** What we sent, as it was. */
  readonly sent: { readonly at: number; readonly text: string }[] = []
  readonly trace: Trace
  /** Is called for each message that comes. */
  onMessage: ((message: Message, received: Received) => void) | undefined
  #bytes = 0
  /** How many messages came, those of batches one by one. */
  #messages = 0
  #ended: string | undefined
  #isStopped = false
  readonly #waiting = new Set<() => void>()

  constructor(trace: Trace) {
    this.trace = trace
  }

  /** Sends a text as it is. Over HTTP it returns the reply. */
  abstract send(text: string, options?: SendOptions): Promise<HttpReply | undefined>

  /** Sends bytes that need not be text, or undefined if the transport cannot. */
  abstract sendBytes(bytes: Uint8Array): Promise<HttpReply | undefined>

  /** Closes the connection, and ends a program that was started for it. */
  abstract close(): Promise<void>

  /** Why the peer ended the connection; undefined while it is open. */
  get ended(): string | undefined {
    return this.#ended
  }

  /** Whether the peer sent messages in a form that no client can read. */
  get hasOddMessages(): boolean {
    return this.received.some(({ text, messages }) => messages.length === 0 && isLikeMessage(text))
  }

  get isOver(): boolean {
    return this.#ended !== undefined
  }

  forget(): void {
    this.received.length = 0
  }

  /** The first thing received that matches, or undefined if none came in time or the connection ended. */
  async wait(
    matches: (received: Received) => boolean,
    { from = 0, ms = 5_000 }: WaitOptions = {},
  ): Promise<Received | undefined> {
    let next = 0
    const find = (): Received | undefined => {
      for (; next < this.received.length; next++) {
        const one = this.received[next]
        if (one !== undefined && one.at >= from && matches(one)) return one
      }
      return undefined
    }
    const until = performance.now() + ms
    for (;;) {
      const found = find()
      const left = until - performance.now()
      if (found !== undefined || left <= 0 || this.#ended !== undefined) return found
      await this.#change(left)
    }
  }

  /** Waits until the peer ends the connection. Returns why, or undefined if it does not. */
  async waitForEnd(ms: number): Promise<string | undefined> {
    const until = performance.now() + ms
    while (this.#ended === undefined && performance.now() < until)
      await this.#change(until - performance.now())
    return this.#ended
  }

  /** Everything with messages that came from a place of the trace on. */
  messagesFrom(from: number): readonly Message[] {
    return this.received.filter(({ at }) => at >= from).flatMap(({ messages }) => messages)
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.max(1, ms))
      const waiting = this.#waiting
      function done(): void {
        clearTimeout(timer)
        waiting.delete(done)
        resolve()
      }
      waiting.add(done)
    })
  }

  /** Notes what we send. */
  protected give(text: string): void {
    if (this.sent.length < MOST_MESSAGES) this.sent.push({ at: this.trace.mark, text })
  }

  /** Notes what the peer sent; `noted` is its place in the trace, if it is there already. */
  protected take(text: string, stream: string, eventId?: string, noted?: number): void {
    if (this.#isStopped || !this.count(text.length)) return
    const at = noted ?? this.trace.add({ from: 'peer', stream, text })
    const excess = excessOf(text)
    const value = excess === undefined ? parsed(text) : undefined
    this.#messages += Array.isArray(value) ? Math.max(1, value.length) : 1
    const problem =
      excess ??
      (this.#messages > MOST_MESSAGES
        ? 'the peer sent too many messages'
        : this.trace.memory.keep(this, text, value))
    if (problem !== undefined) {
      this.stop(problem)
      return
    }
    const messages = messagesIn(value)
    if (messages.length === 0 && noted === undefined) this.trace.counts.noise++
    const received: Received = {
      text,
      value,
      messages,
      stream,
      at,
      ...(eventId !== undefined && { eventId }),
    }
    this.received.push(received)
    for (const message of messages) this.onMessage?.(message, received)
    this.#wake()
  }

  /** Whether the peer did harm, so that nothing more of it is read. */
  protected get isStopped(): boolean {
    return this.#isStopped
  }

  /** Counts characters that the peer sent. Returns whether they are not too many. */
  protected count(characters: number): boolean {
    this.#bytes += characters
    if (this.#bytes <= MOST_BYTES) return true
    this.stop('the peer sent too much')
    return false
  }

  /** Ends a connection on which the peer does harm. */
  protected stop(why: string): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.end(why)
    void this.close()
  }

  /** Notes that the connection is over. */
  protected end(why: string): void {
    this.#ended ??= why
    this.#wake()
  }

  #wake(): void {
    for (const done of this.#waiting) done()
  }
}

/** Whether there seems to be a message in a text, whatever is around it. */
export function isLikeMessage(text: string): boolean {
  return /"jsonrpc"\s*:/.test(text)
}

/** Whether something received is the response to a request. */
export function isResponseTo(id: unknown): (received: Received) => boolean {
  return ({ messages }) =>
    messages.some((message) => isObject(message) && message['method'] === undefined && message['id'] === id)
}
