import { doubledMs } from '../../../base/backoff.ts'
import type { Place } from './stream.ts'

export interface Reconnect {
  /** The least time between two attempts, whatever the server asks. */
  readonly floorMs?: number
  /** The time before the first attempt where the server asks for none. */
  readonly firstMs?: number
  /** The most that waiting grows to. */
  readonly maxMs?: number
  /** How many attempts in a row may bring nothing before a request is given up. */
  readonly tries?: number
}

export interface BackoffOptions {
  readonly reconnect?: Reconnect | undefined
  /** Spreads out when clients come back; numbers from 0 up to 1. */
  readonly random?: (() => number) | undefined
}

const DEFAULTS: Required<Reconnect> = { floorMs: 100, firstMs: 1000, maxMs: 30_000, tries: 5 }
const JITTER = 0.2
const LONGEST_MS = 2_000_000_000

/** How long to wait before coming back to one stream, and how often. */
export class ReconnectBackoff {
  readonly #options: Required<Reconnect>
  readonly #random: () => number
  #growth = 0
  #vain = 0

  constructor(options: Reconnect = {}, random: () => number = Math.random) {
    this.#options = { ...DEFAULTS, ...options }
    this.#random = random
  }

  /** Whether the attempts are used up. */
  get spent(): boolean {
    return this.#vain >= this.#options.tries
  }

  /** Learns from a connection that ended after so many milliseconds. */
  learn({ progressed, heard, asked, retryMs }: Place, ms: number): void {
    const { firstMs } = this.#options
    const sensible = this.#isSensible(retryMs ?? firstMs)
    if (progressed || (asked && sensible)) this.#vain = 0
    else this.#vain++
    if ((heard && sensible) || ms >= firstMs * 2 ** this.#growth) this.#growth = 0
  }

  /** Learns that there was no connection. */
  failed(): void {
    this.#vain++
  }

  /** The milliseconds until the next attempt. A server that says when to come back is not kept waiting for long. */
  next(askedMs: number | undefined, welcome: boolean): number {
    const { floorMs, firstMs, maxMs } = this.#options
    const base = Math.max(floorMs, askedMs ?? firstMs)
    const polled = welcome && askedMs !== undefined && this.#isSensible(askedMs)
    const most = Math.max(base, polled ? firstMs : maxMs)
    const ms = doubledMs(this.#growth++, { firstMs: base, maxMs: most })
    return Math.min(Math.ceil(ms * (1 + JITTER * this.#random())), LONGEST_MS)
  }

  /** Whether a server that asks for so little time is taken at its word. */
  #isSensible(askedMs: number): boolean {
    return askedMs >= this.#options.floorMs
  }
}
