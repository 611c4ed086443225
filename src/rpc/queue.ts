import { hasFarLess } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { QUEUE_BYTES, QUEUE_FULL, QUEUE_SHARE } from '../errors/limits.ts'
import { LONGEST_MS } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { SOON } from '../errors/retry-after.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Result } from './dispatch.ts'
import type { Load, Turn } from './load.ts'

/** A request to be queued. */
export interface Waiting {
  /** The caller it belongs to; undefined when unknown. */
  readonly caller: unknown
  /** The network of an anonymous caller, if known. */
  readonly network?: string | undefined
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
  const { call, caller, network, bytes, answer } = turn
  const { signal } = call
  const queue = (load.queue ??= new Queue())
  const begin = (): boolean => {
    // A cancelled request that could not leave the queue must not be counted for ever.
    if (!call.aborted) load.enter(call, caller, bytes, network)
    return load.running < limits.allInFlight
  }
  const mayBegin = (): boolean =>
    call.aborted ||
    (load.hasPlace(caller, network, limits.allInFlight) &&
      load.runningFor(caller) < limits.inFlight &&
      load.hasRoom(bytes, limits.inFlightBytes, { caller, network }))
  signal.throwIfAborted()
  // Others that are queued cannot start now, so it overtakes none that could.
  if (!queue.has(caller, network) && mayBegin()) begin()
  else await queue.wait({ caller, network, bytes, signal, mayBegin, begin }, limits)
  try {
    signal.throwIfAborted()
    return await answer(call)
  } finally {
    load.leave(call, caller, bytes)
  }
}

/**
 * Queues excess requests: networks of anonymous callers and authenticated callers take turns, then the callers of a network, and the
 * requests of each caller stay in order. If the queue is full, those who have far less than a network take a place of it.
 */
export class Queue {
  /** The queued requests of each caller, by network; the first network and caller is served next. */
  readonly #groups = new Map<unknown, Map<unknown, Place[]>>()
  readonly #sizes = new Tally()
  readonly #weights = new Tally()
  /** All queued requests in order of arrival. */
  readonly #all = new Set<Place>()
  #bytes = 0

  /** The number of queued requests. */
  get size(): number {
    return this.#all.size
  }

  /** Whether requests of this caller are queued. */
  has(caller: unknown, network?: string): boolean {
    return this.#groups.get(network ?? caller)?.has(caller) === true
  }

  /** Resolves when the request may start; rejects when the queue is full, the wait is too long, or it is cancelled. */
  wait(waiting: Waiting, limits: QueueLimits): Promise<void> {
    this.#checkRoom(waiting, limits)
    const { caller, network, bytes, signal } = waiting
    return new Promise((resolve, reject) => {
      const until = performance.now() + limits.waitMs
      const leave = (): void => this.#leave(place, signal.reason as Error)
      const done = (settle: () => void): void => {
        signal.removeEventListener('abort', leave)
        settle()
      }
      const place: Place = {
        caller,
        network,
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
    for (const [group, callers] of this.#groups) {
      const place = nextOf(callers)
      if (place === undefined) continue
      this.#remove(place)
      toBack(callers, place.caller)
      toBack(this.#groups, group)
      const hasRoom = place.begin()
      place.resolve()
      if (!hasRoom) return
    }
  }

  #checkRoom(waiting: Waiting, { queued, queuedBytes, queuedPerCaller }: QueueLimits): void {
    const { caller, bytes } = waiting
    const own = caller === undefined ? undefined : this.#groups.get(groupOf(waiting))?.get(caller)
    if (own !== undefined && own.length >= queuedPerCaller)
      throw mcpError(QUEUE_SHARE, { limit: queuedPerCaller }, SOON)
    const isFull = (): boolean => this.#all.size >= queued
    if (!this.#makeRoom(waiting, this.#sizes, isFull)) throw mcpError(QUEUE_FULL, { limit: queued }, SOON)
    const isHeavy = (): boolean => this.#bytes + bytes > queuedBytes
    if (!this.#makeRoom(waiting, this.#weights, isHeavy))
      throw mcpError(QUEUE_BYTES, { limit: queuedBytes }, SOON)
  }

  /** Rejects requests of the network with the most, as long as the queue is too full; false if it has not far more. */
  #makeRoom(waiting: Waiting, taken: Tally, isFull: () => boolean): boolean {
    const own = taken.get(groupOf(waiting))
    while (isFull()) {
      const last = this.#largest(taken)
      if (last === undefined || !hasFarLess(own, taken.get(last.network))) return false
      this.#leave(last, mcpError(OVERLOADED, {}, SOON))
    }
    return true
  }

  /** The last request of the network with the most. */
  #largest(taken: Tally): Place | undefined {
    let most = 0
    let last: Place | undefined
    for (const [group, callers] of this.#groups) {
      if (taken.get(group) <= most) continue
      const place = [...callers.values()].at(-1)?.at(-1)
      if (place?.network === undefined) continue
      most = taken.get(group)
      last = place
    }
    return last
  }

  #add(place: Place): void {
    const group = groupOf(place)
    const callers = this.#groups.get(group) ?? new Map<unknown, Place[]>()
    const places = callers.get(place.caller)
    if (places === undefined) callers.set(place.caller, [place])
    else places.push(place)
    this.#groups.set(group, callers)
    this.#count(place, 1)
    this.#all.add(place)
    this.#rejectAt(place)
  }

  #remove(place: Place): void {
    const group = groupOf(place)
    const callers = this.#groups.get(group) as Map<unknown, Place[]>
    const places = callers.get(place.caller) as Place[]
    places.splice(places.indexOf(place), 1)
    if (places.length === 0) callers.delete(place.caller)
    if (callers.size === 0) this.#groups.delete(group)
    this.#count(place, -1)
    this.#all.delete(place)
    clearTimeout(place.timer)
  }

  #count(place: Place, sign: 1 | -1): void {
    const group = groupOf(place)
    this.#bytes += sign * place.bytes
    this.#sizes.add(group, sign)
    this.#weights.add(group, sign * place.bytes)
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

/** Those who share turns: the anonymous callers of a network, or else one caller. */
function groupOf({ caller, network }: Waiting): unknown {
  return network ?? caller
}

/** The first request that may begin, of callers that take turns. */
function nextOf(callers: ReadonlyMap<unknown, readonly Place[]>): Place | undefined {
  for (const [first] of callers.values()) if (first?.mayBegin() === true) return first
  return undefined
}

/** Moves an entry behind all others, if it is still there. */
function toBack<Value>(map: Map<unknown, Value>, key: unknown): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
