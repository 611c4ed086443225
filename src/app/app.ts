import { toLimits } from '../base/limits.ts'
import type { Limits } from '../protocol/limits.ts'
import type { ServerMethod } from '../protocol/methods.ts'
import { checkNode } from '../base/runtime.ts'
import type { Served } from '../extensions/install.ts'
import type { Auth } from '../rpc/call.ts'
import type { Revoked } from '../rpc/leases.ts'
import type { Completer } from '../server/completion.ts'
import { callOf, type Context } from '../server/context.ts'
import type { PromptOptions } from '../server/register.ts'
import type { ResourceOptions } from '../server/register-resource.ts'
import { ServerService } from '../server/service.ts'
import { checkRevoked, openAuth, type AuthOption } from './auth.ts'
import type { WebHandler } from '../transport/http/server/web-endpoint.ts'
import { Mounts, type EndpointChoice, type Fetch, type FetchHandler } from './mounts.ts'
import { checkListener, FOREIGN_STATE } from './misuse.ts'
import { addExtension, addMiddleware, addProvider } from './additions.ts'
import { addInterceptor, addParts, checkPlugin, type Interceptor, type Plugin } from './plugin.ts'
import type { Endpoint } from '../transport/http/server/endpoint.ts'
import { MemoryClients } from '../transport/memory/clients.ts'
import type { MemoryEnd } from '../transport/memory/server.ts'
import { holdStdout, keepGuard, releaseStdout } from '../transport/stdio/guard.ts'
import { Hooks } from './hooks.ts'
import { Items, type ItemKind, type ItemList } from './items.ts'
import { launcher } from './listen/launcher.ts'
import type { Running, Starters } from './listen/listen.ts'
import type { ListenOptions, MountOptions, ServerOptions } from './options.ts'
import { TaskDesk } from './task-desk.ts'
import { readOptions, sealerOf, storeOf } from './settings.ts'
import type {
  Addition,
  AnyContext,
  Delivered,
  Middleware,
  NodeListener,
  Patch,
  Replaced,
  Returns,
  SchemaLike,
  ToolMap,
  ToolOptions,
  ToolSchemas,
  Typed,
} from './types.ts'
import type { VariablesOf } from '../uri-template/variables.ts'
import { createEndpoint } from './listen/extra-endpoints.ts'

/** Returns how a server authenticates its callers. */
export let authOf: <Ctx extends Context>(app: App<Ctx, unknown>) => AuthOption | undefined
/** Returns the service that answers a server's requests, which its transports use. */
export let serviceOf: <Ctx extends Context>(app: App<Ctx, unknown>) => ServerService
/** Returns the open HTTP endpoints of a server. */
export let endpointsOf: <Ctx extends Context>(app: App<Ctx, unknown>) => ReadonlySet<Endpoint>
/** Returns the hooks of a server. */
export let hooksOf: <Ctx extends Context>(app: App<Ctx, unknown>) => Hooks
/** Opens an HTTP endpoint for a server. */
export let openEndpoint: <C extends Context>(of: App<C, unknown>, how: EndpointChoice) => Promise<Endpoint>

/** A server, shared by any number of connections. Define its tools first, then listen or mount it. `Tools` are those that were chained to `createServer`, with their schemas: `connect<typeof app>(…)` knows them. */
export class App<Ctx extends Context = Context, Tools = {}> {
  /** The limits in force: the usual ones with the changes of the option `limits`, or the strict ones. */
  readonly limits: Limits
  /** The tasks of all callers, for operators: lists, shows, cancels and retries them. */
  readonly tasks: TaskDesk
  /** Answers a web request, for Hono, Workers, Deno, Bun and similar runtimes: `export default app`. */
  declare readonly fetch: Fetch
  /** Does not exist. It carries the types of the tools to clients. */
  '~tools'?(tools: Tools): void
  readonly #service: ServerService
  readonly #options: ServerOptions
  readonly #endpoints = new Set<Endpoint>()
  /** The listeners that are open or opening. */
  readonly #running = new Set<Promise<Running>>()
  readonly #clients = new MemoryClients()
  readonly #mounts: Mounts
  readonly #hooks: Hooks
  /** Web handlers of plug-ins, by path. */
  readonly #handlers = new Map<string, WebHandler>()
  readonly #items: Items
  static {
    serviceOf = (app) => app.#service
    authOf = (app) => app.#options.auth
    endpointsOf = (app) => app.#endpoints
    hooksOf = (app) => app.#hooks
    openEndpoint = (app, options) => app.#open(options)
  }

