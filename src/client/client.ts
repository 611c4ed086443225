import { McpError, mcpError } from '../protocol/errors.ts'
import { toMs } from '../protocol/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
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
import type { ParamHeader } from '../wire/param-headers.ts'
import type { Answers } from './answers.ts'
import { Cache } from './cache.ts'
import { Emitter, type ClientEvents, type State } from './events.ts'
import { Link, type LinkOptions } from './link.ts'
import { eachItem, type ListMethod } from './lists.ts'
import type { CallOptions, ClientMiddleware, ClientRequest } from './options.ts'
import { requestInRounds } from './rounds.ts'
import { ToolBook } from './tool-book.ts'
import type { AnyTools, InputOfTool, NameOf, OutputOfTool } from './typed.ts'
import { toValue } from './values.ts'
import { watch, type Change, type Watched } from './watch.ts'

/** What a server says of itself. */
export interface ServerAbout {
  readonly revision: Revision
  readonly info: JsonObject | undefined
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface ClientSettings extends Omit<LinkOptions, 'events'> {
  readonly answers: Answers
  /** Whether arguments may have to travel as headers, so that tools that ask for impossible ones cannot be called. */
  readonly mirrors: boolean
}

/** A client of one server. It recovers by itself what can be recovered; close it when it is no longer needed. */
export class Client<Tools = AnyTools> implements AsyncDisposable {
  readonly #link: Link
  readonly #events = new Emitter()
  readonly #cache = new Cache()
  readonly #tools = new ToolBook()
  readonly #mirrors: boolean
  readonly #middleware: { readonly method: string | undefined; readonly wrap: ClientMiddleware }[] = []

