import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LOG_LEVELS } from '../protocol/log-levels.ts'
import type { ClientMethod, ServerMethod } from '../protocol/methods.ts'
import { checkWord } from '../base/options.ts'
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
import { Clock } from '../rpc/clock.ts'
import type { Answers } from './answers.ts'
import { Conversation } from './conversation.ts'
import type { ClientEvents, Emitter, State } from './events.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { toList, type ItemList } from './item-list.ts'
import { has } from './offered.ts'
import {
  repeatable,
  toRequestOptions,
  type CallOptions,
  type ClientMiddleware,
  type ClientPlugin,
} from './options.ts'
import type { ClientSettings, ServerAbout } from './settings.ts'
import type { StartOptions, TaskHandle } from './task-handle.ts'
import type { AnyTools, CallArguments, Described, OutputOfTool, ToolName, TypedClient } from './typed.ts'
import { toValue } from './values.ts'
import type { Change, SubscribeOptions, Watched } from './watched.ts'

let conversationOf: (client: object) => Conversation | undefined

/** Emits a warning of a client, for what is built on it. */
export function warnOf(client: Client, text: string): void {
  conversationOf(client)?.events.emit('warning', text)
}

/** The connection of a client, for what is built on it; undefined for an object that only acts as one. */
export function connectionOf(client: object): ReconnectingConnection | undefined {
  return conversationOf(client)?.connection
}

/**
 * A client of one server, from `connect` or `createClient`. It reconnects and retries by itself; close it when you no longer
 * need it. Except for `ToolError`, failures are of class `McpError`.
 *
 * @example
 * await using client = await connect('https://example.com/mcp')
 * for await (const tool of client.tools()) console.log(tool.name)
 * console.log(await client.call('forecast', { city: 'Lisbon' }))
 */
export class Client<Tools = AnyTools> implements AsyncDisposable {
  static {
    conversationOf = (client) => (#conversation in client ? client.#conversation : undefined)
  }

  readonly #conversation: Conversation
  readonly #connection: ReconnectingConnection
  readonly #events: Emitter

  /** Does not exist. It carries the types of the tools. */
  '~tools'?(tools: Described<Tools>): void

  /** @internal */
  constructor(settings: ClientSettings) {
    this.#conversation = new Conversation(settings)
    this.#connection = this.#conversation.connection
    this.#events = this.#conversation.events
  }

  /**
   * The state of the connection. While it is `reconnecting`, requests still work: the next one opens a new connection.
   * `on('state', …)` reports changes.
   */
  get state(): State {
    return this.#connection.state
  }

  /** Opens the connection now rather than with the first request. `connect` has already done that. */
  async open(): Promise<this> {
    await this.#connection.open()
    return this
  }

  /** Returns the name and capabilities of the server, and the agreed revision. The options limit how long connecting may take. */
  async server(options?: CallOptions): Promise<ServerAbout> {
    const { server, capabilities, instructions, revision } = await this.#connection.agreement(
      options && toRequestOptions(options),
    )
    return { info: server, capabilities, instructions, revision }
  }

