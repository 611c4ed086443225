import { Steps } from '../../../nodes/steps.ts'
import type { EventPage, EventStore } from '../../../rpc/event-store.ts'
import { lastEventId } from './event-stream.ts'
import { responseIn } from './lost-response.ts'
import { withoutMark } from './marked-text.ts'
import type { Sink } from './parts.ts'
import { PAGE, type RecentPages } from './recent-pages.ts'

export interface FollowerOptions {
  readonly events: EventStore
  readonly pages: RecentPages
  /** The caller or the network that the session is counted with. */
  readonly caller: string
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
  /** Called when it turns out who writes the stream. */
  onWriter?(): void
  onError(error: unknown): void
  onAttached(): void
  /** Called when the client is disconnected, with the number of the last event that it was sent. */
  onDetached(sent: number): void
}

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

  get session(): string {
    return this.#options.session
  }

  /** Who writes the stream; empty while that is not known. */
  get writer(): string {
    return this.#writer
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
    const { pages, session, name, caller } = this.#options
    const resuming = { caller, isWanted: (): boolean => this.#sink !== undefined }
    const readPage = async (): Promise<boolean> => {
      if (!this.#hasBegun && this.#options.mayBegin?.() === false) this.end()
      if (this.#sink === undefined) return false
      const place = { session, stream: name, after: this.#sent }
      const read = await pages.read(place, this.#hasBegun ? undefined : resuming)
      if (read === undefined) return false
      this.#hasBegun = true
      if (read.page !== undefined) return this.#send(read.page) || read.isRecent
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
    const isNew = this.#writer !== writer
    this.#writer = writer
    if (isNew && !isOver) this.#options.onWriter?.()
    // Joined, they would be copied, also for a client that leaves at once.
    const texts = events.flatMap(({ seq, text: stored }, at) => {
      const text = withoutMark(stored)
      const isLost = isOver && at === events.length - 1 && text === responseIn(writer)
      const id = isLost ? lastEventId(this.name, seq) : `${this.name}_${seq}`
      return [`id: ${id}\ndata: `, text, '\n\n']
    })
    this.#sent = events.at(-1)?.seq ?? this.#sent
    if (isOver) {
      this.#detach()
      sink.end(...texts)
      return false
    }
    if (texts.length > 0) this.#write(sink, texts.join(''))
    if (sink.waiting > this.#options.maxUnread) this.#abort(sink)
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
