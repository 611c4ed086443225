import { McpError, mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { TOOL_ARGUMENTS } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LOG_LEVELS } from '../protocol/log-levels.ts'
import { checkOptions, checkWord } from '../base/options.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
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
import type { ConnectionOptions, RequestOptions } from './connection-options.ts'
import { eachItem, type ListMethod } from './lists.ts'
import { Middleware } from './middleware.ts'
import { has, offers } from './offered.ts'
import {
  CALL_OPTIONS,
  toRequestOptions,
  type CallOptions,
  type ClientMiddleware,
  type ClientPlugin,
  type ClientRequest,
} from './options.ts'
import { KnownTools } from './known-tools.ts'
import type { AnyTools, InputOfTool, ToolName, OutputOfTool } from './typed.ts'
import { toValue } from './values.ts'
import type { Change, Watched } from './watched.ts'

/** What a server says of itself. */
export interface ServerAbout {
  readonly revision: Revision
  readonly info: JsonObject | undefined
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface ClientSettings extends Omit<ConnectionOptions, 'events'> {
  readonly answers: Answers
  /** Whether arguments may have to travel as headers, so that tools that ask for impossible ones cannot be called. */
  readonly mirrors: boolean
  /** Whether arguments are checked before they are sent. */
  readonly checks: boolean
  /** The most pages of one list. */
  readonly maxPages: number
}

/** A client of one server. It recovers by itself what can be recovered; close it when it is no longer needed. */
export class Client<Tools = AnyTools> implements AsyncDisposable {
  readonly #connection: ReconnectingConnection
  readonly #events = new Emitter()
  readonly #cache = new Cache()
  readonly #tools = new KnownTools()
  readonly #mirrors: boolean
  readonly #checks: boolean
  readonly #maxPages: number
  readonly #elicitations = new Elicitations()
  readonly #middleware = new Middleware()

