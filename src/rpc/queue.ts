import { QUEUE_BYTES, QUEUE_FULL, QUEUE_SHARE } from '../errors/limits.ts'
import { LONGEST_MS } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { SOON } from '../errors/retry-after.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Result } from './dispatch.ts'
import type { Load, Turn } from './load.ts'
import { SMALL_CHARS } from './weight.ts'

/** A request to be queued. */
export interface Waiting {
  /** The caller it belongs to; undefined when unknown. */
  readonly caller: unknown
  /** The estimated size of its message in memory. */
  readonly bytes: number
  /** Aborts when the response is no longer wanted. */
  readonly signal: AbortSignal
  /** Whether its caller, and the memory of all, have room for it. */
  mayBegin(): boolean
  /** Starts the request; says whether there is room for another. */
  begin(): boolean
}

export type QueueLimits = Pick<Limits, 'queued' | 'queuedBytes' | 'queuedPerCaller' | 'waitMs'>

interface Place extends Waiting {
  readonly until: number
  /** Its own, because on some runtimes a timer ends with the request that started it. */
  timer?: ReturnType<typeof setTimeout>
  resolve(): void
  reject(reason: Error): void
}

/** Answers a request when its turn comes. */
export async function answerInTurn(load: Load, turn: Turn, limits: Limits): Promise<Result> {
  const { call, caller, bytes, answer } = turn
  const { signal } = call
  const queue = (load.queue ??= new Queue())
  const begin = (): boolean => {
    // A cancelled request that could not leave the queue must not be counted for ever.
    if (!call.aborted) load.enter(call, caller, bytes)
    return load.running < limits.allInFlight
  }
  const mayBegin = (): boolean =>
    call.aborted ||
    (load.hasPlace(caller, limits.allInFlight) &&
      load.runningFor(caller) < limits.inFlight &&
      (bytes <= SMALL_CHARS || load.bytes === 0 || load.bytes + bytes <= limits.inFlightBytes))
  signal.throwIfAborted()
  // Others that are queued cannot start now, so it overtakes none that could.
  if (!queue.has(caller) && mayBegin()) begin()
  else await queue.wait({ caller, bytes, signal, mayBegin, begin }, limits)
  try {
    signal.throwIfAborted()
    return await answer(call)
  } finally {
    load.leave(call, caller, bytes)
  }
}

/** Queues excess requests: callers take turns, and the requests of each caller stay in order. */
export class Queue {
  /** The queued requests of each caller; the first caller is served next. */
  readonly #callers = new Map<unknown, Place[]>()
  /** All queued requests in order of arrival. */
  readonly #all = new Set<Place>()
  #bytes = 0

  /** The number of queued requests. */
  get size(): number {
    return this.#all.size
  }

  /** Whether requests of this caller are queued. */
  has(caller: unknown): boolean {
    return this.#callers.has(caller)
  }

  /** Resolves when the request may start; rejects when the queue is full, the wait is too long, or it is cancelled. */
  wait(waiting: Waiting, limits: QueueLimits): Promise<void> {
    this.#checkRoom(waiting, limits)
    const { caller, bytes, signal } = waiting
    return new Promise((resolve, reject) => {
      const until = performance.now() + limits.waitMs
      const leave = (): void => this.#leave(place, signal.reason as Error)
      const done = (settle: () => void): void => {
        signal.removeEventListener('abort', leave)
        settle()
      }
      const place: Place = {
        caller,
        bytes,
        signal,
        until,
        mayBegin: () => waiting.mayBegin(),
        begin: () => waiting.begin(),
        resolve: () => done(resolve),
        reject: (reason) => done(() => reject(reason)),
      }
      signal.addEventListener('abort', leave)
      this.#add(place)
    })
  }

  /** Starts the next requests, as many as may begin. */
  next(): void {
    for (const [caller, places] of this.#callers) {
      const place = places[0] as Place
      if (!place.mayBegin()) continue
      this.#remove(place)
      // A caller that had a turn goes to the back.
      if (places.length > 0) {
        this.#callers.delete(caller)
        this.#callers.set(caller, places)
      }
      const hasRoom = place.begin()
      place.resolve()
      if (!hasRoom) return
    }
  }

  #checkRoom({ caller, bytes }: Waiting, limits: QueueLimits): void {
    const { queued, queuedBytes, queuedPerCaller } = limits
    if (this.#all.size >= queued) throw mcpError(QUEUE_FULL, { limit: queued }, SOON)
    if (this.#bytes + bytes > queuedBytes) throw mcpError(QUEUE_BYTES, { limit: queuedBytes }, SOON)
    if (caller !== undefined && (this.#callers.get(caller)?.length ?? 0) >= queuedPerCaller)
      throw mcpError(QUEUE_SHARE, { limit: queuedPerCaller }, SOON)
  }

  #add(place: Place): void {
    const places = this.#callers.get(place.caller)
    if (places === undefined) this.#callers.set(place.caller, [place])
    else places.push(place)
    this.#all.add(place)
    this.#bytes += place.bytes
    this.#rejectAt(place)
  }

  #remove(place: Place): void {
    this.#all.delete(place)
    this.#bytes -= place.bytes
    const places = this.#callers.get(place.caller) as Place[]
    places.splice(places.indexOf(place), 1)
    if (places.length === 0) this.#callers.delete(place.caller)
    clearTimeout(place.timer)
  }

  #leave(place: Place, reason: Error): void {
    this.#remove(place)
    place.reject(reason)
  }

  /** Rejects a request that is queued for too long. */
  #rejectAt(place: Place): void {
    const { until } = place
    if (until === Number.POSITIVE_INFINITY) return
    place.timer = setTimeout(
      () => {
        if (!this.#all.has(place)) return
        if (until > performance.now()) return this.#rejectAt(place)
        this.#leave(place, mcpError(OVERLOADED, {}, SOON))
      },
      Math.min(LONGEST_MS, Math.ceil(until - performance.now())),
    )
  }
}
