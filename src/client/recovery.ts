import { AWAY } from '../errors/away.ts'
import type { McpError } from '../errors/error.ts'
import { AT_ONCE } from '../errors/retry-after.ts'
import { refusalRow } from '../errors/refusal.ts'
import { methodRow } from '../protocol/methods.ts'
import type { RefusalRow } from '../protocol/refusals.ts'
import type { Deadline } from '../rpc/deadline.ts'
import { delayOf, pause } from '../base/backoff.ts'
import type { RequestOptions } from './connection-options.ts'
import type { RecoverySettings } from './recovery-options.ts'

/** The attempts at one request so far. */
export interface RetryHistory {
  /** The number of attempts, including those that could not be sent. */
  tries: number
  /** The number of attempts that a server asked to repeat at once, because another node serves them. They do not count as tries. */
  redirects: number
  waits: number
  /** The actions taken, since some are taken only once per request. */
  readonly done: Set<Step['action']>
}

export interface Attempt {
  readonly method: string
  readonly options: RequestOptions
  readonly deadline: Deadline
  readonly history: RetryHistory
}

export interface FailedAttempt extends Attempt {
  readonly error: McpError
  /** Whether the request was not sent because the connection could not be opened. */
  readonly unsent: boolean
  /** Sends no more requests on the connection. */
  retire(): void
  /** Lets the next connection open with more scopes; undefined if the connection cannot. */
  readonly stepUp?: ((scopes: readonly string[]) => void) | undefined
}

/**
 * A client may have kept several connections to a node that stops, each of which rejects one request. More rejections than this are
 * no longer due to that.
 */
const MAX_REDIRECTS = 32

/** The action before a retry. */
export interface Step {
  /** `wait`, `reopen` the connection at once, or `move` to a new connection after a wait. */
  readonly action: 'wait' | 'reopen' | 'move'
  readonly waitMs: number
}

export interface RecoveryHost {
  /** Whether the credentials are renewed when a connection opens. */
  readonly renews: boolean
  /** Aborts when the client closes. */
  readonly closing: AbortSignal
  warn(text: string): void
  /** Delays the next connection. */
  holdOff(ms: number): void
}

/** Prepares requests for a retry after a refusal: waits or retires the connection. */
export class Recovery {
  readonly #settings: RecoverySettings
  readonly #host: RecoveryHost

  constructor(settings: RecoverySettings, host: RecoveryHost) {
    this.#settings = settings
    this.#host = host
  }

  /** Prepares a retry. Returns false if the request must not be retried. */
  async prepare(failed: FailedAttempt): Promise<boolean> {
    const { error, method, deadline, history, retire, stepUp } = failed
    const step = nextStep(failed, this.#settings, this.#host.renews)
    if (step === undefined) return false
    // Callers repeat a lasting request themselves, at their own pace.
    if (methodRow(method)?.lasting === true && !asksForCredentials(error)) return false
    const { action, waitMs } = step
    history.done.add(action)
    if (!(deadline.aborted ? waitMs < deadline.left : deadline.allows(waitMs))) return false
    if (isStepUp(error)) stepUp?.(error.data?.['scopes'] as readonly string[])
    if (action !== 'wait') retire()
    if (action === 'move') this.#host.holdOff(waitMs)
    if (isRedirect(error, history)) {
      history.redirects++
      history.tries--
    } else if (waitMs > 0) history.waits++
    if (waitMs > 0) await this.#wait(failed, waitMs)
    return !this.#host.closing.aborted
  }

  async #wait({ error, method, deadline, history }: FailedAttempt, ms: number): Promise<void> {
    const details = `${error.refusal ?? error.kind}; try ${history.tries + 1} of ${this.#settings.tries}`
    this.#host.warn(`retrying ${method} in ${Math.ceil(ms)} ms (${details})`)
    const { closing } = this.#host
    if (deadline.aborted) return pause(ms, closing)
    deadline.touch()
    await pause(ms, deadline.signal, closing)
    if (deadline.reason !== undefined) throw deadline.reason
  }
}

