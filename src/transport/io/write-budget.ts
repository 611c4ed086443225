import { TOO_MUCH_UNSENT } from '../../errors/limits.ts'
import { mcpError } from '../../errors/error.ts'
import type { Limits } from '../../protocol/limits.ts'
import { everyMs, type Timer } from './timer.ts'

const CHECK_MS = 50
/** How long a client may read nothing while too many bytes wait for all clients together. */
const HURRY_MS = 1000

/** The bytes that the clients of one server have not read yet. */
export class WritePool {
  readonly #limitBytes: number
  /** How many bytes are unread. */
  total = 0
  /** Budgets with unread bytes. */
  readonly #slow = new Set<WriteBudget>()
  /** Those whose timeout has not been shortened. */
  readonly #patient = new Set<WriteBudget>()
  #timer: Timer

  constructor({ unsentBytes }: Pick<Limits, 'unsentBytes'>) {
    this.#limitBytes = unsentBytes
  }

  /** Throws when too many bytes are unread to write more; clients that read nothing then time out sooner. */
  check(): void {
    if (this.total <= this.#limitBytes) return
    for (const budget of this.#patient) budget.hurry()
    this.#patient.clear()
    throw mcpError(TOO_MUCH_UNSENT, {}, { retryAfterMs: 1000 })
  }

  add(budget: WriteBudget): void {
    this.#slow.add(budget)
    this.#patient.add(budget)
    this.#timer ??= everyMs(CHECK_MS, () => this.#checkAll())
  }

  delete(budget: WriteBudget): void {
    this.#slow.delete(budget)
    this.#patient.delete(budget)
  }

  /** Checks all budgets with unread bytes, as long as there are any. */
  #checkAll(): void {
    const now = performance.now()
    for (const budget of this.#slow) budget.check(now)
    if (this.#slow.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** A socket. Only its handle shows how many bytes the system has not sent yet. */
export interface Outlet {
  readonly _handle?: Handle | null
}

interface Handle {
  readonly writeQueueSize?: number
  /** The handle below TLS. */
  readonly _parent?: Handle
}

export interface WriteBudgetOptions {
  readonly pool: WritePool
  /** The socket; null before there is one. */
  outlet(): Outlet | null
  /** How long the client may read nothing while bytes wait for it. */
  readonly patienceMs: number
  /** Aborts the connection of a client that read nothing for too long. */
  abort(): void
}

/**
 * Counts the bytes that wait for one client and checks that it reads them. The socket's own timeout does not work for
 * that: it restarts with every byte that the client sends.
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

  /** Sets the number of unread bytes. */
  set(size: number): void {
    this.#options.pool.total += size - this.#size
    if (size === 0) this.#end()
    else if (this.#size === 0) this.#begin()
    this.#size = size
  }

  /** Shortens the timeout. */
  hurry(): void {
    this.#patienceMs = Math.min(this.#patienceMs, HURRY_MS)
  }

  /** Checks whether the client read anything since the last call. */
  check(now: number): void {
    const { outlet, abort } = this.#options
    const left = leftIn(outlet()?._handle)
    if (left === undefined || left !== this.#left) {
      this.#left = left
      this.#since = now
    } else if (now - this.#since > this.#patienceMs) abort()
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
