import { textBytes } from '../../../base/weight.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { messageEvent, toEvent } from '../../../wire/sse.ts'
import { KeptBuffer, type KeptPool } from '../../io/kept-pool.ts'
import type { Sink } from './parts.ts'

interface KeptEvent {
  readonly seq: number
  readonly frame: string
  /** The memory that the frame takes. */
  readonly bytes: number
}

/** The memory that a kept event takes besides its text. */
const OVERHEAD = 128

export interface StreamOptions {
  readonly limits: Limits
  /** Names the stream in event ids; without a name the stream cannot be resumed. */
  readonly name?: string | undefined
  /** Whether events may be discarded before the client reads them. */
  readonly lossy?: boolean
  /** Counts the events that are buffered for clients, and the caller they are for. */
  readonly pool?: KeptPool
  readonly caller?: unknown
  readonly keeper?: StreamKeeper
  /** Keeps the events for clients that resume on another node. */
  readonly recorder?: EventRecorder | undefined
  /** Called when the stream ends early because its events were discarded and no client was connected. */
  readonly onLost?: (() => void) | undefined
  /** Called when the client disconnects from a stream that has not ended. */
  onGone?(): void
}

/** Keeps the events of one stream outside this process. */
export interface EventRecorder {
  /** Resolves when clients can resume the stream elsewhere, or when that could not be made sure. */
  readonly opened: Promise<void>
  /** What the stream takes there besides its events. */
  readonly bytes: number
  /** Adds an event, the last one if so. */
  record(seq: number, text: string, isLast: boolean): void
  /** Discards the events before a number; clients can resume the stream only after them. */
  trim(before: number): void
  /** Discards the stream; clients cannot resume it any more. */
  forget(): void
}

/** Keeps streams, also ended ones, for clients that reconnect. */
export interface StreamKeeper {
  /** Counts a change in the number of buffered bytes. */
  counted(bytes: number): void
  /** Notices that an event was discarded. */
  forgot(): void
  /** Notices that a stream lost its events while no client was connected, and ended. */
  discarded(stream: EventStream): void
}

/**
 * One stream of events to a client. A named stream buffers its latest events, so that a client whose connection broke
 * can resume without missing any; an unnamed one ends with its connection.
 */
export class EventStream {
  readonly name: string | undefined
  readonly #limits: Limits
  /** Both lead to the request, so an ended stream, which may be kept for long, drops them. */
  #onGone: (() => void) | undefined
  #onLost: (() => void) | undefined
  readonly #keeper: StreamKeeper | undefined
  readonly recorder: EventRecorder | undefined
  readonly #buffer: KeptBuffer | undefined
  #seq = 0
  /** The first event that was not discarded to make room. */
  #first = 0
  #sent = -1
  #bounded: boolean
  readonly #lossy: boolean
  /** The last unread message; sending the same again adds nothing. */
  #unread: string | undefined
  #primed = false
  #detachMs: number | undefined
  #kept: KeptEvent[] = []
  #keptSize = 0
  #sink: Sink | undefined
  /** The bytes that had to wait, and how many of them the client had read at the last check. */
  #waited = 0
  #taken = Number.NEGATIVE_INFINITY
  /** What the system had not sent yet at the last check; 0 if it does not say. */
  #unsent = 0
  #ended = false

  constructor(options: StreamOptions) {
    const { limits, name, lossy = false, pool, caller, keeper, recorder, onGone, onLost } = options
    if (pool !== undefined) this.#buffer = new KeptBuffer({ pool, caller, forget: () => this.#discard() })
    this.#bounded = lossy
    this.#lossy = lossy
    this.#limits = limits
    this.name = name
    this.#keeper = keeper
    this.recorder = recorder
    this.#onGone = onGone
    this.#onLost = onLost
  }

  get ended(): boolean {
    return this.#ended
  }

  /** How many bytes are buffered for a client that reconnects. */
  get keptSize(): number {
    return this.#keptSize
  }

  /** Whether a client is connected. */
  get attached(): boolean {
    return this.#sink !== undefined
  }

  /** Whether everything that followed an event can still be sent. */
  reaches(seq: number): boolean {
    return seq + 1 >= this.#first
  }

  /** Whether anything follows an event, or may still follow it. */
  mayFollow(seq: number): boolean {
    return !this.#ended || seq < this.#seq - 1
  }

