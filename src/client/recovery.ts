import { McpError } from '../errors/error.ts'
import { refusalRow } from '../errors/refusal.ts'
import type { RefusalRow } from '../protocol/refusals.ts'
import type { Deadline } from '../rpc/deadline.ts'
import { delayOf, pause } from '../base/backoff.ts'
import type { RequestOptions } from './connection-options.ts'
import type { RecoveryPace } from './recovery-options.ts'

/** What happened to one request so far. */
export interface Trouble {
  /** How often it was sent, or could not be. */
  tries: number
  /** How often it waited. */
  waits: number
  /** What is done no more than once for it. */
  readonly done: Set<Step['does']>
}

/** A try at a request. */
export interface Attempt {
  readonly method: string
  readonly options: RequestOptions
  readonly deadline: Deadline
  readonly trouble: Trouble
}

/** One that failed. */
export interface Failed extends Attempt {
  readonly error: McpError
  /** Whether it was not sent, since the connection could not be opened. */
  readonly unsent: boolean
  /** Sends nothing more on its connection. */
  leave(): void
}

/** What to do before a request is sent again. */
export interface Step {
  /** `wait` for a while, `reopen` the connection at once, `move` to a new connection after a while, or `authenticate` again. */
  readonly does: 'wait' | 'reopen' | 'move' | 'authenticate'
  readonly waitMs: number
}

export interface RecoveryHost {
  /** Gets new credentials, which are used from then on. */
  readonly reauthenticate: (() => Promise<void>) | undefined
  /** Aborts when nobody wants anything any more. */
  readonly closing: AbortSignal
  warn(text: string): void
  /** Opens no connection for so long. */
  hold(ms: number): void
}

/** Does what has to be done so that requests which a server refused for now can be sent again. */
export class Recovery {
  readonly #pace: RecoveryPace
  readonly #host: RecoveryHost
  #authenticating: Promise<boolean> | undefined
  #authenticatedAt = 0

  constructor(pace: RecoveryPace, host: RecoveryHost) {
    this.#pace = pace
    this.#host = host
  }

  /** Prepares another try; false when there must not, or need not, be one. */
  async prepare(failed: Failed): Promise<boolean> {
    const { error, deadline, trouble, leave } = failed
    const step = nextStep(failed, this.#pace)
    if (step === undefined) return false
    const { does, waitMs } = step
    trouble.done.add(does)
    if (does === 'authenticate') {
      if (!(await this.#authenticate(deadline.begun))) return false
      // Where headers are sent only once, they are sent with a new connection.
      if (error.kind !== 'http_failed') leave()
      return !deadline.aborted
    }
    if (!(deadline.aborted ? waitMs < deadline.left : deadline.allows(waitMs))) return false
    if (does !== 'wait') leave()
    if (does === 'move') this.#host.hold(waitMs)
    if (waitMs > 0) await this.#wait(failed, waitMs)
    return !this.#host.closing.aborted
  }

  /** Whether an error says that the credentials are not taken, and there are others now. */
  async authenticated(error: unknown, since: number): Promise<boolean> {
    return error instanceof McpError && asksForCredentials(error) && this.#authenticate(since)
  }

  async #wait({ error, method, deadline, trouble }: Failed, ms: number): Promise<void> {
    trouble.waits++
    const why = `${error.refusal ?? error.kind}; try ${trouble.tries + 1} of ${this.#pace.tries}`
    this.#host.warn(`${method} is sent again in ${Math.ceil(ms)} ms (${why})`)
    const { closing } = this.#host
    if (deadline.aborted) return pause(ms, closing)
    deadline.touch()
    await pause(ms, deadline.signal, closing)
    if (deadline.reason !== undefined) throw deadline.reason
  }

  /** Gets new credentials, once for all who need them, unless that was done since a moment. Says whether it worked. */
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
          warn(`reauthenticate failed: ${error instanceof Error ? error.message : 'it threw no error'}`)
          return false
        },
      )
      .finally(() => (this.#authenticating = undefined))
    return this.#authenticating
  }
}

/** What to do about a failure so that the request may be sent again; undefined when it must not, or need not, be. */
export function nextStep(
  { error, trouble, options, unsent }: Pick<Failed, 'error' | 'trouble' | 'options' | 'unsent'>,
  pace: RecoveryPace,
  random: () => number = Math.random,
): Step | undefined {
  if (trouble.tries >= pace.tries) return undefined
  const does = reactionTo(error, trouble)
  if (does === undefined) return undefined
  // Opening a connection sees to its credentials by itself.
  if (does === 'authenticate' || does === 'reopen')
    return unsent || trouble.done.has(does) ? undefined : { does, waitMs: 0 }
  if (!unsent && options.repeatable !== true && mayHaveRun(error)) return undefined
  if (error.kind === 'timeout' && !pace.timeouts) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined && retryAfterMs > pace.maxMs) return undefined
  const due = delayOf(trouble.waits, pace, random)
  return { does, waitMs: Math.max(due, (retryAfterMs ?? 0) + random() * pace.firstMs) }
}

function reactionTo(error: McpError, trouble: Trouble): Step['does'] | undefined {
  if (asksForCredentials(error)) return 'authenticate'
  const status = statusOf(error)
  if (status !== undefined && (error.kind === 'connect_failed' || error.refusal === undefined))
    return status === 429 || status === 503 ? 'wait' : undefined
  const row = refusalRow(error.refusal)
  return row === undefined ? undefined : reactionToRefusal(error, row, trouble)
}

function asksForCredentials(error: McpError): boolean {
  const row = error.kind === 'connect_failed' ? undefined : refusalRow(error.refusal)
  return row === undefined ? statusOf(error) === 401 : row.reaction === 'authenticate'
}

/** The HTTP status with which a server, or what stands before it, refused. */
function statusOf({ kind, data }: McpError): unknown {
  return kind === 'http_failed' || kind === 'connect_failed' ? data?.['status'] : undefined
}

function reactionToRefusal(error: McpError, row: RefusalRow, { tries }: Trouble): Step['does'] | undefined {
  switch (row.reaction) {
    case 'initialize':
      return 'reopen'
    case 'reconnect':
      if (error.refusal === 'SERVER_UNINITIALIZED') return 'reopen'
      if (error.refusal === 'SERVER_SHUTTING_DOWN') return 'move'
      // A server that was there a moment ago may be on its way back; one that never was is not waited for.
      return error.kind === 'connect_failed' && tries < 2 ? undefined : 'wait'
    case 'back off':
      // What failed inside the server would only fail again.
      return error.refusal === 'INTERNAL_ERROR' ? undefined : 'wait'
    default:
      return undefined
  }
}

/** Whether a request may have run although the server, or what stands before it, refused it. */
function mayHaveRun(error: McpError): boolean {
  const row = refusalRow(error.refusal)
  return row === undefined ? statusOf(error) !== 429 : row.ran === true
}