  constructor({ answers, mirrors, ...options }: ClientSettings) {
    this.#mirrors = mirrors
    this.#link = new Link({ ...options, events: this.#events }, answers, (method, params) =>
      this.#told(method, params),
    )
    this.#events.on('state', (state) => {
      if (state === 'reconnecting') this.#cache.clear()
    })
  }

  get state(): State {
    return this.#link.state
  }

  /** Opens the connection now rather than with the first request. */
  async open(): Promise<this> {
    await this.#link.open()
    return this
  }

  /** What the server is called and offers, and the revision that is spoken with it. */
  async server(): Promise<ServerAbout> {
    const { server, capabilities, instructions, revision } = await this.#link.agreement()
    return { info: server, capabilities, instructions, revision }
  }

  /** Calls a tool: structured content, else the text of an only text block, else all blocks. Throws ToolError when it failed. */
  async call<Name extends NameOf<Tools>>(
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
  async callRaw<Name extends NameOf<Tools>>(
    name: Name,
    input?: InputOfTool<Tools, Name>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    const params = { name, arguments: (input ?? {}) as JsonObject }
    const result = await this.#callOnce(params, options).catch(async (error: unknown) => {
      if (!(error instanceof McpError) || error.kind !== 'header_mismatch') throw error
      // The tool's schema says which arguments travel as headers; what we knew of it was missing or old.
      await this.#learn()
      return this.#callOnce(params, options)
    })
    await this.#checkOutput(name, result)
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
    const { result, rounds } = await this.#send('resources/read', { uri }, { idempotent: true, ...options })
    if (rounds === 1 && options.headers === undefined) this.#cache.put('resources/read', uri, result)
    return result as unknown as ReadResourceResult
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const { result } = await this.#send(
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
    const { result } = await this.#send(
      'completion/complete',
      { ref, argument, ...context },
      { idempotent: true, ...options },
    )
    return result['completion'] as { readonly values: readonly string[] }
  }

  /** Asks whether the server is there; the newest revision has `server/discover` for it. */
  async ping(options: CallOptions = {}): Promise<void> {
    const { revision } = await this.#link.agreement()
    await this.#send(revision === LATEST ? 'server/discover' : 'ping', {}, { idempotent: true, ...options })
  }

  /** Wants log messages of a level and above; they arrive as `log` events. */
  async setLogLevel(level: string): Promise<void> {
    this.#link.setLogLevel(level)
    const { revision, capabilities } = await this.#link.agreement()
    if (revision !== LATEST && capabilities['logging'] !== undefined)
      await this.#send('logging/setLevel', { level }, { idempotent: true })
  }

  /** Every change of what is watched, for as long as the loop runs. */
  watch(watched: Watched): AsyncGenerator<Change, void, undefined> {
    return watch(this.#link, this.#events, watched)
  }

  /** Calls back on every change of a resource; returns what ends it. */
  subscribe(uri: string, listener: (change: Change) => void): () => Promise<void> {
    const stop = new AbortController()
    const done = (async () => {
      for await (const change of this.watch({ resources: [uri], signal: stop.signal })) listener(change)
    })()
    done.catch((error: unknown) => this.#events.emit('warning', `watching ${uri} failed: ${String(error)}`))
    return async () => {
      stop.abort()
      await done.catch(() => undefined)
    }
  }

  /** Any request, for methods that have no name here. */
  async request(method: string, params: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    return (await this.#send(method, params, options)).result
  }

  /** Any notification. */
  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#link.notify(method, params)
  }

  /** Sets how questions of the server are answered; opens anew where they were declared at the handshake. */
  answer(answers: Answers): Promise<void> {
    return this.#link.answer(answers)
  }

  /** Tells the server that the roots are others now. */
  async rootsChanged(): Promise<void> {
    const { revision } = await this.#link.agreement()
    if (revision !== LATEST) await this.notify('notifications/roots/list_changed')
  }

  /** Hears of states, log messages, changes and warnings; returns what ends it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /** Wraps the requests of one method, or of all. The first added is the outermost. */
  use(method: string, middleware: ClientMiddleware): this
  use(middleware: ClientMiddleware): this
  use(first: string | ClientMiddleware, second?: ClientMiddleware): this {
    const [method, wrap] = typeof first === 'string' ? [first, second] : [undefined, first]
    if (typeof wrap !== 'function')
      throw mcpError('bad_option', { where: 'use', reason: 'the middleware is not a function' })
    this.#middleware.push({ method, wrap })
    return this
  }

  /** Leaves the server and frees everything. */
  close(): Promise<void> {
    return this.#link.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #callOnce(
    params: { readonly name: string; readonly arguments: JsonObject },
    options: CallOptions,
  ): Promise<JsonObject> {
    const known = this.#tools.get(params.name)
    const idempotent = options.idempotent ?? known?.repeatable ?? false
    const { result } = await this.#send('tools/call', params, { ...options, idempotent }, known?.paramHeaders)
    return result
  }

  async #checkOutput(name: string, result: JsonObject): Promise<void> {
    const output = this.#tools.get(name)?.output
    if (output === undefined || result['isError'] === true) return
    const checked = await output.check(result['structuredContent'])
    if (!checked.ok) throw mcpError('bad_answer', { method: `the tool "${name}"`, issue: checked.issue })
  }

  async #learn(): Promise<void> {
    this.#cache.changed('notifications/tools/list_changed', {})
    for await (const _ of this.tools()) continue
  }

  /** Leaves out tools that no request of ours could call. */
  async *#usable(tools: AsyncGenerator<Tool, void, undefined>): AsyncGenerator<Tool, void, undefined> {
    const { revision } = await this.#link.agreement()
    for await (const tool of tools) {
      const problem = this.#tools.add(tool as unknown as JsonObject)
      if (problem === undefined || !this.#mirrors || revision !== LATEST) yield tool
      else this.#events.emit('warning', `tool "${tool.name}" is left out: ${problem}`)
    }
  }

  #list<Item>(
    method: ListMethod,
    member: string,
    options: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    return eachItem<Item>(method, member, async (params) => {
      const cursor = JSON.stringify(params['cursor'] ?? null)
      const kept = options.headers === undefined ? this.#cache.get(method, cursor) : undefined
      if (kept !== undefined) return kept
      const { result } = await this.#send(method, params, { idempotent: true, ...options })
      if (options.headers === undefined) this.#cache.put(method, cursor, result)
      return result
    })
  }

  async #send(
    method: string,
    params: JsonObject,
    options: CallOptions,
    paramHeaders?: readonly ParamHeader[],
  ): Promise<{ readonly result: JsonObject; readonly rounds: number }> {
    let rounds = 1
    const last = async (request: ClientRequest): Promise<JsonObject> => {
      const { timeout, total, signal, headers, onProgress, idempotent, meta } = request.options
      const sent =
        meta === undefined
          ? request.params
          : { ...request.params, _meta: { ...(request.params['_meta'] as JsonObject | undefined), ...meta } }
      const done = await requestInRounds(this.#link, method, sent, {
        idleMs: timeout === undefined ? undefined : toMs(timeout, 'timeout'),
        totalMs: total === undefined ? undefined : toMs(total, 'total'),
        signal,
        headers,
        onProgress,
        paramHeaders,
        repeatable: idempotent,
      })
      rounds = done.rounds
      return done.result
    }
    const wraps = this.#middleware.filter((entry) => entry.method === undefined || entry.method === method)
    const run = wraps.reduceRight<(request: ClientRequest) => Promise<JsonObject>>(
      (next, { wrap }) =>
        async (request) =>
          wrap(request, (changed) => next({ ...request, ...changed })),
      last,
    )
    return { result: await run({ method, params, options }), rounds }
  }

  #told(method: string, params: JsonObject): void {
    this.#cache.changed(method, params)
    switch (method) {
      case 'notifications/message':
        return this.#events.emit('log', params as unknown as ClientEvents['log'])
      case 'notifications/tools/list_changed':
        return this.#events.emit('change', { kind: 'tools' })
      case 'notifications/prompts/list_changed':
        return this.#events.emit('change', { kind: 'prompts' })
      case 'notifications/resources/list_changed':
        return this.#events.emit('change', { kind: 'resources' })
      case 'notifications/resources/updated':
        return this.#events.emit('change', { kind: 'resource', uri: String(params['uri']) })
      case 'notifications/elicitation/complete':
        return this.#events.emit('elicited', { elicitationId: String(params['elicitationId']) })
      default:
        return this.#events.emit('notification', { method, params })
    }
  }
}
