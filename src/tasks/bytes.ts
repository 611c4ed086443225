import { hasShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import { textBytes, weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { AttemptState } from './attempt-state.ts'
import { isReserved } from './key.ts'
import type { TaskCaller } from './plan.ts'
import type { TaskHead, TaskRequest } from './record.ts'
import { TASK_OVERHEAD } from './room.ts'

/** The memory of a task whose request has so many bytes, with its other texts. */
export function bytesOf(requestBytes: number, ...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + textBytes(text), requestBytes + TASK_OVERHEAD)
}

/** The memory of an attempt itself: its run, its call, and the promises and listeners of a handler that waits. */
const RUN_BYTES = 4096

/** The memory of an attempt that keeps so many bytes of values while it runs, besides the texts of its task. Everything counts here, and nowhere else. */
export function heldBytesOf(given: number, shared: AttemptState | undefined): number {
  return RUN_BYTES + given + (shared?.bytes ?? 0)
}

/** What surrounds the params of a request up to this size is part of what each attempt takes. */
const SHORT_REQUEST = 512

/** The memory of a request whose text has so many bytes. */
export function requestBytesOf(request: JsonObject | TaskRequest | undefined, textBytes: number): number {
  return weigh(textBytes > SHORT_REQUEST ? request : request?.params)
}

/** The memory of values that an attempt keeps besides, such as copies that a schema made. */
export function keptBytesOf(values: readonly unknown[] | undefined): number {
  let sum = 0
  if (values !== undefined)
    for (const value of values) if (value !== undefined) sum += weigh(value, Infinity, true)
  return sum
}

/** Whose share a task takes: that of a caller, and of its network if it is anonymous. */
export interface TaskHolder {
  readonly name: string
  readonly network: string | undefined
}

/** A holder without tasks. */
export const NOBODY: TaskHolder = { name: '', network: undefined }

/** The holder of the tasks of a caller. Anonymous callers without a session are told apart by their networks. */
export function holderOf({ owner, scope, network }: TaskCaller): TaskHolder {
  return { name: owner || scope || `network ${network ?? ''}`, network }
}

/** The holder of a stored task. The retry of one whose caller has no scope has one of its own, which is not that of a caller. */
export function storedHolder({ owner, scope, network }: TaskHead): TaskHolder {
  return holderOf({ owner, scope: isReserved(scope) ? '' : scope, network: network || undefined })
}

interface Held {
  readonly holder: TaskHolder
  bytes: number
}

/** The memory that tasks take, by task, by caller and by network. A task has its id, and an attempt that runs is its own key. */
export class TaskBytes {
  readonly #limit: number
  readonly #tasks = new Map<string, Held>()
  /** Attempts are apart, because they come and go, while finished tasks stay: a small table is in the cache of the processor. */
  readonly #attempts = new TurnoverMap<object, Held>()
  readonly #holders = new Tally()
  readonly #networks = new Tally()
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The bytes of all tasks. */
  get total(): number {
    return this.#total
  }

  /** Whether a task takes any. */
  has(id: string): boolean {
    return this.#tasks.has(id)
  }

  /** Says how much a task takes from now on. False, and nothing changes, if it would be more than there is room for. */
  set(id: string, holder: TaskHolder, bytes: number): boolean {
    const more = bytes - (this.#tasks.get(id)?.bytes ?? 0)
    if (more > 0 && !this.hasRoom(holder, more)) return false
    this.force(id, holder, bytes)
    return true
  }

  /** The same for a task and its attempt: both, or neither. */
  setBoth(id: string, bytes: number, run: object, held: number, holder: TaskHolder): boolean {
    const before = (this.#tasks.get(id)?.bytes ?? 0) + (this.#attempts.get(run)?.bytes ?? 0)
    const more = bytes + held - before
    if (more > 0 && !this.hasRoom(holder, more)) return false
    this.force(id, holder, bytes)
    this.force(run, holder, held)
    return true
  }

  /** Whether the tasks of a holder may take so much more. */
  hasRoom({ name, network }: TaskHolder, more: number): boolean {
    const own = this.#holders.get(name) + more
    const near = network === undefined ? own : this.#networks.get(network) + more
    return hasShare({ own, near, total: this.#total + more }, this.#limit)
  }

  /** The same for a task that cannot be rejected any more. */
  force(id: string | object, holder: TaskHolder, bytes: number): void {
    const held = this.#held(id)
    if (held === undefined) {
      if (typeof id === 'string') this.#tasks.set(id, { holder, bytes })
      else this.#attempts.set(id, { holder, bytes })
    }
    this.#add(held?.holder ?? holder, bytes - (held?.bytes ?? 0))
    if (held !== undefined) held.bytes = bytes
  }

  /** Frees what a task takes. */
  delete(id: string | object): void {
    const held = this.#held(id)
    if (held === undefined) return
    if (typeof id === 'string') this.#tasks.delete(id)
    else this.#attempts.delete(id)
    this.#add(held.holder, -held.bytes)
  }

  #held(id: string | object): Held | undefined {
    return typeof id === 'string' ? this.#tasks.get(id) : this.#attempts.get(id)
  }

  #add({ name, network }: TaskHolder, bytes: number): void {
    this.#total += bytes
    this.#holders.add(name, bytes)
    if (network !== undefined) this.#networks.add(network, bytes)
  }
}