  /** @internal */
  constructor({ answers, mirrors, checks, maxPages, ...options }: ClientSettings) {
    this.#mirrors = mirrors
    this.#checks = checks
    this.#maxPages = maxPages
    this.#connection = new ReconnectingConnection({ ...options, events: this.#events }, answers, {
      told: (method, params) => this.#told(method, params),
      missed: () => {
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

  /** What the server is called and offers, and the revision that is spoken with it. */
  async server(): Promise<ServerAbout> {
    const { server, capabilities, instructions, revision } = await this.#connection.agreement()
    return { info: server, capabilities, instructions, revision }
  }

  /** Whether the server declared a capability, as `tools` or `resources.subscribe`. */
  async supports(capability: string): Promise<boolean> {
    return has((await this.#connection.agreement()).capabilities, capability)
  }

  /** Calls a tool: structured content, else the text of an only text block, else all blocks. Throws ToolError when it failed. */
  async call<Name extends ToolName<Tools>>(
    name: Name,
    input?: InputOfTool<Tools, Name>,
    options: CallOptions = {},
  ): Promise<OutputOfTool<Tools, Name>> {
    return toValue((await this.callRaw(name, input, options)) as unknown as JsonObject) as OutputOfTool<
      Tools,
      Name
    >
  }

  /** Calls a tool and gives back its whole result, failed or not. */
  async callRaw<Name extends ToolName<Tools>>(
    name: Name,
    input?: InputOfTool<Tools, Name>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    const params = { name, arguments: (input ?? {}) as JsonObject }
    if (this.#checks) await this.#checkInput(name, params.arguments)
    let result: JsonObject
    try {
      result = await this.#callOnce(params, options)
    } catch (error) {
      if (!(error instanceof McpError) || error.kind !== 'header_mismatch') throw error
      // The tool's schema says which arguments travel as headers; what we knew of it was missing or old.
      await this.#learn()
      result = await this.#callOnce(params, options)
    }
    const output = this.#tools.get(name)?.output
    if (output !== undefined && result['isError'] !== true)
      checkOutput(name, await output(result['structuredContent']))
    return result as unknown as CallToolResult
  }

  /** Every tool. */
  tools(options: CallOptions = {}): AsyncGenerator<Tool, void, undefined> {
    return this.#usable(this.#list<Tool>('tools/list', 'tools', options))
  }

  resources(options: CallOptions = {}): AsyncGenerator<Resource, void, undefined> {
    return this.#list('resources/list', 'resources', options)
  }

  templates(options: CallOptions = {}): AsyncGenerator<ResourceTemplate, void, undefined> {
    return this.#list('resources/templates/list', 'resourceTemplates', options)
  }

  prompts(options: CallOptions = {}): AsyncGenerator<Prompt, void, undefined> {
    return this.#list('prompts/list', 'prompts', options)
  }

  async read(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const kept = options.headers === undefined ? this.#cache.get('resources/read', uri) : undefined
    if (kept !== undefined) return kept as unknown as ReadResourceResult
    let isWhole = true
    const onRound = (): void => void (isWhole = false)
    const result = await this.#send('resources/read', { uri }, { idempotent: true, ...options }, { onRound })
    if (isWhole && options.headers === undefined) this.#cache.put('resources/read', uri, result)
    return result as unknown as ReadResourceResult
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const result = await this.#send(
      'prompts/get',
      { name, arguments: args },
      { idempotent: true, ...options },
    )
    return result as unknown as GetPromptResult
  }

  /** Values for an argument of a prompt, or for a variable of a resource template (told apart by its braces). */
  async complete(
    owner: string,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<{ readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }> {
    const ref = owner.includes('{')
      ? { type: 'ref/resource', uri: owner }
      : { type: 'ref/prompt', name: owner }
    const context = Object.keys(known).length === 0 ? {} : { context: { arguments: known } }
    const result = await this.#send(
      'completion/complete',
      { ref, argument, ...context },
      { idempotent: true, ...options },
    )
    return result['completion'] as { readonly values: readonly string[] }
  }

  /** Asks whether the server is there; the newest revision has `server/discover` for it. */
  async ping(options: CallOptions = {}): Promise<void> {
    const { revision } = await this.#connection.agreement()
    await this.#send(revision === LATEST ? 'server/discover' : 'ping', {}, { idempotent: true, ...options })
  }

  /** Wants log messages of a level and above; they arrive as `log` events. */
  async setLogLevel(level: string): Promise<void> {
    checkWord('setLogLevel', 'level', level, LOG_LEVELS)
    this.#connection.setLogLevel(level)
    const { revision, capabilities } = await this.#connection.agreement()
    if (revision !== LATEST && capabilities['logging'] !== undefined)
      await this.#send('logging/setLevel', { level }, { idempotent: true })
  }

  /** Every change of what is watched, for as long as the loop runs. */
  async *watch(watched: Watched): AsyncGenerator<Change, void, undefined> {
    const { watch } = await import('./watch.ts')
    yield* watch(this.#connection, this.#events, watched)
  }

  /** Calls back on every change of a resource from now on; gives back what ends it. */
  async subscribe(uri: string, listener: (change: Change) => void): Promise<() => Promise<void>> {
    const { subscribe } = await import('./watch.ts')
    return subscribe(this.#connection, this.#events, uri, listener)
  }

  /** Any request, for methods that have no name here; sent whether the server declared it or not. */
  async request(method: string, params: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    return this.#send(method, params, options, { undeclared: true })
  }

  /** Any notification. */
  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#connection.notify(method, params)
  }

  /** Sets how questions of the server are answered; opens anew where they were declared at the handshake. */
  answer(answers: Answers): Promise<void> {
    return this.#connection.answer(answers)
  }

  /** Tells a server that was told of roots that they are others now. */
  async rootsChanged(): Promise<void> {
    const { revision } = await this.#connection.agreement()
    if (revision !== LATEST && this.#connection.answers.roots !== undefined)
      await this.notify('notifications/roots/list_changed')
  }

  /** Hears of states, log messages, changes and warnings; returns what ends it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /**
   * Wraps the requests of one method, or all that the client sends; with a method that servers ask, such as
   * `sampling/createMessage`, the answers to it. The first added is the outermost.
   */
  use(method: string, middleware: ClientMiddleware): this
  use(addition: ClientMiddleware | ClientPlugin): this
  use(first: string | ClientMiddleware | ClientPlugin, second?: ClientMiddleware): this {
    if (typeof first === 'string') this.#middleware.add(first, second)
    else if (typeof first === 'function') this.#middleware.add(undefined, first)
    else this.#middleware.plugIn(first)
    return this
  }

  /** Leaves the server and frees everything. */
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
    const mirror = known?.paramHeaders
    return this.#send('tools/call', params, { ...options, idempotent }, { mirror })
  }

  /** Refuses arguments that break the schema of a tool that was listed; what is known of it may be old once. */
  async #checkInput(name: string, input: JsonObject, sure = false): Promise<void> {
    const checked = await this.#tools.get(name)?.input?.(input)
    if (checked === undefined || checked.ok) return
    if (sure) throw mcpError(TOOL_ARGUMENTS, { name, issue: checked.issue })
    await this.#learn()
    return this.#checkInput(name, input, true)
  }

  async #learn(): Promise<void> {
    this.#cache.changed('notifications/tools/list_changed', {})
    for await (const _ of this.tools()) continue
  }

  /** Leaves out tools that no request of ours could call. */
  async *#usable(tools: AsyncGenerator<Tool, void, undefined>): AsyncGenerator<Tool, void, undefined> {
    const { revision } = await this.#connection.agreement()
    for await (const tool of tools) {
      const problem = await this.#tools.add(tool as unknown as JsonObject)
      if (problem === undefined || !this.#mirrors || revision !== LATEST) yield tool
      else this.#events.emit('warning', `tool "${tool.name}" is left out: ${problem}`)
    }
  }

  /** Every item of a list; none where the server has no such list. */
  async *#list<Item>(
    method: ListMethod,
    member: string,
    options: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    const agreement = await this.#connection.agreement()
    if (!offers(agreement, method)) return
    const listed = { method, member, revision: agreement.revision, maxPages: this.#maxPages }
    yield* eachItem<Item>(listed, async (params) => {
      const cursor = JSON.stringify(params['cursor'] ?? null)
      const kept = options.headers === undefined ? this.#cache.get(method, cursor) : undefined
      if (kept !== undefined) return kept
      const result = await this.#send(method, params, { idempotent: true, ...options })
      if (options.headers === undefined) this.#cache.put(method, cursor, result)
      return result
    })
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
      const { goOn } = await import('./rounds.ts')
      const asked = { method, params: sent, options: settings, result }
      return await goOn(this.#connection, asked, (...question) => this.#answer(...question))
    } catch (error) {
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

  #told(method: string, params: JsonObject): void {
    this.#cache.changed(method, params)
    const change = changeOf(method, params)
    if (change !== undefined) this.#events.emit('change', change)
    else if (method === 'notifications/message')
      this.#events.emit('log', params as unknown as ClientEvents['log'])
    else if (method !== 'notifications/elicitation/complete')
      this.#events.emit('notification', { method, params })
    else if (this.#elicitations.done(params['elicitationId']))
      this.#events.emit('elicited', { elicitationId: params['elicitationId'] as string })
  }
}

function checkOutput(name: string, checked: Awaited<ReturnType<Check>>): void {
  if (!checked.ok) throw mcpError(BAD_ANSWER, { method: `the tool "${name}"`, issue: checked.issue })
}
