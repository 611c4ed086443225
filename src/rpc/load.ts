import { isWithinAddressShare, isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { HEAP_FULL, TOO_MANY_CALLS, TOO_MUCH_IN_FLIGHT } from '../errors/limits.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { LATER, SOON } from '../errors/retry-after.ts'
import type { Limits } from '../protocol/limits.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Asking, Call } from './call.ts'
import type { Result } from './dispatch.ts'
import { Questions } from './questions.ts'
import type { Queue } from './queue.ts'
import { SMALL_CHARS } from './weight.ts'

/** Once this part of all places is taken, a caller gets no more than its share, unless there is no other. */
const SHARED_FROM = 3 / 4
/** One caller may always run so many requests, if there are places. */
const FEW = 16

/** A request that arrives while the server is at its limit. */
export interface Turn {
  readonly call: Call
  readonly caller: unknown
  /** The network of an anonymous caller, if known. */
  readonly network?: string | undefined
  /** The estimated size of its message in memory. */
  readonly bytes: number
  answer(call: Call): Result | Promise<Result>
}

/** What counts as running: a request, or a batch with requests that have not started. */
export interface Entry {
  readonly method?: string
  isCounted: boolean
  network?: string | undefined
  asking?: Asking | undefined
}

/** The requests that a server is running and queueing at the moment, over all its transports. */
export class Load {
  /**
   * Throws while the server is too busy for new requests of a caller, or for a response of so many bytes; set by transports
   * that can be overloaded.
   */
  check: ((caller: unknown, bytes?: number) => void) | undefined
  /** Whether the heap is nearly full, so that nothing new is taken on. */
  isShort = false
  /** Queued requests; created when one is first queued. */
  queue: Queue | undefined
  readonly #callers = new Tally()
  /** The running requests of anonymous callers, by network. */
  readonly #networks = new Tally()
  readonly #questions = new Questions()
  #running = 0
  #bytes = 0
  /** Requests that wait until the queue is loaded. */
  #arriving = 0

  /** The number of running requests, excluding synchronous and long-lived ones and those that wait for their clients. */
  get running(): number {
    return this.#running
  }

  /** The number of requests that wait for answers of their clients. */
  get asking(): number {
    return this.#questions.size
  }

  /** The estimated size of their messages in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** How many requests of a caller are running or wait for its answers. */
  runningFor(caller: unknown): number {
    return this.#callers.get(caller)
  }

  /** Throws when a caller already has so many requests, or when the heap is nearly full. */
  checkCaller(caller: unknown, limit: number): void {
    if (this.isShort) throw mcpError(HEAP_FULL, {}, LATER)
    // While all callers together are below the limit, so is each of them.
    if (this.#running + this.asking >= limit && this.runningFor(caller) >= limit)
      throw mcpError(TOO_MANY_CALLS, { limit }, SOON)
  }

  /** The reason to reject a message of this size while those of running requests take much memory. */
  refusalFor(chars: number, { inFlightBytes }: Pick<Limits, 'inFlightBytes'>): McpError | undefined {
    const bytes = this.#bytes
    if (bytes === 0 || chars <= SMALL_CHARS || bytes + chars <= inFlightBytes) return undefined
    return mcpError(TOO_MUCH_IN_FLIGHT, {}, SOON)
  }

  /** Whether there is a place for another request of a caller, and of its network. */
  hasPlace(caller: unknown, network: string | undefined, all: number): boolean {
    const running = this.#running
    if (running < all * SHARED_FROM) return true
    if (running >= all) return false
    const own = this.runningFor(caller)
    if (own >= FEW && own < running && !isWithinShare(own + 1, running + 1, all)) return false
    const near = network === undefined ? 0 : this.#networks.get(network)
    return near < FEW || near === own || isWithinAddressShare(near + 1, running + 1, all)
  }

  /** The number of queued requests. */
  get waiting(): number {
    return this.#arriving + (this.queue === undefined ? 0 : this.queue.size)
  }

  /** Counts a request as running until `leave` is called for it, unless it is long-lived. */
  enter(entry: Entry, caller: unknown, bytes: number, network?: string): void {
    if (entry.method !== undefined && methodRow(entry.method)?.lasting === true) return
    entry.isCounted = true
    if (entry.asking === undefined) this.#running++
    this.#bytes += bytes
    if (caller !== undefined) this.#callers.add(caller, 1)
    if (network === undefined) return
    entry.network = network
    this.#networks.add(network, 1)
  }

  /** Counts a request no longer, and starts the next queued ones. Does nothing if it is not counted. */
  leave(entry: Entry, caller: unknown, bytes: number): void {
    if (!entry.isCounted) return
    entry.isCounted = false
    if (!this.#questions.delete(entry)) this.#running--
    this.#bytes -= bytes
    if (caller !== undefined) this.#callers.add(caller, -1)
    if (entry.network !== undefined) this.#networks.add(entry.network, -1)
    if (this.queue !== undefined) this.queue.next()
  }

  /** Counts the memory of a message that several requests share. A negative number gives it back. */
  hold(bytes: number): void {
    this.#bytes += bytes
    if (bytes < 0 && this.queue !== undefined) this.queue.next()
  }

  /**
   * Counts what a schema has made of the message of a request until the request is over. Throws if the messages in flight are
   * too large together.
   */
  holdCopy(call: Call, bytes: number, { inFlightBytes }: Pick<Limits, 'inFlightBytes'>): void {
    const others = this.#running + this.asking - (call.isCounted ? 1 : 0)
    if (others > 0 && this.#bytes + bytes > inFlightBytes) throw mcpError(TOO_MUCH_IN_FLIGHT, {}, SOON)
    this.hold(bytes)
    const before = call.onEnd
    call.onEnd = () => {
      before?.()
      this.hold(-bytes)
    }
  }

  /**
   * Asks the client of a request. Its slot is free until the answer arrives. Rejects when `most` requests are already
   * waiting, or too many of the same caller.
   */
  async whileAsking<Answer>(call: Call, most: number, ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#questions.begin(call, most) && call.isCounted) this.#running--
    if (this.queue !== undefined) this.queue.next()
    try {
      return await ask()
    } finally {
      if (this.#questions.end(call) && call.isCounted) this.#running++
    }
  }

  /**
   * Queues a request until others are answered. Rejects when the queue is full or the wait is too long. The queue is
   * loaded on demand because few servers ever reach their limit.
   */
  async inTurn(turn: Turn, limits: Limits): Promise<Result> {
    if (limits.queued === 0) throw mcpError(OVERLOADED, {}, SOON)
    this.#arriving++
    const { answerInTurn } = await import('./queue.ts').finally(() => this.#arriving--)
    return answerInTurn(this, turn, limits)
  }
}
