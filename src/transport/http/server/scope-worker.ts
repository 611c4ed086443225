import { BAD_OPTION } from '../../../errors/base.ts'
import { mcpError } from '../../../errors/error.ts'
import type { RequestScope } from '../../../rpc/call.ts'
import type { ScopeOptions } from './scope.ts'
import type { Sweeper } from './sweeper.ts'

/** The longest time between two beats. */
const BEAT_MS = 5000
/** Timers may fire this much too early. */
const EARLY_MS = 5
/** A request that missed this many beats was stopped by the runtime. */
const MISSED_BEATS = 3

/** The open requests of this isolate. */
const open = new Set<WorkerScope>()
/** When each sweeper looked last, since it has no timer of its own here. */
const lookedAt = new WeakMap<Sweeper, number>()

/** The settings of this Worker. */
interface Settings {
  readonly compatibilityFlags?: Readonly<Record<string, boolean>>
}

/** Opens the scope of a request in a Worker. */
export function openScope(options: ScopeOptions): RequestScope {
  const { compatibilityFlags } = (globalThis as { Cloudflare?: Settings }).Cloudflare ?? {}
  if (compatibilityFlags?.['handle_cross_request_promise_resolution'] === false) {
    const reason = 'before 2024-10-14 a request cannot reach the stream of another one; use a later date'
    throw mcpError(BAD_OPTION, { where: 'compatibility_date', reason })
  }
  for (const scope of open) scope.check()
  return new WorkerScope(options)
}

/**
 * The scope of a request in a Worker. There, a request may not use the streams and signals of another; all it may do is
 * settle a promise, and what waits for the promise continues on behalf of the request that created it. Timers end with
 * the request that started them, a request without a timer or other I/O counts as hung, and code stops without notice when
 * the runtime gives up on a request.
 */
class WorkerScope implements RequestScope {
  readonly #options: ScopeOptions
  readonly #beatMs: number
  readonly #timer: ReturnType<typeof setInterval>
  readonly #acts: (() => void)[] = []
  #held: readonly { isOver(): boolean; lost(): void }[] = []
  #closed = false
  #beatAt = performance.now()
  #wake: () => void = () => undefined
  #finish: () => void = () => undefined

  constructor(options: ScopeOptions) {
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

  /** Gives up a request that the runtime has stopped. */
  check(): void {
    if (performance.now() - this.#beatAt < MISSED_BEATS * this.#beatMs) return
    open.delete(this)
    for (const { lost } of this.#held) lost()
  }

  #endIfOver(): void {
    if (!this.#closed || !this.#held.every(({ isOver }) => isOver()) || !open.delete(this)) return
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
    this.#beatAt = performance.now()
    const { sweeper } = this.#options
    if (sweeper !== undefined && this.#beatAt - (lookedAt.get(sweeper) ?? 0) > sweeper.everyMs - EARLY_MS) {
      lookedAt.set(sweeper, this.#beatAt)
      sweeper.look()
    }
    this.#endIfOver()
  }
}
