import { beginTurn, inNextTurn, isTurnOver } from '../../base/turn.ts'

/** Where the messages of an inbox come from and go to. */
export interface InboxOptions<Item> {
  take(item: Item): void
  /** How many requests of the server were taken so far: the replies to them are work for later in the same turn. */
  asked(): number
  /** Pauses reading. A few more messages may arrive. */
  pause(): void
  resume(): void
}

/** How many requests of the server are taken in one turn. */
const MOST_ASKED = 128

/** Passes on the messages of a server, so many in each turn of the event loop that a flood of them does not delay anything else. */
export class Inbox<Item> {
  readonly #options: InboxOptions<Item>
  #items: Item[] = []
  #isWaiting = false
  /** How many requests had been taken when the turn began. */
  #asked = 0

  constructor(options: InboxOptions<Item>) {
    this.#options = options
  }

  /** Takes a message at once, or in a later turn if this one is over. */
  push(item: Item): void {
    if (!this.#isWaiting && !beginTurn(0)) this.#wait()
    if (this.#isWaiting) return void this.#items.push(item)
    this.#options.take(item)
    if (this.#isOver) this.#wait()
  }

  /** Counts work other than a message. */
  rest(): void {
    if (!this.#isWaiting && (!beginTurn(0) || isTurnOver(0))) this.#wait()
  }

  /** Takes everything that waits, because nothing more will come. */
  flush(): void {
    for (const item of this.#items.splice(0)) this.#options.take(item)
  }

  /** Discards everything that waits. */
  clear(): void {
    this.#items = []
  }

  get #isOver(): boolean {
    return isTurnOver(0) || this.#options.asked() - this.#asked >= MOST_ASKED
  }

  #wait(): void {
    this.#isWaiting = true
    this.#options.pause()
    inNextTurn(this.#goOn)
  }

  /** Takes what waits until the turn is over, then reads on. */
  readonly #goOn = (): void => {
    const items = this.#items
    let at = 0
    this.#items = []
    this.#asked = this.#options.asked()
    while (at < items.length && (at === 0 || !this.#isOver)) this.#options.take(items[at++]!)
    this.#items = [...items.slice(at), ...this.#items]
    if (this.#items.length > 0) return inNextTurn(this.#goOn)
    this.#isWaiting = false
    this.#options.resume()
  }
}
