import { McpError } from '../errors/error.ts'
import { refusalRow } from '../errors/refusal.ts'
import type { RefusalRow } from '../protocol/refusals.ts'
import type { Deadline } from '../rpc/deadline.ts'
import { delayOf, pause } from '../base/backoff.ts'
import type { RequestOptions } from './connection-options.ts'
import type { RecoverySettings } from './recovery-options.ts'

/** The attempts at one request so far. */
export interface RetryHistory {
  /** The number of attempts, including those that could not be sent. */
  tries: number
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
}

/** The action before a retry. */
export interface Step {
  /** `wait`, `reopen` the connection at once, `move` to a new connection after a wait, or `authenticate` again. */
  readonly action: 'wait' | 'reopen' | 'move' | 'authenticate'
  readonly waitMs: number
}

export interface RecoveryHost {
  /** Gets new credentials, which are used from then on. */
  readonly reauthenticate: (() => Promise<void>) | undefined
  /** Aborts when the client closes. */
  readonly closing: AbortSignal
  warn(text: string): void
  /** Delays the next connection. */
  holdOff(ms: number): void
}

/** Prepares requests for a retry after a refusal: waits, renews credentials or retires the connection. */
export class Recovery {
  readonly #settings: RecoverySettings
  readonly #host: RecoveryHost
  #authenticating: Promise<boolean> | undefined
  #authenticatedAt = 0

  constructor(settings: RecoverySettings, host: RecoveryHost) {
    this.#settings = settings
    this.#host = host
  }

  /** Prepares a retry. Returns false if the request must not be retried. */
  async prepare(failed: FailedAttempt): Promise<boolean> {
    const { error, deadline, history, retire } = failed
    const step = nextStep(failed, this.#settings)
    if (step === undefined) return false
    const { action, waitMs } = step
    history.done.add(action)
    if (action === 'authenticate') {
      if (!(await this.#authenticate(deadline.begun))) return false
      // Transports other than HTTP send headers only when they connect.
      if (error.kind !== 'http_failed') retire()
      return !deadline.aborted
    }
    if (!(deadline.aborted ? waitMs < deadline.left : deadline.allows(waitMs))) return false
    if (action !== 'wait') retire()
    if (action === 'move') this.#host.holdOff(waitMs)
    if (waitMs > 0) await this.#wait(failed, waitMs)
    return !this.#host.closing.aborted
  }

  /** Renews the credentials if the error asks for that. Returns whether it did. */
  async authenticated(error: unknown, since: number): Promise<boolean> {
    return error instanceof McpError && asksForCredentials(error) && this.#authenticate(since)
  }

  async #wait({ error, method, deadline, history }: FailedAttempt, ms: number): Promise<void> {
    history.waits++
    const details = `${error.refusal ?? error.kind}; try ${history.tries + 1} of ${this.#settings.tries}`
    this.#host.warn(`retrying ${method} in ${Math.ceil(ms)} ms (${details})`)
    const { closing } = this.#host
    if (deadline.aborted) return pause(ms, closing)
    deadline.touch()
    await pause(ms, deadline.signal, closing)
    if (deadline.reason !== undefined) throw deadline.reason
  }

  /** Renews the credentials, unless that happened after `since`. Concurrent callers share the attempt. */
  #authenticate(since: number): Promise<boolean> {
    const { reauthenticate, warn } = this.#host
    if (reauthenticate === undefined) return Promise.resolve(false)
    if (this.#authenticatedAt > since) return Promise.resolve(true)
    this.#authenticating ??= reauthenticate()
      .then(
        () => {
          this.#authenticatedAt = performance.now()
          return true
        },
        (error: unknown) => {
          warn(
            `reauthenticate failed: ${error instanceof Error ? error.message : 'it did not throw an Error'}`,
          )
          return false
        },
      )
      .finally(() => (this.#authenticating = undefined))
    return this.#authenticating
  }
}

/** The action before the retry of a failed request; undefined if it must not be retried. */
export function nextStep(
  { error, history, options, unsent }: Pick<FailedAttempt, 'error' | 'history' | 'options' | 'unsent'>,
  settings: RecoverySettings,
  random: () => number = Math.random,
): Step | undefined {
  if (history.tries >= settings.tries) return undefined
  const action = reactionTo(error, history)
  const mayRepeat = unsent || options.repeatable === true
  if (action === undefined || (!mayRepeat && error.data?.['mayHaveRun'] === true)) return undefined
  // Opening a connection renews the credentials itself.
  if (action === 'authenticate' || action === 'reopen')
    return unsent || history.done.has(action) ? undefined : { action, waitMs: 0 }
  if (!mayRepeat && mayHaveRun(error)) return undefined
  if (error.kind === 'timeout' && !settings.timeouts) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined && retryAfterMs > settings.maxMs) return undefined
  const due = delayOf(history.waits, settings, random)
  return { action, waitMs: Math.max(due, (retryAfterMs ?? 0) + random() * settings.firstMs) }
}

function reactionTo(error: McpError, history: RetryHistory): Step['action'] | undefined {
  if (asksForCredentials(error)) return 'authenticate'
  const status = statusOf(error)
  if (status !== undefined && (error.kind === 'connect_failed' || error.refusal === undefined))
    return status === 429 || status === 503 ? 'wait' : undefined
  const row = refusalRow(error.refusal)
  return row === undefined ? undefined : reactionToRefusal(error, row, history)
}

function asksForCredentials(error: McpError): boolean {
  const row = error.kind === 'connect_failed' ? undefined : refusalRow(error.refusal)
  return row === undefined ? statusOf(error) === 401 : row.reaction === 'authenticate'
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
