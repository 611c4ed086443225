import { doubledMs } from '../../../base/backoff.ts'
import type { Place } from './stream.ts'

export interface Reconnect {
  /** The shortest time between two attempts, whatever the server asks for. */
  readonly floorMs?: number
  /** The delay before the first attempt if the server does not ask for one. */
  readonly firstMs?: number
  /** The longest delay. */
  readonly maxMs?: number
  /** How many attempts in a row may fail before a request does. */
  readonly tries?: number
}

export interface BackoffOptions {
  readonly reconnect?: Reconnect | undefined
  /** Random numbers from 0 to 1, which spread out the reconnects of many clients. */
  readonly random?: (() => number) | undefined
}

const DEFAULTS: Required<Reconnect> = { floorMs: 100, firstMs: 1000, maxMs: 30_000, tries: 5 }
const JITTER = 0.2
const LONGEST_MS = 2_000_000_000

/** How long to wait before reconnecting to one stream, and how often. */
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

  /** Records a connection that lasted this many milliseconds. */
  learn({ progressed, heard, asked, retryMs }: Place, ms: number): void {
    const { firstMs } = this.#options
    const sensible = this.#isSensible(retryMs ?? firstMs)
    if (progressed || (asked && sensible)) this.#vain = 0
    else this.#vain++
    if ((heard && sensible) || ms >= firstMs * 2 ** this.#growth) this.#growth = 0
  }

  /** Records a failed attempt. */
  failed(): void {
    this.#vain++
  }

  /** The delay before the next attempt in milliseconds. If the server asked for a delay, it grows little beyond that. */
  next(askedMs: number | undefined, welcome: boolean): number {
    const { floorMs, firstMs, maxMs } = this.#options
    const base = Math.max(floorMs, askedMs ?? firstMs)
    const polled = welcome && askedMs !== undefined && this.#isSensible(askedMs)
    const most = Math.max(base, polled ? firstMs : maxMs)
    const ms = doubledMs(this.#growth++, { firstMs: base, maxMs: most })
    return Math.min(Math.ceil(ms * (1 + JITTER * this.#random())), LONGEST_MS)
  }

  /** Whether to honour a server that asks for such a short delay. */
  #isSensible(askedMs: number): boolean {
    return askedMs >= this.#options.floorMs
  }
}
