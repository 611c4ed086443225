import { BAD_OPTION } from '../../../errors/base.ts'
import { mcpError } from '../../../errors/error.ts'
import type { RequestLifetime } from '../../../rpc/call.ts'
import type { LifetimeOptions } from './lifetime.ts'
import type { Sweeper } from './sweeper.ts'

/** The longest time between two beats. */
const BEAT_MS = 5000
/** Timers may fire this much too early. */
const EARLY_MS = 5
/** A request that missed this many beats may have been stopped by the runtime. */
const MISSED_BEATS = 2

/** The open requests of this isolate. */
const open = new Set<WorkerLifetime>()
/** When each sweeper looked last, since it has no timer of its own here. */
const lookedAt = new WeakMap<Sweeper, number>()

/** The settings of this Worker. */
interface Settings {
  readonly compatibilityFlags?: Readonly<Record<string, boolean>>
}

/** Opens the lifetime of a request in a Worker. */
export function openLifetime(options: LifetimeOptions): RequestLifetime {
  const { compatibilityFlags } = (globalThis as { Cloudflare?: Settings }).Cloudflare ?? {}
  if (compatibilityFlags?.['handle_cross_request_promise_resolution'] === false) {
    const reason = 'before 2024-10-14 a request cannot reach the stream of another one; use a later date'
    throw mcpError(BAD_OPTION, { where: 'compatibility_date', reason })
  }
  for (const lifetime of open) lifetime.check()
  return new WorkerLifetime(options)
}

/**
 * The lifetime of a request in a Worker. There, a request may not use the streams and signals of another; all it may do is
 * settle a promise, and what waits for the promise continues on behalf of the request that created it. Timers end with
 * the request that started them, a request without a timer or other I/O counts as hung, and code stops without notice when
 * the runtime gives up on a request.
 */
class WorkerLifetime implements RequestLifetime {
  readonly #options: LifetimeOptions
  readonly #beatMs: number
  readonly #timer: ReturnType<typeof setInterval>
  readonly #acts: (() => void)[] = []
  #held: readonly { isOver(): boolean; lost(): void }[] = []
  #closed = false
  #beatAt = performance.now()
  /** When it was first noticed that beats are missing. */
  #missedAt: number | undefined
  #wake: () => void = () => undefined
  #finish: () => void = () => undefined

  constructor(options: LifetimeOptions) {
    this.#options = options
    this.#beatMs = Math.min(BEAT_MS, options.sweeper?.everyMs ?? BEAT_MS)
    this.#timer = setInterval(() => this.#beat(), this.#beatMs)
    options.execution?.waitUntil?.(new Promise<void>((resolve) => (this.#finish = resolve)))
    this.#sleep()
    open.add(this)
  }

  defer(act: () => void): void {
    if (open.has(this) && this.#acts.push(act) === 1) this.#wake()
  }

  hold(isOver: () => boolean, lost: () => void): void {
    this.#held = [...this.#held.filter((one) => !one.isOver()), { isOver, lost }]
  }

  close(): void {
    this.#closed = true
    this.#endIfOver()
  }

  /** Gives up a request that the runtime has stopped. If all were late, it still has time for another beat. */
  check(): void {
    const now = performance.now()
    if (now - this.#beatAt < MISSED_BEATS * this.#beatMs) return
    this.#missedAt ??= now
    if (now - this.#missedAt < this.#beatMs) return
    open.delete(this)
    for (const { lost } of this.#held) lost()
  }

  #endIfOver(): void {
    if (!this.#closed || !this.#held.every(({ isOver }) => isOver()) || !open.delete(this)) return
    this.#release()
  }

  #release(): void {
    clearInterval(this.#timer)
    this.#finish()
  }

  #sleep(): void {
    void new Promise<void>((resolve) => (this.#wake = resolve)).then(() => {
      this.#sleep()
      for (const act of this.#acts.splice(0)) queueMicrotask(act)
    })
  }

  #beat(): void {
    // It was given up too early: the runtime was only late.
    if (!open.has(this)) return this.#release()
    this.#beatAt = performance.now()
    this.#missedAt = undefined
    const { sweeper } = this.#options
    if (sweeper !== undefined && this.#beatAt - (lookedAt.get(sweeper) ?? 0) > sweeper.everyMs - EARLY_MS) {
      lookedAt.set(sweeper, this.#beatAt)
      sweeper.look()
    }
    this.#endIfOver()
  }
}
