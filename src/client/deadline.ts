import { mcpError } from '../protocol/errors.ts'

export interface DeadlineOptions {
  readonly method: string
  /** Silence that ends a request; `Infinity` for requests that last. */
  readonly idleMs: number
  /** The longest that a request may take, however lively. */
  readonly totalMs: number
  /** The caller's own wish to stop. */
  readonly signal: AbortSignal | undefined
}

/** The time that one request has. */
export interface Deadline {
  /** Aborts when the time is up or the caller stops waiting. */
  readonly signal: AbortSignal
  /** Something was heard: the silence begins anew. */
  touch(): void
  /** Frees what it holds. */
  end(): void
}

/** Begins the time of a request. */
export function createDeadline({ method, idleMs, totalMs, signal }: DeadlineOptions): Deadline {
  const controller = new AbortController()
  const expire = (ms: number): void => controller.abort(mcpError('timeout', { method, ms }))
  const stop = (): void => controller.abort(mcpError('cancelled', { reason: '' }, { cause: signal?.reason }))
  const lasts = Number.isFinite(totalMs)
  const total = lasts && totalMs !== idleMs ? setTimeout(() => expire(totalMs), totalMs) : undefined
  let idle = Number.isFinite(idleMs) ? setTimeout(() => expire(idleMs), idleMs) : undefined
  if (signal?.aborted === true) stop()
  else signal?.addEventListener('abort', stop, { once: true })

  return {
    signal: controller.signal,
    touch() {
      if (idle === undefined) return
      clearTimeout(idle)
      idle = setTimeout(() => expire(idleMs), idleMs)
    },
    end() {
      clearTimeout(idle)
      clearTimeout(total)
      signal?.removeEventListener('abort', stop)
    },
  }
}
