import { McpError, mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { TOOL_ARGUMENTS } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LOG_LEVELS } from '../protocol/log-levels.ts'
import type { ClientMethod, ServerMethod } from '../protocol/methods.ts'
import { checkOptions, checkWord } from '../base/options.ts'
import { LATEST } from '../protocol/revisions.ts'
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '../protocol/spec/2026-07-28.ts'
import type { Answers } from './answers.ts'
import { Cache } from './cache.ts'
import type { Check } from './checking.ts'
import { Elicitations } from './elicitations.ts'
import { changeOf, Emitter, type ClientEvents, type State } from './events.ts'
import { checkHeaders } from './headers.ts'
import { ReconnectingConnection } from './reconnecting-connection.ts'
import type { RequestOptions } from './connection-options.ts'
import { eachItem, toList, type ItemList, type ListMethod } from './lists.ts'
import { Middleware } from './middleware.ts'
import { has, offers } from './offered.ts'
import {
  CALL_OPTIONS,
  repeatable,
  toRequestOptions,
  type CallOptions,
  type ClientMiddleware,
  type ClientPlugin,
  type ClientRequest,
} from './options.ts'
import { KnownTools } from './known-tools.ts'
import type { ClientSettings, ServerAbout } from './settings.ts'
import type { AnyTools, CallArguments, Described, OutputOfTool, ToolName, TypedClient } from './typed.ts'
import { toValue } from './values.ts'
import type { Change, Watched } from './watched.ts'

/** A client of one server. It reconnects and retries by itself; close it when you no longer need it. */
export class Client<Tools = AnyTools> implements AsyncDisposable {
  readonly #connection: ReconnectingConnection
  readonly #events = new Emitter()
  readonly #cache = new Cache()
  readonly #tools = new KnownTools((text) => this.#events.emit('warning', text))
  readonly #paramHeaders: boolean
  readonly #checks: boolean
  readonly #maxPages: number
  readonly #elicitations = new Elicitations()
  readonly #middleware = new Middleware()

  /** Does not exist. It carries the types of the tools. */
  '~tools'?(tools: Described<Tools>): void

