import { Steps } from '../../../nodes/steps.ts'
import type { EventPage, EventStore } from '../../../rpc/event-store.ts'
import { messageEvent } from '../../../wire/sse.ts'
import { withoutMark } from './marked-text.ts'
import type { Sink } from './parts.ts'

export interface FollowerOptions {
  readonly events: EventStore
  readonly session: string
  readonly name: string
  /** The last event that the client has seen; -1 for none. */
  readonly after: number
  /** A client that leaves more bytes unread is disconnected. */
  readonly maxUnread: number
  /** Whether the client may miss events that the store has discarded. */
  readonly isLossy: boolean
  /** Lets one reader at a time read pages and write them. */
  inTurn<Result>(act: () => Promise<Result>): Promise<Result>
  /** Whether the caller has read enough to begin. */
  mayBegin?(): boolean
  /** Looks after a stream whose writer may have died. */
  check?(writer: string): Promise<void>
  onError(error: unknown): void
  onAttached(): void
  /** Called when the client is disconnected, with the number of the last event that it was sent. */
  onDetached(sent: number): void
}

/** How many events are read at once. */
const PAGE = 100

/** Sends the events of a stream in the store to a client, as they are added by any node. */
export class StreamFollower {
  readonly #options: FollowerOptions
  readonly #steps: Steps
  #sent: number
  #sink: Sink | undefined
  #unwatch: (() => void) | undefined
  #hasBegun = false
  #writer = ''
  /** The bytes that had to wait, and how many of them the client had read at the last check. */
  #waited = 0
  #taken = Number.NEGATIVE_INFINITY

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#sent = options.after
    this.#steps = new Steps((error) => {
      options.onError(error)
      this.end()
    })
  }

  /** The number of the last event that the client was sent. */
  get sent(): number {
    return this.#sent
  }

  get name(): string {
    return this.#options.name
  }

  attach(sink: Sink): void {
    const { events, session, name, onAttached } = this.#options
    this.#sink = sink
    onAttached()
    sink.onGone(() => this.#detach())
    this.#unwatch = events.watch(session, name, () => this.#wake())
    this.#wake()
  }

  /** Writes a comment, and looks for news. Disconnects a client that has read nothing since the last one. */
  keepAlive(): void {
    const sink = this.#sink
    if (sink === undefined) return
    const taken = this.#waited - sink.waiting
    if (sink.waiting > 0 && taken <= this.#taken) return this.#abort(sink)
    this.#taken = taken
    this.#write(sink, ': keep-alive\n\n')
    this.#wake()
    this.#options.check?.(this.#writer).catch(() => undefined)
  }

  /** Disconnects the client, which may resume elsewhere. */
  end(): void {
    const sink = this.#sink
    this.#detach()
    sink?.end()
  }

  #wake(): void {
    // One more may begin too early to see all news.
    if (this.#steps.size < 2) this.#steps.add(() => this.#read())
  }

  async #read(): Promise<void> {
    const { events, session, name } = this.#options
    const readPage = async (): Promise<boolean> => {
      if (!this.#hasBegun && this.#options.mayBegin?.() === false) this.end()
      if (this.#sink === undefined) return false
      const page = await events.read(session, name, this.#sent, PAGE)
      this.#hasBegun = true
      if (page !== undefined) return this.#send(page)
      this.end()
      return false
    }
    while (await this.#options.inTurn(readPage));
  }

  /** Sends a page; says whether there may be more. */
  #send({ events, isOver, writer, first }: EventPage): boolean {
    const sink = this.#sink
    if (sink === undefined) return false
    if (first > this.#sent + 1 && !this.#options.isLossy) {
      this.#abort(sink)
      return false
    }
    this.#writer = writer
    let text = ''
    for (const event of events) {
      text += messageEvent(withoutMark(event.text), `${this.name}_${event.seq}`)
      this.#sent = event.seq
    }
    if (text !== '') this.#write(sink, text)
    if (isOver) this.end()
    else if (sink.waiting > this.#options.maxUnread) this.#abort(sink)
    return events.length === PAGE
  }

  #write(sink: Sink, text: string): void {
    const before = sink.waiting
    sink.write(text)
    this.#waited += sink.waiting - before
  }

  #abort(sink: Sink): void {
    this.#detach()
    sink.abort()
  }

  #detach(): void {
    if (this.#sink === undefined) return
    this.#sink = undefined
    this.#steps.stop()
    this.#unwatch?.()
    this.#options.onDetached(this.#sent)
  }
}