  /** Whether the server declared a capability, such as `tools` or `resources.subscribe`. */
  async supports(capability: string): Promise<boolean> {
    return has((await this.#connection.agreement()).capabilities, capability)
  }

  /**
   * Calls a tool. Returns its structured content if there is any, its text if that is the only block, or else all
   * blocks. Throws a ToolError if the tool failed. The input is by default `{}`. A call is sent again after a lost connection
   * only if `idempotent` or the hints of the tool allow it.
   *
   * @example
   * const { metres } = await client.call('tide', { hour: 6 }, { timeout: '10s', onProgress: console.log })
   */
  call<Name extends ToolName<Known>, Known = AnyTools>(
    this: TypedClient<Known>,
    name: Name,
    ...rest: CallArguments<Known, Name>
  ): Promise<OutputOfTool<Known, Name>>
  async call(name: string, input?: JsonObject, options?: CallOptions): Promise<unknown> {
    const result = await (this as unknown as Client).callRaw(name, input, options)
    const { known, limits } = this.#conversation
    return toValue(result as unknown as JsonObject, known.get(name)?.outputSchema, limits)
  }

  /** Calls a tool and returns its complete result, even if the tool failed: then `isError` is true. */
  callRaw<Name extends ToolName<Known>, Known = AnyTools>(
    this: TypedClient<Known>,
    name: Name,
    ...rest: CallArguments<Known, Name>
  ): Promise<CallToolResult>
  callRaw(name: string, input?: unknown, options: unknown = {}): Promise<unknown> {
    return this.#conversation.call(name, input, options as CallOptions)
  }

  /**
   * Calls a tool without waiting for its result: returns a handle as soon as the server has begun a task, or has answered. At
   * 2026-07-28 the server decides whether the call becomes a task; at 2025-11-25 it does if the tool supports that.
   *
   * @example
   * const task = await client.start('render', { film })
   * await save(task.id)
   * const movie = await task.result()
   */
  start<Name extends ToolName<Known>, Known = AnyTools>(
    this: TypedClient<Known>,
    name: Name,
    ...rest: CallArguments<Known, Name, StartOptions>
  ): Promise<TaskHandle<OutputOfTool<Known, Name>>>
  async start(name: string, input?: unknown, options?: StartOptions): Promise<TaskHandle> {
    return (await import('./tasks.ts')).start(this.#conversation, name, input, options)
  }

  /**
   * Continues with a task that was started earlier, perhaps by another process: pass the `id` of its handle. Rejects with an error of
   * kind `unknown_task` if the server does not know it, or not for this caller.
   *
   * @example
   * const task = await client.resume(await load())
   * const movie = await task.result()
   */
  async resume<Output = unknown>(id: string, options?: CallOptions): Promise<TaskHandle<Output>> {
    return (await import('./tasks.ts')).resume(this.#conversation, id, options) as Promise<TaskHandle<Output>>
  }

  /**
   * Lists all tools. `for await` reads page by page; `toArray()` reads everything. The list is empty if the server has no tools
   * at all, and may be cached for as long as the server allows. Tools that could not be called are left out, with a `warning`.
   *
   * @example
   * for await (const tool of client.tools()) console.log(tool.name)
   * const tools = await client.tools().toArray()
   */
  tools(options: CallOptions = {}): ItemList<Tool> {
    return toList(this.#conversation.tools(options))
  }

  /** Lists all resources, with `for await` or `toArray()`. Those that only a template describes are not in it. */
  resources(options: CallOptions = {}): ItemList<Resource> {
    return toList(this.#conversation.items('resources/list', 'resources', options))
  }

  /** Lists all resource templates, with `for await` or `toArray()`. */
  templates(options: CallOptions = {}): ItemList<ResourceTemplate> {
    return toList(this.#conversation.items('resources/templates/list', 'resourceTemplates', options))
  }

  /** Lists all prompts, with `for await` or `toArray()`. */
  prompts(options: CallOptions = {}): ItemList<Prompt> {
    return toList(this.#conversation.items('prompts/list', 'prompts', options))
  }

  /**
   * Reads a resource, listed or not. The result is cached for as long as the server allows, or until it reports a change;
   * a read with its own `headers` or `meta` is always sent.
   *
   * @example
   * const { contents } = await client.read('notes://42')
   * for (const one of contents) console.log('text' in one ? one.text : one.blob.length)
   */
  async read(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const result = await this.#conversation.fetch('resources/read', uri, { uri }, options)
    return result as unknown as ReadResourceResult
  }

  /**
   * Gets a prompt with its arguments filled in. They are strings, and by default none.
   *
   * @example
   * const { messages } = await client.prompt('review', { language: 'TypeScript' })
   */
  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const params = { name, arguments: args }
    const result = await this.#conversation.send('prompts/get', params, repeatable(options))
    return result as unknown as GetPromptResult
  }

  /**
   * Suggests values for an argument of a prompt, or for a variable of a resource template (recognized by its braces). `name` is
   * that of the argument, `value` its beginning, and `known` has the values that are already filled in. Default: none. Servers
   * return at most 100 `values`; some say how many there are in all (`total`), or that there are more (`hasMore`).
   *
   * @example
   * const { values } = await client.complete('review', { name: 'language', value: 'Ty' })
   * await client.complete('city://{country}/{city}', { name: 'city', value: 'L' }, { country: 'Portugal' })
   */
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
    const { completionParams, readCompletion } = await import('./completion.ts')
    const params = completionParams(owner, argument, known)
    const result = await this.#conversation.send('completion/complete', params, repeatable(options))
    return readCompletion(result)
  }

  /** Checks that the server responds. The newest revision has no `ping`, so it uses `server/discover`. */
  async ping(options: CallOptions = {}): Promise<void> {
    const clock = new Clock()
    const { revision } = await this.#connection.agreement({ ...toRequestOptions(options), clock })
    const method = revision === LATEST ? 'server/discover' : 'ping'
    await this.#conversation.send(method, {}, repeatable(options), { clock })
  }

  /**
   * Asks for log messages of this level and above: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or
   * `emergency`. They arrive as `log` events. Until a level is set, there are none at 2026-07-28, and before that
   * the server decides.
   *
   * @example
   * client.on('log', ({ level, data }) => console.error(level, data))
   * await client.setLogLevel('info')
   */
  async setLogLevel(level: string): Promise<void> {
    checkWord('setLogLevel', 'level', level, LOG_LEVELS)
    this.#connection.setLogLevel(level)
    const { revision, capabilities } = await this.#connection.agreement()
    if (revision !== LATEST && capabilities['logging'] !== undefined)
      await this.#conversation.send('logging/setLevel', { level }, { idempotent: true })
  }

  /**
   * Yields changes of the watched lists and resources, for as long as the loop runs. It subscribes at the first `next()`, that
   * is when the loop begins, not when `watch` is called: earlier changes are not reported. `onReady` is called when the server has
   * confirmed it; what changes after that is not missed. After a reconnect everything watched
   * counts as changed. A change that repeats before it is read is yielded once.
   *
   * @example
   * for await (const change of client.watch({ tools: true, resources: ['notes://42'] }))
   *   if (change.kind === 'resource') console.log(`${change.uri} changed`)
   */
  async *watch(watched: Watched): AsyncGenerator<Change, void, undefined> {
    const early: Change[] = []
    const off = this.#events.on('change', (change) => early.push(change))
    const { watch } = await import('./watch.ts')
    // From here on `watch` listens itself.
    off()
    yield* watch(this.#conversation, watched, early)
  }

  /**
   * Calls the listener for every change of a resource. Resolves when the server has confirmed the subscription, to a
   * function that ends it. It lasts across reconnects, after which the listener is called once.
   *
   * @example
   * const end = await client.subscribe('notes://42', () => refresh())
   * …
   * await end()
   */
  async subscribe(
    uri: string,
    listener: (change: Change) => void,
    options: SubscribeOptions = {},
  ): Promise<() => Promise<void>> {
    const { subscribe } = await import('./watch.ts')
    return subscribe(this.#conversation, uri, listener, options)
  }

  /**
   * Sends any request, for methods without a function of their own. It does not check the server's capabilities. `params` are
   * by default `{}`; the request is not repeated after a lost connection unless `idempotent` is true.
   */
  async request(
    method: ServerMethod | (string & {}),
    params: JsonObject = {},
    options: CallOptions = {},
  ): Promise<JsonObject> {
    return this.#conversation.request(method, params, options)
  }

  /** Sends any notification; `params` are by default `{}`. */
  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#connection.notify(method, params)
  }

  /**
   * Replaces the functions that answer questions, all of them: pass `{}` to answer none. It reconnects if the old ones were
   * declared in a handshake, which is before 2026-07-28.
   */
  answer(answers: Answers): Promise<void> {
    return this.#connection.answer(answers)
  }

  /**
   * Notifies the server that the roots have changed. Does nothing if the client answers no questions about roots, and at
   * 2026-07-28, where servers ask each time.
   */
  async rootsChanged(): Promise<void> {
    const { revision } = await this.#connection.agreement()
    if (revision !== LATEST && this.#connection.answers.roots !== undefined)
      await this.notify('notifications/roots/list_changed')
  }

  /**
   * Adds a listener for states, log messages, changes, warnings and so on. Returns a function that removes it. Listeners for
   * changes get only what the server sends; to ask for them, use `watch` or `subscribe`. If a listener throws, the client emits a
   * `warning`; an error of a listener for warnings is uncaught.
   *
   * @example
   * const off = client.on('warning', (text) => console.error(text))
   */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /**
   * Adds middleware for one method. With a method that servers call, such as `sampling/createMessage`, it wraps the answers.
   * The first middleware is the outermost. Streamed calls (`toolStream`) pass the middleware of `tools/call`; it runs before the first
   * piece of output arrives and after the last.
   *
   * @example
   * client.use('tools/call', async (request, next) => {
   *   console.log(request.params)
   *   return next()
   * })
   */
  use(method: ServerMethod | ClientMethod | (string & {}), middleware: ClientMiddleware): this
  /** Adds a plug-in, or middleware for all requests of the client, but not for questions of the server. */
  use(addition: ClientMiddleware | ClientPlugin): this
  use(first: string | ClientMiddleware | ClientPlugin, second?: ClientMiddleware): this {
    const { middleware } = this.#conversation
    if (typeof first === 'string') middleware.add(first, second)
    else if (typeof first === 'function') middleware.add(undefined, first)
    else middleware.plugIn(first)
    return this
  }

  /**
   * Closes the connection, ends a server program that `connect` started, and rejects requests that are still waiting. A closed
   * client cannot be opened again.
   */
  close(): Promise<void> {
    return this.#connection.close()
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
