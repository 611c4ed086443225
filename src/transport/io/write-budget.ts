import { isWithinShare } from '../../base/share.ts'
import { Tally } from '../../base/tally.ts'
import { TOO_MUCH_UNSENT } from '../../errors/limits.ts'
import { mcpError } from '../../errors/error.ts'
import { SOON } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import { everyMs, type Timer } from './timer.ts'

const CHECK_MS = 50
/** How long a client may read nothing while too many bytes wait for all clients together. */
const HURRY_MS = 1000
/** The part of what waits for it that a client must then read in that time. */
const HURRY_PART = 1 / 10

/** The bytes that the clients of one server have not read yet. */
export class WritePool {
  readonly #limitBytes: number
  #total = 0
  /** How many bytes are unread by each caller. */
  readonly #callers = new Tally()
  /** Budgets with unread bytes. */
  readonly #slow = new Set<WriteBudget>()
  /** Those whose timeout has not been shortened. */
  readonly #patient = new Set<WriteBudget>()
  #timer: Timer

  constructor({ unsentBytes }: Pick<Limits, 'unsentBytes'>) {
    this.#limitBytes = unsentBytes
  }

  /** How many bytes are unread. */
  get total(): number {
    return this.#total
  }

  /**
   * Throws when too many bytes are unread to write more, by all clients or by this caller. In the first case, clients that
   * read too slowly time out sooner. Bytes that are about to be written count until the writer counts them itself, because
   * others may be checked before.
   */
  check(caller?: unknown, bytes = 0): void {
    if (!this.hasRoom(caller)) throw mcpError(TOO_MUCH_UNSENT, {}, SOON)
    if (bytes === 0) return
    this.count(caller, bytes)
    queueMicrotask(() => this.count(caller, -bytes))
  }

  /** Whether more may be written for a caller. If not because of all clients, those that read too slowly time out sooner. */
  hasRoom(caller?: unknown): boolean {
    if (this.#total === 0) return true
    if (!this.#isFull) return isWithinShare(this.#callers.get(caller), this.#total, this.#limitBytes)
    for (const budget of this.#patient) budget.hurry()
    this.#patient.clear()
    return false
  }

  /** Throws when too many bytes of this caller are unread, whatever the others do. */
  checkOwn(caller: unknown): void {
    if (this.#total === 0) return
    const own = this.#callers.get(caller)
    if (own > 0 && !isWithinShare(own, this.#total, this.#limitBytes))
      throw mcpError(TOO_MUCH_UNSENT, {}, SOON)
  }

  /** Counts further bytes for a caller, or fewer. */
  count(caller: unknown, bytes: number): void {
    this.#total += bytes
    if (caller !== undefined) this.#callers.add(caller, bytes)
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
    for (const budget of this.#slow) budget.check(now, this.#isFull)
    if (this.#slow.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  get #isFull(): boolean {
    return this.#total > this.#limitBytes
  }
}

/** A socket. Only its handle shows how many bytes the system has not sent yet. */
export interface Outlet {
  readonly _handle?: Handle | null
}

interface Handle {
  readonly writeQueueSize?: number
  /** The handle below TLS. */
  readonly _parent?: Handle | null | undefined
}

export interface WriteBudgetOptions {
  readonly pool: WritePool
  /** The unread bytes of one caller count together. Undefined if the caller is unknown. */
  readonly caller?: unknown
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
  #isHurried = false
  #left: number | undefined
  #since = 0

  constructor(options: WriteBudgetOptions) {
    this.#options = options
  }

  /** Sets the number of unread bytes. */
  set(size: number): void {
    const { pool, caller } = this.#options
    if (size !== this.#size) pool.count(caller, size - this.#size)
    if (size === 0) this.#end()
    else if (this.#size === 0) this.#begin()
    this.#size = size
  }

  /** Shortens the timeout. */
  hurry(): void {
    this.#isHurried = true
    this.#patienceMs = Math.min(this.#patienceMs, HURRY_MS)
  }

  /** Checks whether the client has read anything, or enough while too many bytes are unread by all. */
  check(now: number, isFull: boolean): void {
    const { outlet, abort } = this.#options
    const left = unsentBy(outlet())
    const enough = isFull && this.#isHurried ? this.#size * HURRY_PART : 1
    const last = this.#left
    if (left === undefined || last === undefined || left > last || last - left >= enough) {
      this.#left = left
      this.#since = now
    } else if (now - this.#since > this.#patienceMs) abort()
  }

  #begin(): void {
    this.#patienceMs = this.#options.patienceMs
    this.#isHurried = false
    this.#left = undefined
    this.#options.pool.add(this)
  }

  #end(): void {
    this.#options.pool.delete(this)
  }
}

/** How many bytes of a socket the system has not sent yet; undefined if it does not say. */
export function unsentBy(outlet: Outlet | null): number | undefined {
  return leftIn(outlet?._handle)
}

function leftIn(handle: Handle | null | undefined): number | undefined {
  if (handle?.writeQueueSize === undefined) return undefined
  return handle.writeQueueSize + (leftIn(handle._parent) ?? 0)
}
