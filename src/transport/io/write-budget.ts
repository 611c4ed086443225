import { TOO_MUCH_UNSENT } from '../../errors/limits.ts'
import { mcpError } from '../../errors/error.ts'
import type { Limits } from '../../protocol/limits.ts'
import { everyMs, type Timer } from './timer.ts'

const LOOK_MS = 50
/** How long a client may take nothing of what waits for it while too much waits for all. */
const HURRY_MS = 1000

/** The bytes that wait for all clients of one server to read them. */
export class WritePool {
  readonly #limitBytes: number
  /** How many bytes wait. */
  total = 0
  /** Budgets for which something waits. */
  readonly #slow = new Set<WriteBudget>()
  /** Those among them that still have all the time there is. */
  readonly #patient = new Set<WriteBudget>()
  #timer: Timer

  constructor({ unsentBytes }: Pick<Limits, 'unsentBytes'>) {
    this.#limitBytes = unsentBytes
  }

  /** Throws when so much waits that nothing more should be written; clients that read nothing are cut off soon after. */
  check(): void {
    if (this.total <= this.#limitBytes) return
    for (const budget of this.#patient) budget.hurry()
    this.#patient.clear()
    throw mcpError(TOO_MUCH_UNSENT, {}, { retryAfterMs: 1000 })
  }

  add(budget: WriteBudget): void {
    this.#slow.add(budget)
    this.#patient.add(budget)
    this.#timer ??= everyMs(LOOK_MS, () => this.#look())
  }

  delete(budget: WriteBudget): void {
    this.#slow.delete(budget)
    this.#patient.delete(budget)
  }

  /** Looks after all budgets for which something waits, as long as there are any. */
  #look(): void {
    const now = performance.now()
    for (const budget of this.#slow) budget.look(now)
    if (this.#slow.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
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
  readonly pool: WritePool
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
    this.#options.pool.total += size - this.#size
    if (size === 0) this.#end()
    else if (this.#size === 0) this.#begin()
    this.#size = size
  }

  hurry(): void {
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
    this.#options.pool.add(this)
  }

  #end(): void {
    this.#options.pool.delete(this)
  }
}

function leftIn(handle: Handle | null | undefined): number | undefined {
  if (handle?.writeQueueSize === undefined) return undefined
  return handle.writeQueueSize + (leftIn(handle._parent) ?? 0)
}
