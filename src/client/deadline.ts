import { mcpError, type McpError } from '../protocol/errors.ts'
import type { Stop } from '../rpc/line.ts'

export interface DeadlineOptions {
  readonly method: string
  /** Silence that ends a request; `Infinity` for requests that last. */
  readonly idleMs: number
  /** The longest that a request may take, however lively. */
  readonly totalMs: number
  /** The caller's own wish to stop. */
  readonly signal: AbortSignal | undefined
}

/** The time that one request has: it aborts when the time is up or the caller stops waiting. */
export interface Deadline extends Stop {
  /** The same as a signal, made when first asked for. */
  readonly signal: AbortSignal
  /** Something was heard: the silence begins anew. */
  touch(): void
  /** Frees what it holds. */
  end(): void
}

/** Begins the time of a request. */
export function createDeadline({ method, idleMs, totalMs, signal }: DeadlineOptions): Deadline {
  let controller: AbortController | undefined
  let reason: McpError | undefined
  let listener: (() => void) | undefined
  const abort = (why: McpError): void => {
    if (reason !== undefined) return
    reason = why
    controller?.abort(why)
    listener?.()
  }
  const expire = (ms: number): void => abort(mcpError('timeout', { method, ms }))
  const stop = (): void => abort(mcpError('cancelled', { reason: '' }, { cause: signal?.reason }))
  const lasts = Number.isFinite(totalMs)
  const begun = performance.now()
  // Until something is heard, the shorter of two times that begin together is enough.
  let total = lasts && totalMs < idleMs ? setTimeout(() => expire(totalMs), totalMs) : undefined
  let idle = Number.isFinite(idleMs) ? setTimeout(() => expire(idleMs), idleMs) : undefined
  if (signal?.aborted === true) stop()
  else signal?.addEventListener('abort', stop, { once: true })

  return {
    get aborted() {
      return reason !== undefined
    },
    get reason() {
      return reason
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (reason !== undefined) controller.abort(reason)
      }
      return controller.signal
    },
    onAbort: (next) => void (listener = next),
    touch() {
      if (idle === undefined || reason !== undefined) return
      const left = totalMs - (performance.now() - begun)
      if (lasts) total ??= setTimeout(() => expire(totalMs), Math.max(0, left))
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
