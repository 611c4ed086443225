import { McpError, mcpError } from '../errors/error.ts'
import { CLOSED } from '../errors/rpc.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject, RequestId, Message } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { Answers } from './answers.ts'
import { orAborted } from '../base/backoff.ts'
import { createBackoff, type Backoff } from './backoff.ts'
import type { Deadline } from '../rpc/deadline.ts'
import { Clock } from '../rpc/clock.ts'
import { isOtherLogin, type Logins } from '../rpc/logins.ts'
import { capabilitiesOf, checkAnswers } from './declared.ts'
import type { State } from './events.ts'
import { Ids } from './ids.ts'
import type { ConnectionOptions, ConnectionOwner, Live, RequestOptions } from './connection-options.ts'
import { negotiate, type Agreement, type Opened } from './negotiate.ts'
import { QuestionRoom } from './question-room.ts'
import type { Questions } from './questions.ts'
import { LazyRecovery } from './lazy-recovery.ts'
import type { Attempt, RetryHistory } from './recovery.ts'
import { createSender, encodeNotification, type Sender } from './encode-call.ts'
import { exchange, type Exchange } from './exchange.ts'
import { startDeadline } from './request-end.ts'
import { forgetMode, recallMode, rememberMode } from './opening-mode.ts'

/** Errors of the connection rather than of a request. */
const CONNECTION_ERRORS: ReadonlySet<string> = new Set(['session_lost', 'connection_closed', 'stream_lost'])

/**
 * A connection to one server that survives failures: it opens when it is first needed, sends requests, answers
 * questions, and reconnects when the transport fails.
 */
export class ReconnectingConnection {
  readonly #options: ConnectionOptions
  readonly #owner: ConnectionOwner
  readonly #backoff: Backoff
  readonly ids: Ids
  /** Undefined without credentials. */
  readonly logins: Logins | undefined
  #answers: Answers
  #logLevel: string | undefined
  #sender: Sender
  #live: Promise<Live> | undefined
  #current: Live | undefined
  #state: State = 'connecting'
  #reopening = false
  /** Connections that take no new requests, but still have pending ones. */
  readonly #retired = new Set<Live>()
  readonly #room = new QuestionRoom()
  #questions: Questions | undefined
  readonly #recovery: LazyRecovery
  /** Measures how long opening takes. It stands still, with all that waits, while a person logs in. */
  readonly #opening = new Clock()
  readonly #closing = new AbortController()
  /** Aborts when the client closes. */
  readonly closing: AbortSignal = this.#closing.signal