/** The action before the retry of a failed request; undefined if it must not be retried. */
export function nextStep(
  {
    error,
    history,
    options,
    unsent,
    stepUp,
  }: Pick<FailedAttempt, 'error' | 'history' | 'options' | 'unsent' | 'stepUp'>,
  settings: RecoverySettings,
  renews: boolean,
  random: () => number = Math.random,
): Step | undefined {
  if (history.tries >= settings.tries && !isRedirect(error, history)) return undefined
  const action = isStepUp(error) ? stepUp && 'reopen' : reactionTo(error, history, renews)
  const mayRepeat = unsent || options.repeatable === true
  if (action === undefined || (!mayRepeat && error.data?.['mayHaveRun'] === true)) return undefined
  if (action === 'reopen') return unsent || history.done.has(action) ? undefined : { action, waitMs: 0 }
  if (!mayRepeat && mayHaveRun(error)) return undefined
  if (error.kind === 'timeout' && !settings.timeouts) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined && retryAfterMs > settings.maxMs) return undefined
  const due = delayOf(history.waits, settings, random)
  return { action, waitMs: Math.max(due, (retryAfterMs ?? 0) + random() * settings.firstMs) }
}

function reactionTo(error: McpError, history: RetryHistory, renews: boolean): Step['action'] | undefined {
  // Over HTTP every request renews its credentials itself; elsewhere a connection keeps those that it opened with.
  if (asksForCredentials(error)) return renews && error.kind !== 'http_failed' ? 'reopen' : undefined
  const status = statusOf(error)
  if (status !== undefined && (error.kind === 'connect_failed' || error.refusal === undefined))
    return status === 429 || AWAY.has(status) ? 'wait' : undefined
  const row = refusalRow(error.refusal)
  return row === undefined ? undefined : reactionToRefusal(error, row, history)
}

/** Whether another node would serve the request at once. */
function isRedirect({ refusal, retryAfterMs }: McpError, { redirects }: RetryHistory): boolean {
  return refusal !== undefined && retryAfterMs === AT_ONCE.retryAfterMs && redirects < MAX_REDIRECTS
}

/** Whether a server rejected the credentials, or that there were none. */
export function asksForCredentials(error: McpError): boolean {
  const row = error.kind === 'connect_failed' ? undefined : refusalRow(error.refusal)
  return row === undefined ? statusOf(error) === 401 : row.reaction === 'authenticate'
}

/** Whether the credentials are good, but lack scopes. Over HTTP, more were then requested in vain. */
function isStepUp({ kind }: McpError): boolean {
  return kind === 'insufficient_scope'
}

/** The HTTP status of a rejection by the server or a proxy. */
function statusOf({ kind, data }: McpError): unknown {
  return kind === 'http_failed' || kind === 'connect_failed' ? data?.['status'] : undefined
}

function reactionToRefusal(
  error: McpError,
  row: RefusalRow,
  { tries }: RetryHistory,
): Step['action'] | undefined {
  switch (row.reaction) {
    case 'initialize':
      return 'reopen'
    case 'reconnect':
      if (error.refusal === 'SERVER_UNINITIALIZED') return 'reopen'
      if (error.refusal === 'SERVER_SHUTTING_DOWN') return 'move'
      // A server that was reachable a moment ago may be restarting. One that never was may not exist.
      return error.kind === 'connect_failed' && tries < 2 ? undefined : 'wait'
    case 'back off':
      // An internal error would most likely happen again.
      return error.refusal === 'INTERNAL_ERROR' ? undefined : 'wait'
    default:
      return undefined
  }
}

/** Whether the request may have run although the server or a proxy rejected it. */
function mayHaveRun(error: McpError): boolean {
  const row = refusalRow(error.refusal)
  return row === undefined ? statusOf(error) !== 429 : row.ran === true
}