  /** Starts with an event that carries only an id, if the revision requires it. */
  prime(dialect: Dialect): void {
    this.#primed = isPrimed(dialect) && this.name !== undefined
    if (this.#primed) this.#push('')
  }

  /** Bytes that the client has not read yet. */
  get waiting(): number {
    return this.#sink?.waiting ?? 0
  }

  /** Sends one message, with an event name if one is given. */
  send(text: string, event?: string): void {
    if (this.#ended || (this.#sink === undefined && this.#lossy && text === this.#unread)) return
    this.#unread = this.#sink === undefined ? text : undefined
    this.#push(text, event)
  }

  /** Connects a client; one that reconnects names the last event it saw and gets the following ones. */
  attach(sink: Sink, lastSeq: number = this.#sent): void {
    this.#sink?.end()
    this.#connect(sink)
    this.#bounded = true
    this.#taken = Number.NEGATIVE_INFINITY
    this.#unread = undefined
    const frames = this.#kept.filter(({ seq }) => seq > lastSeq).map(({ frame }) => frame)
    this.#sent = this.#seq - 1
    // This may discard what was just read.
    this.#recount()
    if (this.name === undefined) this.#kept = []
    // Joined, they would be copied, also for a client that leaves at once.
    if (this.#ended) return this.#detach(...frames)
    const text = frames.join('')
    sink.onGone(() => this.#gone(sink))
    if (text !== '') this.#write(sink, text)
    if (this.#detachMs !== undefined) this.detach(this.#detachMs)
  }

  /** Disconnects the client without ending the stream, if the revision has clients that then reconnect. */
  detach(retryMs: number): void {
    if (!this.#primed) return
    this.#detachMs = this.#bounded ? undefined : retryMs
    this.#sink?.write(`retry: ${Math.max(0, Math.trunc(retryMs))}\n\n`)
    this.#detach()
  }

  /** Writes a comment to keep proxies from closing; aborts a client that read nothing since the last one. */
  keepAlive(): void {
    const sink = this.#sink
    if (sink === undefined) return
    const taken = this.#waited - sink.waiting
    const { unsent = 0 } = sink
    // A long message waits as a whole until all of it is read.
    if (sink.waiting > 0 && taken <= this.#taken && unsent >= this.#unsent) return this.#abort(sink)
    this.#taken = taken
    this.#unsent = unsent
    this.#write(sink, ': keep-alive\n\n')
  }

  /** Ends the stream, with a last message if given. The limit for slow readers does not apply to it. */
  end(last?: string): void {
    const frames = last === undefined || this.#ended ? [] : [this.#frame(last, undefined, true)]
    if (last === undefined && !this.#ended) this.recorder?.record(this.#seq, '', true)
    this.#ended = true
    this.#detach(...frames)
    this.#onGone = this.#onLost = undefined
  }

  /** Counts its events no longer, because its session has ended. */
  release(): void {
    this.#buffer?.end()
  }

  #push(text: string, event?: string): void {
    const frame = this.#frame(text, event)
    const sink = this.#sink
    if (sink === undefined) return
    // A single message may be longer than that.
    const isTooSlow = sink.waiting > this.#limits.streamBytes
    this.#write(sink, frame)
    if (isTooSlow) this.#abort(sink)
  }

  /** The next event as text, buffered if the stream can be resumed. */
  #frame(text: string, event?: string, isLast = false): string {
    const seq = this.#seq++
    this.recorder?.record(seq, text, isLast)
    const id = this.name === undefined ? undefined : `${this.name}_${seq}`
    const frame =
      event === undefined
        ? messageEvent(text, id)
        : toEvent({ data: text, event, ...(id !== undefined && { id }) })
    if (this.name !== undefined || this.#sink === undefined)
      this.#keep({ seq, frame, bytes: textBytes(frame) })
    if (this.#sink !== undefined) this.#sent = seq
    return frame
  }

  #write(sink: Sink, frame: string): void {
    const before = sink.waiting
    sink.write(frame)
    this.#waited += sink.waiting - before
  }

  #keep(event: KeptEvent): void {
    this.#kept.push(event)
    this.#count(event.bytes)
    if (!this.#bounded) return
    while (this.#kept.length > this.#limits.streamEvents || this.#keptSize > this.#limits.streamBytes) {
      if (this.#kept.length <= 1) break
      this.#count(-this.#kept.shift()!.bytes)
      this.#keeper?.forgot()
    }
    this.#recount()
  }

  #count(bytes: number): void {
    this.#keptSize += bytes
    this.#keeper?.counted(bytes)
  }

  /** Counts what all streams keep together. Until it is first read, a stream only waits for its handler. */
  #recount(): void {
    if (!this.#bounded) return
    const besides = this.#kept.length * OVERHEAD + (this.recorder?.bytes ?? 0)
    this.#buffer?.set(this.#keptSize + besides)
  }

  /** Discards the kept events to make room. Without a client, a stream that must be complete ends. */
  #discard(): void {
    this.#first = this.#seq
    this.#unread = undefined
    for (const { bytes } of this.#kept.splice(0)) {
      this.#count(-bytes)
      this.#keeper?.forgot()
    }
    // What the store keeps is counted here, so it goes too.
    if (!this.#ended) this.recorder?.trim(this.#seq)
    if (this.#sink !== undefined || this.#lossy) return
    // A client may read a running stream on another node, where it goes on.
    if (this.recorder !== undefined && !this.#ended) return
    this.#ended = true
    this.#keeper?.discarded(this)
    this.#onLost?.()
  }

  #connect(sink: Sink | undefined): void {
    this.#sink = sink
    if (this.#buffer !== undefined) this.#buffer.isRead = sink !== undefined
  }

  /** Aborts the connection of a client that reads too slowly; it may resume a named stream. */
  #abort(sink: Sink): void {
    this.#gone(sink)
    sink.abort()
  }

  #detach(...texts: readonly string[]): void {
    const sink = this.#sink
    this.#connect(undefined)
    sink?.end(...texts)
  }

  #gone(sink: Sink): void {
    if (this.#sink !== sink) return
    this.#connect(undefined)
    if (this.#ended) return
    if (this.name === undefined) this.#ended = true
    this.#onGone?.()
  }
}

/** Whether streams begin with an event that has only an id. */
export function isPrimed(dialect: Dialect): boolean {
  return dialect.priming
}

/** Splits an event id into the name of its stream and its position there; `isLast` says that nothing follows it. */
export function readEventId(
  id: string,
): { readonly name: string; readonly seq: number; readonly isLast: boolean } | undefined {
  const parts = /^([a-z0-9]{1,16})_(\d{1,15})$/.exec(id)
  if (parts === null) return undefined
  const [, name = '', digits = ''] = parts
  return { name, seq: Number(digits), isLast: /^0\d/.test(digits) }
}

/**
 * The id of an event that nothing follows: its number begins with a zero. Where a node died, the number alone does not say that: the client may have
 * got another event with that number from the node, which the store never had.
 */
export function lastEventId(name: string, seq: number): string {
  return `${name}_0${seq}`
}
