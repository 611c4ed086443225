import { McpError } from '../errors/error.ts'
import { oneLine } from '../errors/printable.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { STREAMED_CALL } from '../protocol/meta.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { Tool } from '../protocol/spec/2026-07-28.ts'
import { Clock } from '../rpc/clock.ts'
import { Cache } from './cache.ts'
import type { Elicitations } from './elicitations.ts'
import { changeOf, Emitter, withTypes, type ClientEvents } from './events.ts'
import { checkHeaders } from './headers.ts'
import type { QuestionRate } from './question-rate.ts'
import { ReconnectingConnection } from './reconnecting-connection.ts'
import type { RequestOptions } from './connection-options.ts'
import type { ListMethod, Reading } from './lists.ts'
import { loadAnswers } from './load-answers.ts'
import { Middleware } from './middleware.ts'
import { offers } from './offered.ts'
import {
  CALL_OPTIONS,
  repeatable,
  toRequestOptions,
  type CallOptions,
  type ClientRequest,
} from './options.ts'
import type { KnownTool, KnownTools } from './known-tools.ts'
import type { ClientSettings } from './settings.ts'

/** The names of the levels are shorter. */
const MAX_LEVEL = 32
const CALL_FORM = "the first argument is the name of the tool; write call('add', { a: 1, b: 2 })"

/**
 * What a client and its server exchange: requests, which pass the middleware and may be answered from the cache, and the
 * questions and notifications of the server.
 */
export class Conversation {
  readonly connection: ReconnectingConnection
  readonly events: Emitter = new Emitter()
  readonly middleware: Middleware = new Middleware()
  readonly #cache = new Cache()
  /** The readings of its lists that run, and the last ones that are over. */
  readonly #readings = new Set<Reading>()
  /** The tools that were listed. */
  readonly known: Map<string, KnownTool> = new Map()
  #tools: KnownTools | undefined
  readonly #paramHeaders: boolean
  /** Whether the input of calls is checked. */
  readonly checks: boolean
  readonly limits: ClientSettings['limits']
  readonly #maxPages: number
  /** Whether lost requests are repeated. */
  readonly #recovers: boolean
  readonly #maxQuestions: number
  /** Counts questions, once there is one. */
  #rate: QuestionRate | undefined
  /** The URLs that the server asked to open, once there is one. */
  #elicitations: Elicitations | undefined

  constructor({ answers, paramHeaders, checks, limits, maxPages, maxQuestions, ...options }: ClientSettings) {
    this.limits = limits
    this.#paramHeaders = paramHeaders
    this.checks = checks
    this.#maxPages = maxPages
    this.#recovers = options.recovery !== undefined
    this.#maxQuestions = maxQuestions
    const settings = { ...options, events: this.events }
    this.connection = new ReconnectingConnection(settings, answers, {
      onNotification: (method, params) => this.#onNotification(method, params),
      onMissed: () => {
        this.#cache.clear()
        this.events.emit('missed', undefined)
      },
      onNewCredentials: () => this.#cache.clear(),
      answer: (method, params, signal) => this.answer(method, params, signal),
    })
    this.events.on('state', (state) => {
      if (state === 'reconnecting') this.#cache.clear()
    })
  }

  /** Calls a tool. Returns its complete result, even if the tool failed; with `asTask`, perhaps a task. */
  async call(
    name: string,
    input: unknown,
    options: CallOptions,
    asTask?: JsonObject,
    clock: Clock = new Clock(),
  ): Promise<JsonObject> {
    if (typeof name !== 'string') throw badOption('call', CALL_FORM)
    const params = { name, arguments: (input ?? {}) as JsonObject }
    const refresh = (): Promise<void> => this.refreshTools(options, clock)
    if (this.checks) await (await import('./check-input.ts')).checkInput(this.known, params, refresh)
    // Then the connection repeats it by itself.
    const wasRepeatable = this.known.get(name)?.repeatable === true
    const callOnce = (): Promise<JsonObject> => this.#callOnce(params, options, { clock, asTask })
    const isOutdated = async (failed: unknown): Promise<boolean> =>
      !(failed instanceof McpError && failed.kind === 'timeout') &&
      (await import('./call-again.ts')).isOutdated(this, name, failed, refresh)
    const mayRepeat = async (error: unknown): Promise<boolean> =>
      this.#recovers &&
      !wasRepeatable &&
      options.idempotent === undefined &&
      (await import('./call-again.ts')).isRepeatable(this, name, error, () =>
        this.refreshTools({ ...options, timeout: options.timeout ?? '5s' }, clock),
      )
    let result = await callOnce().catch(async (error: unknown) => {
      if ((await isOutdated(error)) || (await mayRepeat(error))) return callOnce()
      throw error
    })
    if (result['isError'] === true && (await isOutdated(result))) result = await callOnce()
    return result['resultType'] === 'task' ? result : this.checkOutput(name, result)
  }

