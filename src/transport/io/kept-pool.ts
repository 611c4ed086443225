import { BySize, type Sized } from '../../base/by-size.ts'
import { shareOf } from '../../base/share.ts'
import type { Limits } from '../../protocol/limits.ts'

/** Everything that is kept for one caller. */
class Caller implements Sized {
  bytes = 0
  group = 0
  at = 0
  readonly #unread = new BySize<KeptBuffer>()
  readonly #read = new BySize<KeptBuffer>()

  /** The buffer to give up first: a large one that nobody reads, if there is one. */
  get victim(): KeptBuffer | undefined {
    return this.#unread.largest ?? this.#read.largest
  }

  /** Notices a change of a buffer. */
  put(buffer: KeptBuffer): void {
    const [to, from] = buffer.isRead ? [this.#read, this.#unread] : [this.#unread, this.#read]
    if (buffer.list !== to) from.put(buffer, false)
    buffer.list = to
    to.put(buffer)
  }
}

/**
 * The bytes that one server keeps for clients that may come back for them, over all its transports. Beyond the limit, the
 * callers with the most give up first. No step takes longer because there are more callers.
 */
export class KeptPool {
  readonly #limit: number
  readonly #callers = new Map<unknown, Caller>()
  readonly #bySize = new BySize<Caller>()
  /** How many bytes are kept. */
  bytes = 0

  constructor({ unsentBytes }: Pick<Limits, 'unsentBytes'>) {
    this.#limit = unsentBytes
  }

  /** Counts a change of a buffer; makes room if it has grown. */
  changed(buffer: KeptBuffer, bytes: number): void {
    let caller = this.#callers.get(buffer.caller)
    if (caller === undefined) this.#callers.set(buffer.caller, (caller = new Caller()))
    this.bytes += bytes
    caller.bytes += bytes
    caller.put(buffer)
    this.#bySize.put(caller)
    if (caller.bytes === 0) this.#callers.delete(buffer.caller)
    if (bytes <= 0) return
    while (caller.bytes > shareOf(this.#limit)) caller.victim?.giveUp()
    while (this.bytes > this.#limit) this.#bySize.largest?.victim?.giveUp()
  }
}

export interface KeptBufferOptions {
  readonly pool: KeptPool
  /** Buffers of one caller count together. */
  readonly caller: unknown
  /** Discards what is kept. */
  forget(): void
}

/** The data kept for one client that may come back: the events of a stream, or the messages of a session. */
export class KeptBuffer implements Sized {
  readonly caller: unknown
  readonly #pool: KeptPool
  readonly #forget: () => void
  bytes = 0
  group = 0
  at = 0
  list: object | undefined
  #isRead = false
  #isOver = false

  constructor({ pool, caller, forget }: KeptBufferOptions) {
    this.#pool = pool
    this.caller = caller
    this.#forget = forget
  }

  /** Whether its client is connected. */
  get isRead(): boolean {
    return this.#isRead
  }

  set isRead(isRead: boolean) {
    if (isRead === this.#isRead) return
    this.#isRead = isRead
    if (this.bytes > 0) this.#pool.changed(this, 0)
  }

  /** Sets the number of kept bytes. Beyond the limit, this or other buffers are discarded. */
  set(bytes: number): void {
    const more = this.#isOver ? 0 : bytes - this.bytes
    if (more === 0) return
    this.bytes = bytes
    this.#pool.changed(this, more)
  }

  /** Discards what is kept. */
  giveUp(): void {
    this.#forget()
    this.set(0)
  }

  /** Counts it no longer. */
  end(): void {
    this.set(0)
    this.#isOver = true
  }
}
