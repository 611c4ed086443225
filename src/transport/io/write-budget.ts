import { mcpError } from '../../errors/error.ts'
import { TOO_MUCH_UNSENT } from '../../errors/transport.ts'
import type { Limits } from '../../protocol/limits.ts'
import { everyMs, type Timer } from './timer.ts'

/** Bytes that wait for all clients to read. */
let total = 0
/** Those for whom something waits. */
const slow = new Set<WriteBudget>()
/** Those among them who have been given all the time there is. */
const patient = new Set<WriteBudget>()
let watch: Timer

const LOOK_MS = 50
/** How long a client may take nothing of what waits for it while too much waits for all. */
const HURRY_MS = 1000

/** How many bytes wait for clients that read slowly, over all of them. */
export function unsentBytes(): number {
  return total
}

/** Throws when so much waits for clients that nothing more should be written; those who take nothing of it are cut off soon. */
export function checkUnsent(limits: Limits): void {
  if (total <= limits.unsentBytes) return
  for (const sending of patient) sending.hurry()
  throw mcpError(TOO_MUCH_UNSENT, {}, { retryAfterMs: 1000 })
}

/** What bytes leave by. Node tells only here how many of those that were handed to the system are left. */
export interface Outlet {
  readonly _handle?: Handle | null
}

interface Handle {
  readonly writeQueueSize?: number
  /** What is below TLS. */
  readonly _parent?: Handle
}

export interface WriteBudgetOptions {
  /** The socket, once there is one. */
  outlet(): Outlet | null
  /** How long the client may take nothing of what waits for it. */
  readonly patienceMs: number
  /** Cuts off a client that took nothing for too long. */
  cut(): void
}

/**
 * Counts the bytes that wait for one client, and looks whether it takes them. The timeout of a socket does not do for
 * that: it begins anew with every byte that the client sends.
 */
export class WriteBudget {
  readonly #options: WriteBudgetOptions
  #size = 0
  #patienceMs = 0
  #left: number | undefined
  #since = 0

  constructor(options: WriteBudgetOptions) {
    this.#options = options
  }

  /** So many wait now. */
  set(size: number): void {
    total += size - this.#size
    if (size === 0) this.#end()
    else if (this.#size === 0) this.#begin()
    this.#size = size
  }

  hurry(): void {
    patient.delete(this)
    this.#patienceMs = Math.min(this.#patienceMs, HURRY_MS)
  }

  /** Looks whether anything was taken since the last time. */
  look(now: number): void {
    const { outlet, cut } = this.#options
    const left = leftIn(outlet()?._handle)
    if (left === undefined || left !== this.#left) {
      this.#left = left
      this.#since = now
    } else if (now - this.#since > this.#patienceMs) cut()
  }

  #begin(): void {
    this.#patienceMs = this.#options.patienceMs
    this.#left = undefined
    slow.add(this)
    patient.add(this)
    watch ??= everyMs(LOOK_MS, lookAfterAll)
  }

  #end(): void {
    slow.delete(this)
    patient.delete(this)
  }
}

function leftIn(handle: Handle | null | undefined): number | undefined {
  if (handle?.writeQueueSize === undefined) return undefined
  return handle.writeQueueSize + (leftIn(handle._parent) ?? 0)
}

/** Looks after all for whom something waits, as long as there are any. */
function lookAfterAll(): void {
  const now = performance.now()
  for (const sending of slow) sending.look(now)
  if (slow.size > 0) return
  clearInterval(watch)
  watch = undefined
}