  /** Rejects a result that does not match the output schema of the tool, if it is known. */
  async checkOutput(name: string, result: JsonObject): Promise<JsonObject> {
    await this.known.get(name)?.checkResult(result)
    return result
  }

  /** Lists the tools except those that cannot be called because they ask for invalid headers. */
  async *tools(options: CallOptions, clock?: Clock): AsyncGenerator<Tool, void, undefined> {
    const { KnownTools } = await import('./known-tools.ts')
    const tools = (this.#tools ??= new KnownTools((text) => this.events.emit('warning', text), this.known))
    let skipped = 0
    let first = ''
    try {
      for await (const tool of this.items<Tool>('tools/list', 'tools', options, clock)) {
        const problem = tools.add(tool as unknown as JsonObject)
        const isFine = problem === undefined || !this.#paramHeaders
        if (isFine || (await this.connection.agreement()).revision !== LATEST) yield tool
        else if (skipped++ === 0) first = `skipped tool "${tool.name}": ${problem}`
      }
    } finally {
      const others = skipped > 1 ? `, and ${skipped - 1} more` : ''
      if (skipped > 0) this.events.emit('warning', first + others)
    }
  }

  /** Yields every item of a list; none if the server does not offer the list. */
  async *items<Item>(
    method: ListMethod,
    member: string,
    options: CallOptions,
    clock: Clock = new Clock(),
  ): AsyncGenerator<Item, void, undefined> {
    checkOptions(method, options, CALL_OPTIONS)
    const agreement = await this.connection.agreement({ ...toRequestOptions(options), clock })
    if (!offers(agreement, method)) return
    const listed = {
      method,
      member,
      revision: agreement.revision,
      maxPages: this.#maxPages,
      maxLength: this.limits.uriLength,
      readings: this.#readings,
      warn: (text: string): void => this.events.emit('warning', text),
      clock,
    }
    const { eachItem } = await import('./lists.ts')
    yield* eachItem<Item>(listed, (params) =>
      this.fetch(method, JSON.stringify(params['cursor'] ?? null), params, options, clock),
    )
  }

  /**
   * Sends a request, through the middleware, unless its result is cached. Requests with their own headers, `auth` or `_meta`, which may name
   * a user, are always sent, and so are those whose params the middleware changed.
   */
  fetch(
    method: string,
    detail: string,
    params: JsonObject,
    options: CallOptions,
    clock?: Clock,
  ): Promise<JsonObject> {
    const sent = JSON.stringify(params)
    return this.middleware.send({ method, params, options: repeatable(options) }, (wrapped) => {
      const isChanged = JSON.stringify(wrapped.params) !== sent
      return this.#fetchOnce(wrapped, isChanged ? undefined : detail, clock)
    })
  }

  /** Sends a request unless its result is cached; without `detail`, it is not. */
  async #fetchOnce(request: ClientRequest, detail: string | undefined, clock?: Clock): Promise<JsonObject> {
    const cache = this.#cache
    const { method, options } = request
    const isPlain = (options.headers ?? options.auth ?? options.meta) === undefined
    let isCacheable = isPlain && detail !== undefined
    const cached = isCacheable ? cache.get(method, detail!) : undefined
    if (cached !== undefined) {
      const { connection } = this
      const before = cache.changes
      // Clears the cache if the program uses the credentials of another user by now.
      await connection.logins?.checkBy(connection.deadline(method, { ...toRequestOptions(options), clock }))
      if (before === cache.changes) return cached
    }
    // A result that depends on answers to the server's questions must not be cached.
    const onRound = (): void => void (isCacheable = false)
    const { changes } = cache
    const result = await this.#perform(request, { onRound, clock })
    // The server may have found the result before a change that was reported in the meantime.
    if (isCacheable && changes === cache.changes) cache.put(method, detail!, result)
    return result
  }

