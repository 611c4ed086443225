import { afterMs, type Timer } from '../io/timer.ts'
import { Backlog, type Keeper } from './backlog.ts'

/** How long sent messages are buffered before a ping asks whether they arrived. */
const ASK_MS = 1000
const MAX_EVENTS = 1000

/** The client's end of a session that survives its connection: everything needed to resume it. */
export class ClientSession implements Keeper {
  readonly id: string
  readonly maxEvents: number = MAX_EVENTS
  readonly maxBytes: number
  /** The number of messages received. */
  received = 0
  readonly #backlog: Backlog = new Backlog(this)
  readonly #ask: (payload: string) => void
  #timer: Timer

  /** `ask` sends a ping. */
  constructor(id: string, maxBytes: number, ask: (payload: string) => void) {
    this.id = id
    this.maxBytes = maxBytes
    this.#ask = ask
  }

  /** Whether the buffer is full. */
  get isFull(): boolean {
    return this.#backlog.isFull
  }

  /** Buffers a sent message until it is known to have arrived. */
  sent(text: string): void {
    this.#backlog.add(text)
    if (this.#backlog.isHalfFull) this.#askNow()
    else this.#askSoon()
  }

  /** Learns from a pong how many messages arrived. */
  learn(payload: string): void {
    this.#backlog.answer(payload)
    this.#askSoon()
  }

  /** The messages after the first `count`, which the server missed; undefined when they are not all buffered. */
  missedAfter(count: number): readonly string[] | undefined {
    if (!this.#backlog.reaches(count)) return undefined
    const missed = this.#backlog.after(count)
    this.#askSoon()
    return missed
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#backlog.clear()
  }

  #askSoon(): void {
    if (!this.#backlog.isEmpty) this.#timer ??= afterMs(ASK_MS, () => this.#askNow())
  }

  #askNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const question = this.#backlog.question()
    if (question !== undefined) this.#ask(question)
  }
}
