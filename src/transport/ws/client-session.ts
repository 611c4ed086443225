import { doubledMs, pause } from '../../base/backoff.ts'
import { McpError } from '../../errors/error.ts'
import { JSONRPC } from '../../protocol/jsonrpc.ts'
import type { OutgoingRequest } from '../../rpc/client-transport.ts'
import { isOtherLogin } from '../../rpc/logins.ts'
import { afterMs, type Timer } from '../io/timer.ts'
import { Backlog, type Keeper } from './backlog.ts'
import type { Opening, WsTransportLimits, WsTransportOptions } from './client-transport.ts'

/** How long sent messages are buffered before a ping asks whether they arrived. */
const ASK_MS = 1000
const MAX_EVENTS = 1000

/** A connection that lasted this long counts as a success. */
const STEADY_MS = 5000
/** How often a full buffer is sent again before the session is given up. */
const MAX_REPEATS = 3
/** Randomizes delays so that clients of the same server do not all reconnect at once. */
const JITTER = 0.25

/** What a session needs to be resumed. */
interface Resuming extends Pick<WsTransportOptions, 'limits' | 'open'>, Pick<Opening, 'signal' | 'take'> {
  /** Called if that is not possible. */
  onEnd(reason?: McpError): void
}

/** The client's end of a session that survives its connection: everything needed to resume it. */
export class ClientSession implements Keeper {
  readonly id: string
  readonly maxEvents: number = MAX_EVENTS
  readonly maxBytes: number
  /** The number of messages received. */
  #received = 0
  /** How many attempts to resume in a row failed, and since when. */
  #failures = 0
  #failingSince = 0
  #triedAt = Number.NEGATIVE_INFINITY
  /** The bytes that were sent again since the server last confirmed a message. */
  #repeated = 0
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

  /** Counts a received message. */
  receive(): void {
    this.#received++
  }

  /** Buffers a sent message until it is known to have arrived. */
  sent(text: string): void {
    this.#backlog.add(text)
    if (this.#backlog.isHalfFull) this.#askNow()
    else this.#askSoon()
  }

  /** Buffers the cancellation of a request instead of the request, which nobody needs any more. */
  cancelled({ id, text }: OutgoingRequest): void {
    const params = { requestId: id }
    this.#backlog.replace(
      text,
      JSON.stringify({ jsonrpc: JSONRPC, method: 'notifications/cancelled', params }),
    )
  }

  /** Learns from a pong how many messages arrived. */
  learn(payload: string): void {
    const { forgotten } = this.#backlog
    this.#backlog.answer(payload)
    this.#confirmed(this.#backlog.forgotten > forgotten)
    this.#askSoon()
  }

  /** The messages after the first `count`, which the server missed; undefined if they are not all buffered, or were sent too often. */
  missedAfter(count: number): readonly string[] | undefined {
    if (!this.#backlog.reaches(count)) return undefined
    this.#confirmed(count > this.#backlog.forgotten)
    const missed = this.#backlog.after(count)
    this.#repeated += this.#backlog.size
    if (this.#repeated > MAX_REPEATS * this.maxBytes) return undefined
    this.#askSoon()
    return missed
  }

  /** Only messages that arrive count as progress: those of the server cost it nothing. */
  #confirmed(isProgress: boolean): void {
    if (isProgress) this.#repeated = this.#failures = 0
  }

  /** Tries to open another connection until `resumeMs` have passed. */
  async resume({ limits, signal, open, take, onEnd }: Resuming): Promise<void> {
    if (performance.now() - this.#triedAt > STEADY_MS) this.#failures = 0
    if (this.#failures === 0) this.#failingSince = performance.now()
    for (;;) {
      const pauseMs = this.#pauseMs(limits)
      if (pauseMs > 0) await pause(pauseMs, signal)
      const leftMs = this.#failingSince + limits.resumeMs - performance.now()
      if (signal.aborted) return
      if (leftMs <= 0) return onEnd()
      this.#triedAt = performance.now()
      this.#failures++
      const opening: Opening = {
        session: { id: this.id, count: this.#received },
        timeoutMs: leftMs,
        signal,
        onPong: (payload) => this.learn(payload),
        take,
      }
      try {
        return await open(opening)
      } catch (error) {
        if (signal.aborted) return
        if (!isPassing(error)) return onEnd(isLoginError(error) ? error : undefined)
      }
    }
  }

  /** The delay before the next attempt; none if the previous one succeeded and was not too recent. */
  #pauseMs({ reconnectFirstMs, reconnectMaxMs, reconnectFloorMs }: WsTransportLimits): number {
    const growing =
      this.#failures === 0
        ? 0
        : doubledMs(this.#failures - 1, { firstMs: reconnectFirstMs, maxMs: reconnectMaxMs })
    const floor = this.#triedAt + reconnectFloorMs - performance.now()
    return Math.max(floor, growing * (1 - JITTER * Math.random()))
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

/** Whether a login failed. That is the reason to give, rather than the connection that was lost before. */
function isLoginError(error: unknown): error is McpError {
  return error instanceof McpError && error.kind.startsWith('login_')
}

/** Whether a server that could not be reached may have kept the session and be reachable soon. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof McpError) || isOtherLogin(error) || isLoginError(error)) return false
  const { cause, data } = error
  const status = data?.['status']
  if (typeof status === 'number') return status >= 500 || status === 429
  return cause === undefined || PASSING.has((cause as { readonly code?: unknown }).code)
}

/** Network problems. A refused connection is not one: that server is not running and has no sessions. */
const PASSING: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENETDOWN',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
])
