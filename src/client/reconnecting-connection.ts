import { McpError, mcpError } from '../errors/error.ts'
import { CLOSED } from '../errors/rpc.ts'
import type { JsonObject, RequestId, Message } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import type { Answers } from './answers.ts'
import { orAborted } from '../base/backoff.ts'
import { createBackoff, type Backoff } from './backoff.ts'
import { Deadline } from '../rpc/deadline.ts'
import { capabilitiesOf, checkAnswers } from './declared.ts'
import type { State } from './events.ts'
import { toRemoteError } from './first-exchange.ts'
import type { Forms } from './forms.ts'
import { Ids } from './ids.ts'
import type { ConnectionOptions, ConnectionOwner, RequestOptions } from './connection-options.ts'
import { mayForget, negotiate, type Agreement, type Opened } from './negotiate.ts'
import { requireOffered } from './offered.ts'
import type { Progress } from './options.ts'
import { Questions } from './questions.ts'
import { LazyRecovery } from './lazy-recovery.ts'
import type { Attempt, Trouble } from './recovery.ts'
import { readResult } from './results.ts'
import { createSender, headersOf, encodeCall, encodeNote, type Sender } from './encode-call.ts'
import { forgetMode, recallMode, rememberMode } from './opening-mode.ts'

/** A connection that works, and what was agreed on it. */
interface Live {
  readonly transport: ClientTransport
  readonly agreement: Agreement
  /** How many requests wait for their answer on it. */
  waiting: number
}

/** Failures of a connection rather than of a request. */
const LOST: ReadonlySet<string> = new Set(['session_lost', 'connection_closed', 'stream_lost'])

/**
 * The way to one server, whatever happens to it: opens a connection when one is needed, sends requests, answers questions,
 * and opens a new connection when the old one is lost.
 */
export class ReconnectingConnection {
  readonly #options: ConnectionOptions
  readonly #owner: ConnectionOwner
  readonly #backoff: Backoff
  readonly #ids: Ids
  #answers: Answers
  #logLevel: string | undefined
  #sender: Sender
  #live: Promise<Live> | undefined
  #current: Live | undefined
  #state: State = 'connecting'
  #reopening = false
  /** Lines that are of no use for new requests, on which old ones still wait. */
  readonly #retired = new Set<Live>()
  readonly #questions: Questions
  readonly #recovery: LazyRecovery
  readonly #closing = new AbortController()