  constructor(options: ConnectionOptions, answers: Answers, owner: ConnectionOwner) {
    this.#options = options
    this.#backoff = createBackoff(options.backoff)
    this.ids = new Ids(options.maxId)
    this.#answers = checkAnswers(answers)
    this.#sender = this.#buildSender()
    this.#owner = owner
    const { recovery, logins, events } = options
    this.logins = logins
    this.#recovery = new LazyRecovery(recovery, {
      renews: logins !== undefined,
      closing: this.closing,
      warn: (text) => events.emit('warning', text),
      holdOff: (ms) => this.#backoff.holdOff(ms),
    })
  }

  get state(): State {
    return this.#state
  }

  get answers(): Answers {
    return this.#answers
  }

  /** Returns the agreement of the current connection, which it opens if needed. The options limit how long that may take. */
  async agreement(limits?: RequestOptions): Promise<Agreement> {
    if (limits === undefined) return (await this.open()).agreement
    const deadline = this.deadline('connect', limits)
    return (await this.#waitFor(this.open(), deadline).finally(() => deadline.end())).agreement
  }

  /** Waits for the connection to open. The time in which a person logs in does not count. */
  #waitFor(live: Promise<Live>, deadline: Deadline): Promise<Live> {
    this.#opening.join(deadline)
    return orAborted(live, deadline.signal).finally(() => this.#opening.leave(deadline))
  }

  /** Returns the current connection or opens one. Concurrent callers share the attempt. */
  open(): Promise<Live> {
    if (this.#state === 'closed') return Promise.reject(mcpError(CLOSED, {}))
    this.#live ??= this.#openNow().catch((error: unknown) => {
      this.#live = undefined
      if (this.#reopening) this.#setState('reconnecting')
      throw markReceived(error)
    })
    return this.#live
  }

  /** Sends a request. It retries after temporary errors, and after connection failures if that is safe. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    let deadline = this.deadline(method, options)
    let history: RetryHistory | undefined
    try {
      for (;;) {
        let live: Live | undefined
        try {
          this.#renewIds()
          const opens = this.#live === undefined
          live = this.#current ?? (await this.#waitFor(this.open(), deadline))
          // Another user may have replaced the connection as soon as it was open.
          if (live !== this.#current) continue
          return await this.#exchange(live, { method, params, options, deadline, opens })
        } catch (error) {
          history ??= { tries: 0, redirects: 0, waits: 0, done: new Set() }
          history.tries++
          if (!(await this.#mayRetry(error, live, { method, options, deadline, history }))) throw error
          if (!deadline.aborted) {
            deadline.touch()
            continue
          }
          deadline.end()
          deadline = this.deadline(method, { ...options, clock: deadline.clock })
        }
      }
    } finally {
      deadline.end()
    }
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    const opens = this.#live === undefined
    const live = await this.open()
    if (live !== this.#current) return this.notify(method, params)
    const { transport, agreement } = live
    const deadline = this.deadline(method, {})
    live.pending++
    try {
      if (!opens) await transport.confirm?.(method, deadline.signal)
      const sent = transport.send(encodeNotification(method, params, agreement.forms), this.#options.idleMs)
      return await orAborted(sent, deadline.signal)
    } catch (error) {
      if (!isOtherLogin(error)) throw error
      this.#retire(live, error)
    } finally {
      deadline.end()
      this.#closeIfRetired(live, 1)
    }
    return this.notify(method, params)
  }

  /** Replaces the functions that answer questions. It reconnects if the old ones were declared in a handshake. */
  async answer(answers: Answers): Promise<void> {
    this.#answers = checkAnswers(answers)
    this.#sender = this.#buildSender()
    const live = await this.open()
    if (live.agreement.revision === LATEST) return
    if (this.#current === live) {
      this.#live = undefined
      this.#current = undefined
      this.#reopening = true
    }
    await live.transport.close()
    await this.open()
  }

  /** Sets the log level that requests of the newest revision carry. */
  setLogLevel(level: string): void {
    this.#logLevel = level
    this.#sender = this.#buildSender()
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const all = [this.#current ?? this.#live?.catch(() => undefined), ...this.#retired]
    this.#setState('closed')
    this.#live = undefined
    this.#current = undefined
    this.#retired.clear()
    this.#closing.abort(mcpError(CLOSED, {}))
    this.#questions?.cancelAll()
    await Promise.all(all.map(async (one) => (await one)?.transport.close()))
    this.logins?.close()
  }

  /** Opens a connection. A second attempt is within the same time. */
  async #openNow(isSecond = false): Promise<Live> {
    await this.#backoff.wait(this.closing)
    if (this.closing.aborted) throw mcpError(CLOSED, {})
    const { open, key, revision, dialects, idleMs, probeMs, openMs = idleMs } = this.#options
    const remembered = dialects === undefined ? recallMode(key) : 'handshake'
    let live: Live | undefined
    let opened: Opened
    const clock = this.#opening
    if (!isSecond) clock.elapsed = 0
    const deadline = this.deadline('connect', { idleMs: Infinity, signal: this.closing, clock })
    try {
      opened = await negotiate({
        open,
        events: {
          signal: deadline.signal,
          onMessage: (message) => this.#receive(message, live),
          onDown: (reason) => live && this.#onDown(live, reason),
          onMissed: () => this.#owner.onMissed(),
          onNewCredentials: (reason, loggedOut) => this.#onNewCredentials(reason, loggedOut),
          onOtherLogin: (reason) => live && this.#retire(live, reason, 'reconnecting'),
          clock,
          onNote: (kind, text) => this.#options.events.emit(kind === 'stderr' ? 'stderr' : 'warning', text),
        },
        sender: () => this.#sender,
        revision,
        remembered,
        dialects,
        timeoutMs: openMs,
        probeMs,
        signal: deadline.signal,
        nextId: () => this.ids.next(),
      })
      const { transport, agreement, Questions } = opened
      if (Questions !== undefined)
        this.#questions ??= new Questions(this.#owner.answer, this.#options, this.#room)
      live = { transport, agreement, pending: 0, cancelled: [], cancelling: 0 }
    } catch (error) {
      this.#backoff.failed()
      forgetMode(key)
      if (dialects === undefined && (remembered ?? 'request') !== 'request') {
        const { mayLackHandshake } = await import('./handshake.ts')
        if (mayLackHandshake(error)) return await this.#openNow(true)
      }
      throw error
    } finally {
      deadline.end()
    }
    if (this.closing.aborted) {
      await live.transport.close()
      throw mcpError(CLOSED, {})
    }
    this.#current = live
    this.#backoff.opened()
    // If the caller chose the revision, the mode does not show what else the server supports.
    if (revision === undefined) rememberMode(key, opened.mode)
    const listening = live.transport.listen?.()
    // Some servers drop questions that they cannot send at once.
    if (Object.keys(this.#answers).length > 0) await listening
    if (this.closing.aborted) throw mcpError(CLOSED, {})
    if (this.#reopening) this.#restoreLogLevel(live)
    this.#reopening = false
    this.#setState('ready')
    return live
  }

  /** Replaces the connection when its ids are used up. Pending requests finish on the old one. */
  #renewIds(): void {
    if (!this.ids.exhausted) return
    if (this.#current !== undefined) this.#retire(this.#current, new Error('the request ids are used up'))
    this.ids.restart()
  }

  /** Sets the log level again, which the server keeps per connection. */
  #restoreLogLevel(live: Live): void {
    const { revision, capabilities } = live.agreement
    const level = this.#logLevel
    if (level === undefined || revision === LATEST || capabilities['logging'] === undefined) return
    const deadline = this.deadline('logging/setLevel', {})
    const request = { method: 'logging/setLevel', params: { level }, options: { isOwn: true }, opens: true }
    this.#exchange(live, { ...request, deadline })
      .catch(() => undefined)
      .finally(() => deadline.end())
  }

  /** Starts the timeouts of a request, or of something else that takes time. */
  deadline(method: string, options: RequestOptions): Deadline {
    return startDeadline(method, options, this.#options)
  }

  async #exchange(live: Live, request: Exchange): Promise<JsonObject> {
    live.pending++
    try {
      return await exchange(
        live,
        {
          ids: this.ids,
          sender: this.#sender,
          onMessage: (message) => this.#receive(message, live),
          onAnswer: () => this.#backoff.answered(),
        },
        request,
      )
    } finally {
      this.#closeIfRetired(live, 1)
    }
  }

  /** Handles requests and notifications from the server. */
  #receive(message: Message, live?: Live): void {
    const adapter = (live ?? this.#current)?.agreement.forms.adapter
    const { id, method, params: given } = adapter === undefined ? message : adapter.decode(message)
    if (method === undefined) return
    const params = given ?? {}
    if (id !== undefined) this.#reply(id, method, params, live).catch(() => undefined)
    else if (method === 'notifications/progress') this.ids.progress(params)
    else if (method === 'notifications/cancelled') this.#questions?.cancel(params['requestId'])
    else if (live?.isFormer !== true) this.#owner.onNotification(method, params)
  }

  async #reply(id: RequestId, method: string, params: JsonObject, from?: Live): Promise<void> {
    const bytes = this.#room.begin([id, method, params])
    if (bytes === 0) return
    try {
      const { transport, agreement } = from ?? (await this.open())
      // At the newest revision servers may not send requests, so there is nothing to answer.
      if (agreement.revision === LATEST) return
      const text = await this.#questions?.reply({ id, method, params }, agreement, transport)
      if (text !== undefined) await this.#questions?.send(text, transport)
    } finally {
      this.#room.end(bytes)
    }
  }

  #buildSender(): Sender {
    const { client, extensions } = this.#options
    return createSender(client, { ...capabilitiesOf(this.#answers), ...extensions }, this.#logLevel)
  }

  /** Whether to send a failed request again. It first waits or retires the connection as needed. */
  async #mayRetry(error: unknown, live: Live | undefined, attempt: Attempt): Promise<boolean> {
    const { options, history } = attempt
    if (!(error instanceof McpError) || this.closing.aborted || options.signal?.aborted === true) return false
    if (live !== undefined && isOtherLogin(error)) {
      this.#retire(live, error)
      return true
    }
    if (live !== undefined && CONNECTION_ERRORS.has(error.kind)) {
      // The server rejects a lost session before it runs the request. Other requests on the connection may have run.
      if (error.kind === 'session_lost') this.#retire(live, error)
      else if (error.kind === 'connection_closed') this.#onDown(live, error)
      const isFirst = !history.done.has('reopen')
      history.done.add('reopen')
      return isFirst && (error.kind === 'session_lost' || options.repeatable === true)
    }
    const retire = (): void => live && this.#retire(live, error)
    const recovery = await this.#recovery.for(error)
    const { stepUp } = live?.transport ?? {}
    return recovery?.prepare({ error, unsent: live === undefined, retire, stepUp, ...attempt }) ?? false
  }

  /** Aborts a connection that has failed. */
  #onDown(live: Live, reason: Error): void {
    this.#retire(live, reason)
    this.#retired.delete(live)
    void live.transport.close().catch(() => undefined)
  }

  #onNewCredentials(reason: Error, loggedOut = false): void {
    this.#owner.onNewCredentials()
    const live = this.#current
    if (live !== undefined && (loggedOut || live.transport.confirm !== undefined)) this.#retire(live, reason)
  }

  /**
   * Sends no more requests on a connection. It closes when the pending ones have finished. After a change of login, the next request opens
   * another one, and no watcher does so before.
   */
  #retire(
    live: Live,
    reason: Error,
    state: State = isOtherLogin(reason) ? 'connecting' : 'reconnecting',
  ): void {
    live.isFormer ||= isOtherLogin(reason)
    if (this.#state === 'closed' || this.#current !== live) return
    this.#live = undefined
    this.#current = undefined
    this.#reopening = true
    this.#retired.add(live)
    // A change of login has no effect on requests that are under way, nor does it mean that the server fails.
    if (live.isFormer) this.#backoff.answered()
    else this.#questions?.cancelAll()
    this.#options.events.emit('warning', reason.message)
    this.#setState(state)
    this.#closeIfRetired(live)
  }

  #closeIfRetired(live: Live, finished = 0): void {
    live.pending -= finished
    if (live.pending === 0 && this.#retired.delete(live)) void live.transport.close().catch(() => undefined)
  }

  #setState(state: State): void {
    if (this.#state === state) return
    this.#state = state
    this.#options.events.emit('state', state)
  }
}