  /** Sends a request, through the middleware. */
  send(
    method: string,
    params: JsonObject,
    options: CallOptions,
    more: RequestOptions = {},
  ): Promise<JsonObject> {
    const request = { method, params, options }
    return this.middleware.send(request, (wrapped) => this.#perform(wrapped, more))
  }

  /** Sends any request, through the middleware, whether or not the server declared it. Streamed calls are checked as `call` does. */
  async request(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> {
    if (method !== STREAMED_CALL) return this.send(method, params, options, { undeclared: true })
    return (await import('./streamed-call.ts')).callStreamed(this, params, options)
  }

  #callOnce(
    params: { readonly name: string; readonly arguments: JsonObject },
    options: CallOptions,
    more: RequestOptions,
  ): Promise<JsonObject> {
    const { repeatable = false, paramHeaders, added } = this.known.get(params.name) ?? {}
    const idempotent = options.idempotent ?? repeatable
    const sent = { ...params, ...(more.asTask ?? added) }
    return this.send('tools/call', sent, { ...options, idempotent }, { ...more, paramHeaders })
  }

  /** Removes cached results that may be out of date. */
  forget(change: ClientEvents['change']): void {
    this.#cache.invalidate(change)
  }

  /** Lists the tools again, with the options of the call that needs it. */
  async refreshTools(options: CallOptions, clock: Clock): Promise<void> {
    this.#cache.invalidate({ kind: 'tools' })
    for await (const _ of this.tools(options, clock)) continue
  }

  async #perform({ method, params, options }: ClientRequest, more: RequestOptions): Promise<JsonObject> {
    checkOptions(method, options, CALL_OPTIONS)
    const { headers, auth, meta } = options
    if (auth !== undefined && !this.#paramHeaders) throw (await import('./unsendable.ts')).noAuth(method)
    if (headers !== undefined) checkHeaders(headers)
    const { uri } = params
    const { uriLength } = this.limits
    if (this.#paramHeaders && typeof uri === 'string' && uri.length > uriLength)
      throw (await import('./unsendable.ts')).uriTooLong(uriLength)
    const own = params['_meta'] as JsonObject | undefined
    const sent = meta === undefined ? params : { ...params, _meta: { ...own, ...meta } }
    const settings: RequestOptions = {
      ...toRequestOptions(options),
      ...more,
      clock: more.clock ?? new Clock(),
    }
    try {
      const result = await this.connection.request(method, sent, settings)
      if (result['resultType'] === undefined) return result
      const { finish } = await import('./unfinished.ts')
      return await finish(this, { method, params: sent, options: settings, result })
    } catch (error) {
      if (error instanceof TypeError)
        throw (await import('./unsendable.ts')).toUnsendable(error, method, sent)
      if (error instanceof McpError && error.kind === 'url_needed') (await this.#opened()).expectAll(error)
      throw error
    }
  }

  /** Answers a question of the server. */
  async answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { answers } = this.connection
    const { answerQuestion, QuestionRate } = await loadAnswers()
    this.#rate ??= new QuestionRate(this.#maxQuestions)
    this.#rate.count(method)
    return this.middleware.answer({ method, params, options: { signal } }, async (request) => {
      if (answers.elicitUrl !== undefined) (await this.#opened()).expect(params)
      return answerQuestion(answers, method, request.params, signal)
    })
  }

  async #opened(): Promise<Elicitations> {
    const { Elicitations } = await import('./elicitations.ts')
    return (this.#elicitations ??= new Elicitations())
  }

  #onNotification(method: string, params: JsonObject): void {
    const change = changeOf(method, params)
    if (change !== undefined) {
      this.#cache.invalidate(change)
      this.events.emit('change', change)
    } else if (method === 'notifications/message') {
      const { level, data } = params
      if (typeof level !== 'string') return
      const message = {
        ...withTypes(params, { logger: 'string', _meta: 'object' }),
        level: oneLine(level.slice(0, MAX_LEVEL)),
        data,
      }
      this.events.emit('log', message as unknown as ClientEvents['log'])
    } else if (method !== 'notifications/elicitation/complete')
      this.events.emit('notification', { method, params })
    else if (this.#elicitations?.complete(params['elicitationId']))
      this.events.emit('elicited', { elicitationId: params['elicitationId'] as string })
  }
}