  constructor(options: ConnectionOptions, answers: Answers, owner: ConnectionOwner) {
    this.#options = options
    this.#backoff = createBackoff(options.pace)
    this.#ids = new Ids(options.maxId)
    this.#answers = checkAnswers(answers)
    this.#sender = this.#introduce()
    this.#owner = owner
    this.#questions = new Questions(owner.answer)
    const { recovery: pace, reauthenticate, events } = options
    this.#recovery = new LazyRecovery(pace, {
      reauthenticate,
      closing: this.#closing.signal,
      warn: (text) => events.emit('warning', text),
      hold: (ms) => this.#backoff.hold(ms),
    })
  }

  get state(): State {
    return this.#state
  }

  /** How questions are answered. */
  get answers(): Answers {
    return this.#answers
  }

  /** The agreement of the present connection; opens one when there is none. */
  async agreement(): Promise<Agreement> {
    return (await this.open()).agreement
  }

  /** The present connection, or a new one. Many who wait share one attempt. */
  open(): Promise<Live> {
    if (this.#state === 'closed') return Promise.reject(mcpError(CLOSED, {}))
    this.#live ??= this.#openNow().catch((error: unknown) => {
      this.#live = undefined
      throw error
    })
    return this.#live
  }

  /** Sends a request until it is answered, again when it was refused for now or its answer was lost and that is safe. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    let deadline = this.#deadline(method, options)
    let trouble: Trouble | undefined
    try {
      for (;;) {
        let live: Live | undefined
        try {
          this.#renew()
          live = this.#current ?? (await orAborted(this.open(), deadline.signal))
          return await this.#exchange(live, method, params, options, deadline)
        } catch (error) {
          trouble ??= { tries: 0, waits: 0, done: new Set() }
          trouble.tries++
          if (!(await this.#mayRepeat(error, live, { method, options, deadline, trouble }))) throw error
          if (!deadline.aborted) {
            deadline.touch()
            continue
          }
          deadline.end()
          deadline = this.#deadline(method, { ...options, totalMs: deadline.left })
        }
      }
    } finally {
      deadline.end()
    }
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    const { transport, agreement } = await this.open()
    const deadline = this.#deadline(method, {})
    const sent = transport.send(encodeNote(method, params, agreement.forms))
    await orAborted(sent, deadline.signal).finally(() => deadline.end())
  }

  /** Answers questions in another way from now on; where answers were declared at the handshake, opens anew. */
  async answer(answers: Answers): Promise<void> {
    this.#answers = checkAnswers(answers)
    this.#sender = this.#introduce()
    const live = await this.open()
    if (live.agreement.revision === LATEST) return
    await this.#drop(live)
    await this.open()
  }

  /** Wants log messages of a level and above with every answer, where requests say so themselves. */
  setLogLevel(level: string): void {
    this.#logLevel = level
    this.#sender = this.#introduce()
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const live = this.#live
    const retired = [...this.#retired]
    this.#setState('closed')
    this.#live = undefined
    this.#current = undefined
    this.#retired.clear()
    this.#closing.abort(mcpError(CLOSED, {}))
    this.#questions.drop()
    await Promise.all([
      live?.then(
        ({ transport }) => transport.close(),
        () => undefined,
      ),
      ...retired.map(({ transport }) => transport.close()),
    ])
  }

  async #openNow(again = false): Promise<Live> {
    const begun = performance.now()
    await this.#backoff.wait(this.#closing.signal)
    if (this.#state === 'closed') throw mcpError(CLOSED, {})
    const { open, key, revision, dialects, idleMs, probeMs, openMs = idleMs } = this.#options
    const remembered = dialects === undefined ? recallMode(key) : 'handshake'
    let live: Live | undefined
    let opened: Opened
    try {
      opened = await negotiate({
        open,
        events: {
          onMessage: (message) => this.#receive(message),
          onDown: (reason) => this.#lost(live, reason),
          onMissed: () => this.#owner.missed(),
          onNote: (kind, text) => this.#options.events.emit(kind === 'stderr' ? 'stderr' : 'warning', text),
        },
        sender: () => this.#sender,
        revision,
        remembered,
        dialects,
        timeoutMs: openMs,
        probeMs,
        signal: this.#closing.signal,
        nextId: () => this.#ids.next(),
      })
      const { transport, agreement } = opened
      live = { transport, agreement, waiting: 0 }
    } catch (error) {
      this.#backoff.failed()
      forgetMode(key)
      if (!again && (await (await this.#recovery.for(error))?.authenticated(error, begun)) === true)
        return this.#openNow(true)
      if (dialects === undefined && (remembered ?? 'request') !== 'request' && mayForget(error))
        return this.#openNow()
      throw error
    }
    if (this.#closing.signal.aborted) {
      await live.transport.close()
      throw mcpError(CLOSED, {})
    }
    this.#current = live
    this.#backoff.worked()
    // A revision that was insisted on says nothing about what else the server knows.
    if (revision === undefined) rememberMode(key, opened.mode)
    live.transport.listen?.()
    if (this.#reopening) this.#restore(live)
    this.#reopening = false
    this.#setState('ready')
    return live
  }

  /** Opens a new connection when the ids of this one are used up; what waits on the old one goes on waiting. */
  #renew(): void {
    if (!this.#ids.spent) return
    if (this.#current !== undefined) this.#retire(this.#current, new Error('the request ids are used up'))
    this.#ids.restart()
  }

  /** Says again what the server was told on the connection before. */
  #restore(live: Live): void {
    const { revision, capabilities } = live.agreement
    const level = this.#logLevel
    if (level === undefined || revision === LATEST || capabilities['logging'] === undefined) return
    const deadline = this.#deadline('logging/setLevel', {})
    this.#exchange(live, 'logging/setLevel', { level }, {}, deadline)
      .catch(() => undefined)
      .finally(() => deadline.end())
  }

  #deadline(method: string, { idleMs, totalMs, signal }: RequestOptions): Deadline {
    const lasting = methodRow(method)?.lasting === true
    return new Deadline({
      method,
      idleMs: lasting ? Number.POSITIVE_INFINITY : (idleMs ?? this.#options.idleMs),
      totalMs: lasting ? Number.POSITIVE_INFINITY : (totalMs ?? this.#options.totalMs),
      signal,
    })
  }

  async #exchange(
    live: Live,
    method: string,
    params: JsonObject,
    options: RequestOptions,
    deadline: Deadline,
  ): Promise<JsonObject> {
    const { transport, agreement } = live
    if (options.undeclared !== true) requireOffered(agreement, method)
    const id = this.#ids.next()
    const { revision, forms } = agreement
    options.onId?.(id)
    const wantsProgress =
      methodRow(method)?.rounds === true || (options.undeclared === true && options.onProgress !== undefined)
    const text = encodeCall({ id, method, params, revision, forms, sender: this.#sender, wantsProgress })
    const onProgress = (params: JsonObject): void => {
      deadline.touch()
      options.onProgress?.(params as unknown as Progress)
    }
    this.#ids.begin(id, wantsProgress ? onProgress : undefined)
    live.waiting++
    try {
      const answer = await transport.request({
        id,
        method,
        text,
        headers: () => ({
          ...options.headers,
          ...(revision === LATEST && headersOf(method, params, options.mirror)),
        }),
        cancel: deadline,
        onMessage: (message) => this.#receive(message, live),
      })
      this.#backoff.answered()
      if (answer.error !== undefined) throw await toRemoteError(answer.error, forms)
      return readResult(method, answer.result ?? {}, agreement)
    } catch (error) {
      // Nobody waits for this: a server that does not answer may not take the message either.
      if (deadline.aborted && transport.cancels === 'message')
        void this.#cancel(transport, id, forms, deadline.reason)
      throw deadline.aborted ? (deadline.reason as Error) : error
    } finally {
      this.#ids.end(id)
      live.waiting--
      this.#leave(live)
    }
  }

  async #cancel(transport: ClientTransport, requestId: number, forms: Forms, why: unknown): Promise<void> {
    const reason = why instanceof McpError ? why.message : 'cancelled'
    const text = encodeNote('notifications/cancelled', { requestId, reason }, forms)
    await transport.send(text).catch(() => undefined)
  }

  /** Takes what the server sent besides answers. */
  #receive(message: Message, live?: Live): void {
    const adapter = (live ?? this.#current)?.agreement.forms.adapter
    const { id, method, params: given } = adapter === undefined ? message : adapter.decode(message)
    if (method === undefined) return
    const params = given ?? {}
    if (id !== undefined) this.#reply(id, method, params, live).catch(() => undefined)
    else if (method === 'notifications/progress') this.#ids.progress(params)
    else if (method === 'notifications/cancelled') this.#questions.cancel(params['requestId'])
    else this.#owner.told(method, params)
  }

  async #reply(id: RequestId, method: string, params: JsonObject, from?: Live): Promise<void> {
    if (!this.#questions.begin()) return
    try {
      const { transport, agreement } = from ?? (await this.open())
      // At the newest revision servers send no requests, and clients no responses.
      if (agreement.revision === LATEST) return
      const text = await this.#questions.reply({ id, method, params }, agreement.forms)
      if (text !== undefined) await transport.send(text)
    } finally {
      this.#questions.end()
    }
  }

  #introduce(): Sender {
    const { client, extensions } = this.#options
    return createSender(client, { ...capabilitiesOf(this.#answers), ...extensions }, this.#logLevel)
  }

  /** Whether to try again, after what has to be done first: on a new connection where the old one is of no use. */
  async #mayRepeat(error: unknown, live: Live | undefined, attempt: Attempt): Promise<boolean> {
    const { method, options, trouble } = attempt
    if (!(error instanceof McpError) || this.#state === 'closed' || options.signal?.aborted === true)
      return false
    if (live !== undefined && LOST.has(error.kind)) {
      // A lost session was refused before anything was done, so this has not run; others on the connection may have.
      if (error.kind === 'session_lost') this.#retire(live, error)
      else if (error.kind === 'connection_closed') this.#lost(live, error)
      const isFirst = !trouble.done.has('reopen')
      trouble.done.add('reopen')
      return isFirst && (error.kind === 'session_lost' || options.repeatable === true)
    }
    if (methodRow(method)?.lasting === true) return false
    const leave = (): void => live && this.#retire(live, error)
    const recovery = await this.#recovery.for(error)
    return recovery?.prepare({ error, unsent: live === undefined, leave, ...attempt }) ?? false
  }

  /** The connection is of no use any more. */
  #lost(live: Live | undefined, reason: Error): void {
    if (live === undefined) return
    this.#retire(live, reason)
    this.#retired.delete(live)
    void live.transport.close().catch(() => undefined)
  }

  /** Sends nothing more on a connection; it is left when nothing waits on it any longer. */
  #retire(live: Live, reason: Error): void {
    if (this.#state === 'closed' || this.#current !== live) return
    this.#live = undefined
    this.#current = undefined
    this.#reopening = true
    this.#retired.add(live)
    this.#questions.drop()
    this.#options.events.emit('warning', reason.message)
    this.#setState('reconnecting')
    this.#leave(live)
  }

  #leave(live: Live): void {
    if (live.waiting > 0 || !this.#retired.delete(live)) return
    void live.transport.close().catch(() => undefined)
  }

  async #drop(live: Live): Promise<void> {
    if (this.#current === live) {
      this.#live = undefined
      this.#current = undefined
      this.#reopening = true
    }
    await live.transport.close()
  }

  #setState(state: State): void {
    if (this.#state === state) return
    this.#state = state
    this.#options.events.emit('state', state)
  }
}