  /** @internal */
  constructor({ answers, paramHeaders, checks, maxPages, ...options }: ClientSettings) {
    this.#paramHeaders = paramHeaders
    this.#checks = checks
    this.#maxPages = maxPages
    this.#connection = new ReconnectingConnection({ ...options, events: this.#events }, answers, {
      onNotification: (method, params) => this.#onNotification(method, params),
      onMissed: () => {
        this.#cache.clear()
        this.#events.emit('missed', undefined)
      },
      answer: (method, params, signal) => this.#answer(method, params, signal),
    })
    this.#events.on('state', (state) => {
      if (state === 'reconnecting') this.#cache.clear()
    })
  }

  get state(): State {
    return this.#connection.state
  }

  /** Opens the connection now rather than with the first request. */
  async open(): Promise<this> {
    await this.#connection.open()
    return this
  }

  /** Returns the name and capabilities of the server, and the agreed revision. */
  async server(): Promise<ServerAbout> {
    const { server, capabilities, instructions, revision } = await this.#connection.agreement()
    return { info: server, capabilities, instructions, revision }
  }

  /** Whether the server declared a capability, such as `tools` or `resources.subscribe`. */
  async supports(capability: string): Promise<boolean> {
    return has((await this.#connection.agreement()).capabilities, capability)
  }

  /**
   * Calls a tool. Returns its structured content if there is any, its text if that is the only block, or else all
   * blocks. Throws a ToolError if the tool failed.
   */
  call<Name extends ToolName<Known>, Known = AnyTools>(
    this: TypedClient<Known>,
    name: Name,
    ...rest: CallArguments<Known, Name>
  ): Promise<OutputOfTool<Known, Name>>
  async call(name: string, input?: JsonObject, options?: CallOptions): Promise<unknown> {
    const result = await (this as unknown as Client).callRaw(name, input, options)
    return toValue(result as unknown as JsonObject)
  }

  /** Calls a tool and returns its complete result, even if the tool failed. */
  callRaw<Name extends ToolName<Known>, Known = AnyTools>(
    this: TypedClient<Known>,
    name: Name,
    ...rest: CallArguments<Known, Name>
  ): Promise<CallToolResult>
  async callRaw(name: string, input?: unknown, options: unknown = {}): Promise<unknown> {
    const params = { name, arguments: (input ?? {}) as JsonObject }
    if (this.#checks) await this.#checkInput(name, params.arguments)
    let result: JsonObject
    try {
      result = await this.#callOnce(params, options as CallOptions)
    } catch (error) {
      if (!(error instanceof McpError) || error.kind !== 'header_mismatch') throw error
      // The tool's schema says which arguments to send as headers; ours was missing or out of date.
      await this.#refreshTools()
      result = await this.#callOnce(params, options as CallOptions)
    }
    const output = this.#tools.get(name)?.output
    if (output !== undefined && result['isError'] !== true)
      checkOutput(name, await output(result['structuredContent']))
    return result
  }

  /** Lists all tools: `for await (const tool of client.tools())`, or `await client.tools().toArray()`. */
  tools(options: CallOptions = {}): ItemList<Tool> {
    return toList(this.#callableTools(this.#items('tools/list', 'tools', options)))
  }

  /** Lists all resources, with `for await` or `toArray()`. */
  resources(options: CallOptions = {}): ItemList<Resource> {
    return this.#list('resources/list', 'resources', options)
  }

  /** Lists all resource templates, with `for await` or `toArray()`. */
  templates(options: CallOptions = {}): ItemList<ResourceTemplate> {
    return this.#list('resources/templates/list', 'resourceTemplates', options)
  }

  /** Lists all prompts, with `for await` or `toArray()`. */
  prompts(options: CallOptions = {}): ItemList<Prompt> {
    return this.#list('prompts/list', 'prompts', options)
  }

  async read(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const result = await this.#fetch('resources/read', uri, { uri }, options)
    return result as unknown as ReadResourceResult
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const result = await this.#send('prompts/get', { name, arguments: args }, repeatable(options))
    return result as unknown as GetPromptResult
  }

  /** Suggests values for an argument of a prompt, or for a variable of a resource template (recognized by its braces). */
  async complete(
    owner: string,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<{
    readonly values: readonly string[]
    readonly total?: number | undefined
    readonly hasMore?: boolean | undefined
  }> {
    const ref = owner.includes('{')
      ? { type: 'ref/resource', uri: owner }
      : { type: 'ref/prompt', name: owner }
    const context = Object.keys(known).length === 0 ? {} : { context: { arguments: known } }
    const result = await this.#send('completion/complete', { ref, argument, ...context }, repeatable(options))
    return result['completion'] as { readonly values: readonly string[] }
  }

  /** Checks that the server responds. The newest revision has no `ping`, so it uses `server/discover`. */
  async ping(options: CallOptions = {}): Promise<void> {
    const { revision } = await this.#connection.agreement()
    await this.#send(revision === LATEST ? 'server/discover' : 'ping', {}, repeatable(options))
  }

  /** Asks for log messages of this level and above. They arrive as `log` events. */
  async setLogLevel(level: string): Promise<void> {
    checkWord('setLogLevel', 'level', level, LOG_LEVELS)
    this.#connection.setLogLevel(level)
    const { revision, capabilities } = await this.#connection.agreement()
    if (revision !== LATEST && capabilities['logging'] !== undefined)
      await this.#send('logging/setLevel', { level }, { idempotent: true })
  }

  /** Yields changes of the watched lists and resources, for as long as the loop runs. */
  async *watch(watched: Watched): AsyncGenerator<Change, void, undefined> {
    const { watch } = await import('./watch.ts')
    yield* watch(this.#connection, this.#events, watched)
  }

  /** Calls the listener for every change of a resource. Returns a function that ends the subscription. */
  async subscribe(uri: string, listener: (change: Change) => void): Promise<() => Promise<void>> {
    const { subscribe } = await import('./watch.ts')
    return subscribe(this.#connection, this.#events, uri, listener)
  }

  /** Sends any request, for methods without a function of their own. It does not check the server's capabilities. */
  async request(
    method: ServerMethod | (string & {}),
    params: JsonObject = {},
    options: CallOptions = {},
  ): Promise<JsonObject> {
    return this.#send(method, params, options, { undeclared: true })
  }

  /** Sends any notification. */
  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#connection.notify(method, params)
  }

  /** Replaces the functions that answer questions. It reconnects if the old ones were declared in a handshake. */
  answer(answers: Answers): Promise<void> {
    return this.#connection.answer(answers)
  }

  /** Notifies the server that the roots have changed. */
  async rootsChanged(): Promise<void> {
    const { revision } = await this.#connection.agreement()
    if (revision !== LATEST && this.#connection.answers.roots !== undefined)
      await this.notify('notifications/roots/list_changed')
  }

  /** Adds a listener for states, log messages, changes, warnings and so on. Returns a function that removes it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /**
   * Adds a plug-in, or middleware for all requests of the client or for one method. With a method that servers call,
   * such as `sampling/createMessage`, it wraps the answers. The first middleware is the outermost.
   */
  use(method: ServerMethod | ClientMethod | (string & {}), middleware: ClientMiddleware): this
  use(addition: ClientMiddleware | ClientPlugin): this
  use(first: string | ClientMiddleware | ClientPlugin, second?: ClientMiddleware): this {
    if (typeof first === 'string') this.#middleware.add(first, second)
    else if (typeof first === 'function') this.#middleware.add(undefined, first)
    else this.#middleware.plugIn(first)
    return this
  }

  /** Closes the connection and frees its resources. */
  close(): Promise<void> {
    return this.#connection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #callOnce(
    params: { readonly name: string; readonly arguments: JsonObject },
    options: CallOptions,
  ): Promise<JsonObject> {
    const known = this.#tools.get(params.name)
    const idempotent = options.idempotent ?? known?.repeatable ?? false
    return this.#send('tools/call', params, { ...options, idempotent }, { paramHeaders: known?.paramHeaders })
  }

  /** Rejects invalid arguments for a listed tool. The schema may be out of date, so it is fetched again first. */
  async #checkInput(name: string, input: JsonObject, isFresh = false): Promise<void> {
    const checked = await this.#tools.get(name)?.input?.(input)
    if (checked === undefined || checked.ok) return
    if (isFresh) throw mcpError(TOOL_ARGUMENTS, { name, issue: checked.issue })
    await this.#refreshTools()
    return this.#checkInput(name, input, true)
  }

  async #refreshTools(): Promise<void> {
    this.#cache.invalidate({ kind: 'tools' })
    for await (const _ of this.tools()) continue
  }

  /** Skips tools that cannot be called because they ask for invalid headers. */
  async *#callableTools(tools: AsyncGenerator<Tool, void, undefined>): AsyncGenerator<Tool, void, undefined> {
    const { revision } = await this.#connection.agreement()
    for await (const tool of tools) {
      const problem = await this.#tools.add(tool as unknown as JsonObject)
      if (problem === undefined || !this.#paramHeaders || revision !== LATEST) yield tool
      else this.#events.emit('warning', `skipped tool "${tool.name}": ${problem}`)
    }
  }

  #list<Item>(method: ListMethod, member: string, options: CallOptions): ItemList<Item> {
    return toList(this.#items(method, member, options))
  }

  /** Yields every item of a list; none if the server does not offer the list. */
  async *#items<Item>(
    method: ListMethod,
    member: string,
    options: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    const agreement = await this.#connection.agreement()
    if (!offers(agreement, method)) return
    const listed = { method, member, revision: agreement.revision, maxPages: this.#maxPages }
    yield* eachItem<Item>(listed, (params) =>
      this.#fetch(method, JSON.stringify(params['cursor'] ?? null), params, options),
    )
  }

  /** Sends a request unless its result is cached. Requests with their own headers are always sent. */
  async #fetch(
    method: string,
    detail: string,
    params: JsonObject,
    options: CallOptions,
  ): Promise<JsonObject> {
    const cache = this.#cache
    let isCacheable = options.headers === undefined
    const cached = isCacheable ? cache.get(method, detail) : undefined
    if (cached !== undefined) return cached
    // A result that depends on answers to the server's questions must not be cached.
    const onRound = (): void => void (isCacheable = false)
    const { changes } = cache
    const result = await this.#send(method, params, repeatable(options), { onRound })
    // The server may have found the result before a change that was reported in the meantime.
    if (isCacheable && changes === cache.changes) cache.put(method, detail, result)
    return result
  }

  #send(
    method: string,
    params: JsonObject,
    options: CallOptions,
    more: RequestOptions = {},
  ): Promise<JsonObject> {
    const request = { method, params, options }
    return this.#middleware.send(request, (wrapped) => this.#perform(wrapped, more))
  }

  async #perform({ method, params, options }: ClientRequest, more: RequestOptions): Promise<JsonObject> {
    checkOptions(method, options, CALL_OPTIONS)
    const { headers, meta } = options
    if (headers !== undefined) checkHeaders(headers)
    const own = params['_meta'] as JsonObject | undefined
    const sent = meta === undefined ? params : { ...params, _meta: { ...own, ...meta } }
    const settings: RequestOptions = { ...toRequestOptions(options), ...more }
    try {
      const result = await this.#connection.request(method, sent, settings)
      if (result['resultType'] !== 'input_required') return result
      const { finishRounds } = await import('./rounds.ts')
      const unfinished = { method, params: sent, options: settings, result }
      return await finishRounds(this.#connection, unfinished, (...question) => this.#answer(...question))
    } catch (error) {
      if (error instanceof TypeError)
        throw (await import('./unsendable.ts')).toUnsendable(error, method, sent)
      if (error instanceof McpError && error.kind === 'url_needed') this.#elicitations.expectAll(error)
      throw error
    }
  }

  #answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (method === 'elicitation/create') this.#elicitations.expect(params)
    return this.#middleware.answer({ method, params, options: { signal } }, async (request) => {
      const { answerQuestion } = await import('./answers.ts')
      return answerQuestion(this.#connection.answers, method, request.params, signal)
    })
  }

  #onNotification(method: string, params: JsonObject): void {
    const change = changeOf(method, params)
    if (change !== undefined) {
      this.#cache.invalidate(change)
      this.#events.emit('change', change)
    } else if (method === 'notifications/message')
      this.#events.emit('log', params as unknown as ClientEvents['log'])
    else if (method !== 'notifications/elicitation/complete')
      this.#events.emit('notification', { method, params })
    else if (this.#elicitations.complete(params['elicitationId']))
      this.#events.emit('elicited', { elicitationId: params['elicitationId'] as string })
  }
}

function checkOutput(name: string, checked: Awaited<ReturnType<Check>>): void {
  if (!checked.ok) throw mcpError(BAD_ANSWER, { method: `the tool "${name}"`, issue: checked.issue })
}