  /** `createServer` makes one, and also keeps output off stdout from the start. */
  constructor(options: ServerOptions) {
    const stores = { current: storeOf(options), inParent: [] }
    const settings = readOptions(options, stores)
    this.#options = options
    this.limits = toLimits(options.limits)
    this.#service = new ServerService({
      ...settings,
      limits: this.limits,
      sealer: sealerOf(options, stores, () => this.#service.warnOnce('state', '', FOREIGN_STATE)),
    })
    this.tasks = new TaskDesk(this.#service)
    const isServing = (): boolean => this.#endpoints.size > 0 || this.#clients.isAny
    this.#hooks = new Hooks(options, this.#service, this.limits, { stores, isServing })
    this.#mounts = new Mounts((choice) => this.#open(choice), this.#hooks.newUse(), this.#service)
    this.#items = new Items(this.#service, this.limits, options)
    // `deno serve` looks only for an own property.
    Object.defineProperty(this, 'fetch', { get: () => this.#mounts.fetch, enumerable: true })
    options.profile?.install(this.#service, callOf)
    if (options.tools !== undefined) this.add(options.tools)
  }

  /**
   * Adds a tool. Its input and output types come from its schemas. Chain it to `createServer`, so that the type of the server
   * includes the tool. A name has 1 to 128 of the characters A-Z a-z 0-9 _ . -
   *
   * @example
   * app.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`)
   */
  tool<
    const Name extends string,
    const In extends SchemaLike | undefined = undefined,
    const Out extends SchemaLike | undefined = undefined,
    Before = {},
  >(
    this: Typed<Before>,
    name: Name,
    options: ToolOptions<In, Out, Ctx>,
    run: (input: Delivered<In>, context: Ctx) => Returns<Out>,
  ): App<Ctx, Before & { readonly [Key in Name]: ToolSchemas<In, Out> }>
  tool(name: string, options: unknown, run: unknown): unknown {
    this.#items.add('tool', name, options as object, run)
    return this
  }

  /** Adds a map of tools by name. Chain it to `createServer`, so that the type of the server includes them. */
  add<More extends ToolMap<Ctx>>(tools: More): App<Ctx, Tools & More> {
    this.#items.addTools(tools)
    return this as never
  }

  /**
   * Adds a resource, or a resource template if the URI has variables. `read` returns text, bytes, or a value to send as JSON;
   * `undefined` if the resource does not exist.
   *
   * @example
   * app.resource('notes://{id}', { mimeType: 'text/markdown' }, ({ id }) => notes.get(id))
   */
  resource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Ctx, NoInfer<Uri>>,
    read: (variables: VariablesOf<Uri>, context: Ctx) => unknown,
  ): this {
    this.#items.add('resource', uri, options, read)
    return this
  }

  /**
   * Adds a prompt. `run` returns the text of a user's message, or messages.
   *
   * @example
   * app.prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review this code:\n${code}`)
   */
  prompt<const Args extends SchemaLike | undefined = undefined>(
    name: string,
    options: PromptOptions<Ctx, Args>,
    run: (args: Delivered<Args>, context: Ctx) => unknown,
  ): this {
    this.#items.add('prompt', name, options, run)
    return this
  }

  /** Completes an argument of a prompt, or a variable of a resource template: `complete('review', 'code', (text) => […])`. */
  complete(owner: string, argument: string, completer: Completer<Ctx>): this {
    this.#items.complete(owner, argument, completer as unknown as Completer)
    return this
  }

  /** Removes a tool, resource or prompt. Returns whether it existed. */
  remove(kind: ItemKind, key: string): boolean {
    return this.#items.remove(kind, key)
  }

  /**
   * Changes a tool, resource or prompt, which keeps its place in the list: the given options, and the handler if there is a
   * fourth argument. Options that are left out stay; `undefined` removes one. If the result would not be valid, it throws
   * and changes nothing. The next request sees the change; running ones finish as they began. Clients are notified.
   *
   * @example
   * app.update('tool', 'search', { description: 'Full-text search, also in archived orders' })
   */
  update<
    const In extends SchemaLike | undefined = undefined,
    const Out extends SchemaLike | undefined = undefined,
  >(
    kind: 'tool',
    name: string,
    options: Patch<ToolOptions<In, Out, Ctx>>,
    run?: (input: Replaced<In>, context: Ctx) => Returns<Out>,
  ): this
  /** Changes the given options of a resource or template, and its handler if there is a fourth argument. The rest stays. */
  update<const Uri extends string>(
    kind: 'resource',
    uri: Uri,
    options: Patch<ResourceOptions<Ctx, NoInfer<Uri>>>,
    read?: (variables: VariablesOf<Uri>, context: Ctx) => unknown,
  ): this
  /** Changes the given options of a prompt, and its handler if there is a fourth argument. The rest stays. */
  update<const Args extends SchemaLike | undefined = undefined>(
    kind: 'prompt',
    name: string,
    options: Patch<PromptOptions<Ctx, Args>>,
    run?: (args: Replaced<Args>, context: Ctx) => unknown,
  ): this
  update(kind: ItemKind, key: string, options: object, handler?: unknown): this {
    this.#items.update(kind, key, options, handler)
    return this
  }

  /**
   * Makes a tool, resource or prompt unknown to every client, until `enable`. It keeps its place in the list, and the server
   * still offers what it declared. Running requests finish. Clients are notified, unless it was disabled already.
   */
  disable(kind: ItemKind, key: string): this {
    this.#items.disable(kind, key)
    return this
  }

  /** Undoes `disable`. Clients are notified, unless it was enabled already. */
  enable(kind: ItemKind, key: string): this {
    this.#items.enable(kind, key)
    return this
  }

  /** Notifies clients that a list would now be different, because `visible`, or `list` of a template, would give other answers; without an argument, that all would. Changes to the definitions are announced without it. */
  changed(list?: ItemList): void {
    this.#items.changed(list)
  }

  /** Notifies clients that watch a resource of a change. A URI longer than `limits.uriLength` is ignored, with a warning. */
  updated(uri: string): void {
    this.#service.updated(uri)
  }

  /** Resolves once the store has every change that was announced here until now, so that clients of other nodes hear of it even if this process dies. While the store is away, it waits. */
  announced(): Promise<void> {
    return this.#service.changes.announced()
  }

  /** Adds middleware for one method, such as `tools/call`. The first middleware is the outermost. */
  use(method: ServerMethod | (string & {}), middleware: Middleware<Ctx>): this
  /** Adds middleware for all methods, also for the handshake and pings, which lack what `provide` adds; or a plug-in. */
  use(addition: Middleware<AnyContext<Ctx>> | Plugin<Ctx>): this
  use(first: string | Middleware<AnyContext<Ctx>> | Plugin<Ctx>, second?: Middleware<Ctx>): this {
    if (typeof first === 'object') return this.#plugIn(first)
    if (typeof first === 'string') addMiddleware(this.#service, first, second)
    else addMiddleware(this.#service, undefined, first)
    return this
  }

  /** Adds an interceptor, which runs before providers and middleware and answers requests itself or by calling `next`. The interceptors of a method run in the order they were added. */
  intercept(method: ServerMethod | (string & {}), interceptor: Interceptor): this {
    addInterceptor(this.#service, method, interceptor)
    return this
  }

  /**
   * Adds members to the context of every request. Chain it to `createServer`, so that the type includes them.
   *
   * @example
   * createServer(options).provide(async ({ auth }) => ({ user: await findUser(auth?.sub) }))
   */
  provide<More extends Addition>(
    provider: (context: Ctx) => More | Promise<More>,
  ): App<Ctx & Readonly<More>, Tools> {
    addProvider(this.#service, provider)
    return this as never
  }

  /** Adds an extension, for clients that declare it too. */
  extend(extension: Served): this {
    addExtension(this.#service, extension, this.limits)
    return this
  }

  /** Opens transports, such as `{ http: { port: 3000 } }`. Default: those of the option `transports`, which are stdio. */
  listen(options: ListenOptions = {}): Promise<Running> {
    const running = this.#run(({ listen }) => listen(this, options, this.#options))
    launcher()?.opening?.(this, running)
    return running
  }

  /** Makes this process a worker: it runs tasks that wait in the store, or that a dead process left, and serves no clients. Needs a store of tasks that other processes share. */
  work(): Promise<Running> {
    return this.#run(({ work }) => work(this, this.#options))
  }

  #run(start: (module: Starters) => Promise<Running>): Promise<Running> {
    this.#service.isClosed = false
    const running = import('#listen').then(start)
    this.#running.add(running)
    const forget = (): unknown => this.#running.delete(running)
    void running.then((one) => one.closed).then(forget, forget)
    return running.then((one) => one) // Node reports a failure of this one that the program does not look at.
  }

  /** Returns a request listener for Express, Fastify, Koa or plain `node:http`, which own the port: `express.all('/mcp', app.node())`. */
  node(options: MountOptions = {}): NodeListener {
    checkListener(this instanceof App, options)
    return this.#mounts.node(options)
  }

  /** Returns a web handler with its own options, which also accepts a caller that the framework authenticated. */
  fetchWith(options: MountOptions): FetchHandler {
    return this.#mounts.fetchWith(options)
  }

  /**
   * Connects a client in the same process. Messages are passed as text: `receive` gets those of the server. `closed` is called
   * when the server ends the connection. `auth` is the caller, as an authenticator would set it. Default: none.
   */
  connect(options: {
    receive(text: string): void
    closed?: (() => void) | undefined
    readonly auth?: Auth | undefined
  }): MemoryEnd {
    releaseStdout()
    this.#hooks.serve()
    return this.#clients.add(this.#service, {
      limits: this.limits,
      source: { auth: options.auth },
      receive: (text) => options.receive(text),
      closed: () => options.closed?.(),
      use: this.#hooks.newUse(),
    })
  }

  async #open(options: EndpointChoice): Promise<Endpoint> {
    releaseStdout()
    const onClosed = (): unknown => this.#endpoints.delete(endpoint)
    const parts = { limits: this.limits, handlers: this.#handlers, onClosed, nodes: this.#hooks.membership }
    const host = { path: options.path, verifyMs: this.limits.headersMs }
    const authentication = openAuth(options.auth ?? this.#options.auth, this.#service, host)
    const endpoint = await createEndpoint(this.#service, { ...parts, ...options, authentication })
    this.#endpoints.add(endpoint)
    if (options.path === undefined && !this.#service.isClosed) this.#hooks.serve()
    return endpoint
  }

  /** Revokes a caller, `{ sub: 'ann' }`: what it has open ends, and credentials issued until now, or within `clockSkew` after, are rejected, unless their method accepts them when asked again. The last 100,000 revocations are remembered until the process ends. All of that happens here at once; resolves once the store has it for other nodes, and the unfinished tasks of the caller are cancelled. While the store is away, it waits. */
  revoke(caller: Revoked): Promise<void> {
    checkRevoked(caller)
    return this.#service.leases.revoke(caller)
  }

  /** How often each kind of error was sent, and how often each limit without an error was reached. */
  get counts(): ReadonlyMap<string, number> {
    return this.#service.observers.counts
  }

  /** Finishes running requests, ends sessions and streams, and closes the transports that `listen` opened and the connections of clients in the same process. Mounts answer 503 from then on; `listen` may be called again. */
  async close(): Promise<void> {
    const begun = performance.now()
    // `onStop` may run after stdio has closed, while its client still reads.
    const unguard = keepGuard()
    this.#mounts.close()
    this.#service.isClosed = true
    // Whoever listens from now on is not meant.
    const [running, endpoints] = [[...this.#running], [...this.#endpoints]]
    const closeTasks = await this.#service.tasks.beginClose(begun + this.limits.drainMs)
    const closing = running.map(async (one) => (await one.catch(() => undefined))?.close())
    await Promise.all([...closing, ...endpoints.map((one) => one.close())])
    // After the others, because their requests may use such clients.
    await this.#clients.finish(begun + this.limits.drainMs - performance.now())
    await closeTasks()
    await this.#hooks.membership.leave()
    await this.#mounts.end(this.limits.drainMs)
    unguard()
  }

  #plugIn(plugin: Plugin<Ctx>): this {
    checkPlugin('use', plugin, this.#endpoints.size > 0)
    if (plugin.middleware !== undefined) this.use(plugin.middleware)
    addParts(this.#service, this.#handlers, plugin as unknown as Plugin)
    return this
  }
}

/**
 * Creates a server, with its first `tools` or without. Tools whose names the compiler does not know have no part in its type.
 *
 * @example
 * const app = createServer({ name: 'greeter', version: '1.0.0' })
 *   .tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`)
 * await app.listen()
 */
export function createServer<Tools = {}>(
  options: ServerOptions & { readonly tools?: Tools | undefined },
): App<Context, string extends keyof Tools ? {} : Tools> {
  checkNode('createServer')
  holdStdout()
  return new App(options)
}
