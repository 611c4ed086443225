import { soon } from '../base/soon.ts'
import { allErrors } from '../errors/all.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { Call, Peer } from '../rpc/call.ts'
import { Changes } from '../rpc/changes.ts'
import { createDispatch, type Handler, type MiddlewareEntry, type Result } from '../rpc/dispatch.ts'
import { Leases } from '../rpc/leases.ts'
import { Load } from '../rpc/load.ts'
import { Observers } from '../rpc/observer.ts'
import type { Service } from '../rpc/service.ts'
import { Warnings } from '../rpc/warnings.ts'
import type { SessionContents } from '../rpc/session-fields.ts'
import { looseSpelling } from '../uri-template/loose.ts'
import type { Completer, OwnerOf } from './completion.ts'
import { callOf, Context } from './context.ts'
import type {
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from './definitions.ts'
import { follow, initialized } from './following.ts'
import { complete } from './completion.ts'
import { HeldBytes } from './held-bytes.ts'
import { getPrompt } from './prompts.ts'
import { isDefined, isForSome, noSuchResource, tooLongToNotify, readResource } from './resources.ts'
import { LateTasks, type TaskStoreOptions } from './late-tasks.ts'
import { later } from './later.ts'
import { discover, initialize, ping, type Greeting } from './lifecycle.ts'
import { isListing, listResources } from './listing.ts'
import { List } from './lists.ts'
import { setLevel } from './logging.ts'
import type { ServerParts } from './parts.ts'
import { isForItems, provided, type Provider } from './providers.ts'
import { respell, spellingOf } from './spellings.ts'
import { restrictList, type VisibleItem } from './visibility.ts'
import type { Sealer } from './state.ts'
import type { Listening } from './subscriptions.ts'
import { callTool } from './tools.ts'

// Handlers throw errors by kind, and a server has all of them.
allErrors()

/** An extension as the server sees it. */
export interface ExtensionEntry {
  /** The settings it declares with the id. */
  readonly settings: JsonObject
  /** Whether a client may use it. */
  isFor(peer: Peer): boolean
}

/** Answers a call instead of the handler of its method; `next` calls that handler. */
export type Interceptor = (call: Call, next: Answer) => Result | Promise<Result>

type Answer = (call: Call) => Result | Promise<Result>

export interface ServiceOptions extends TaskStoreOptions {
  readonly info: JsonObject
  readonly instructions: string | undefined
  readonly sealer: Sealer
  readonly pageSize: number
  readonly ttlMs: number
  readonly revisions: readonly Revision[]
  readonly dialects: Dialects
  /** Capabilities to declare even if nothing that needs them is defined yet. */
  readonly declared: ReadonlySet<string>
  readonly experimental: JsonObject | undefined
  readonly extensions: JsonObject | undefined
  /** Whether callers get the messages of errors that were thrown by mistake. */
  readonly showsErrors: boolean
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
}

/** Everything a server defines, and the one function that answers requests. It does not own connections. */
export class ServerService implements Service {
  readonly info: JsonObject
  readonly changes: Changes = new Changes()
  readonly leases: Leases = new Leases()
  readonly load: Load = new Load()
  readonly observers: Observers = new Observers((error) =>
    this.report('error', 'an observer failed', { error }),
  )
  readonly revisions: readonly Revision[]
  #isClosed = false
  readonly dialects: Dialects
  readonly showsErrors: boolean
  readonly tools: List<ToolDefinition>
  readonly resources: List<ResourceDefinition>
  readonly templates: List<TemplateDefinition>
  readonly prompts: List<PromptDefinition>
  readonly completers: Map<string, Map<string, Completer>> = new Map()
  readonly middleware: MiddlewareEntry<Context>[] = []
  readonly providers: Provider[] = []
  readonly methods: Map<string, Handler<Context>> = new Map()
  readonly interceptors: Map<string, Interceptor[]> = new Map()
  readonly extensions: Map<string, ExtensionEntry> = new Map()
  /** Resolvers for completions other than prompts and templates, by the type of the reference. */
  readonly refs: Map<string, OwnerOf> = new Map()
  /** The open `subscriptions/listen` requests of each caller. */
  readonly streams: Map<unknown, Set<Listening>> = new Map()
  readonly onNotice: Map<string, (context: Context) => void> = new Map([
    ['notifications/initialized', initialized],
  ])
  readonly tasks: LateTasks
  #hasTasks: boolean | undefined
  #sharesSessions = false
  readonly #options: ServiceOptions
  readonly #parts: ServerParts
  readonly #warnings = new Warnings()
  #dispatch: Answer | undefined

  constructor(options: ServiceOptions) {
    this.#options = options
    const warnOfScopes = (item: string): void => this.#warnOfScopes(item)
    const warnOnce: ServerParts['warnOnce'] = (...warning) => this.warnOnce(...warning)
    const held = new HeldBytes(options.limits.heldBytes)
    const report: ServerParts['report'] = (...entry) => this.report(...entry)
    const { changes, load, observers } = this
    this.#parts = { ...options, changes, load, observers, held, warnOfScopes, warnOnce, report }
    this.info = options.info
    this.revisions = options.revisions
    this.dialects = options.dialects
    this.showsErrors = options.showsErrors
    this.tools = new List('tools', options)
    this.resources = new List('resources', { ...options, loosely: looseSpelling })
    this.templates = new List('resourceTemplates', options)
    this.prompts = new List('prompts', options)
    this.tasks = new LateTasks(this, options)
  }

  /** The folded function itself, so that this file adds no stack frame to a request. */
  get answer(): Answer {
    return (this.#dispatch ??= this.#fold())
  }

  notice(call: Call): void {
    try {
      this.onNotice.get(call.method)?.(new Context(call, this.#parts))
    } catch (error) {
      this.report('error', `the handler of ${call.method} failed`, { reference: call.reference, error })
    }
  }

  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void {
    try {
      // The function may be async, and one that rejects would end the process.
      const written: unknown = this.#options.report(level, message, facts)
      if (written instanceof Promise) written.catch(() => undefined)
    } catch {
      // A failing log must not fail the request.
    }
  }

  warnOnce(cause: string, item: string, message: string | (() => string)): void {
    if (!this.#warnings.isNew(cause, item)) return
    this.report('warning', typeof message === 'string' ? message : message())
  }

  /** Publishes a change of a resource. One whose URI no client may send is ignored. */
  updated(changed: string): void {
    const { uriLength } = this.#options.limits
    const uri = changed.length > uriLength ? changed : spellingOf(this.resources, changed)
    if (uri.length > uriLength) return this.warnOnce('updated', '', () => tooLongToNotify(uri, uriLength))
    let isKnown: boolean | undefined
    if (!isDefined(this, uri)) this.warnOnce('updated', uri, () => noSuchResource(this, uri))
    this.changes.publish({ kind: 'resource', uri, isForSome: () => (isKnown ??= isForSome(this, uri)) })
  }

  /** Adds an interceptor; those of one method run in the order they were added. */
  intercept(method: string, interceptor: Interceptor): void {
    const list = this.interceptors.get(method)
    if (list === undefined) this.interceptors.set(method, [interceptor])
    else list.push(interceptor)
    this.refold()
  }

  /** The context of a call before providers add to it. */
  contextOf(call: Call): Context {
    return new Context(call, this.#parts)
  }

  /** Hides items of every list, those that exist and those to come, from callers for whom `isVisible` says no. */
  restrict(isVisible: (item: VisibleItem, context: Context) => boolean): void {
    restrictList(this.tools, 'tool', isVisible)
    restrictList(this.resources, 'resource', isVisible)
    restrictList(this.templates, 'template', isVisible)
    restrictList(this.prompts, 'prompt', isVisible)
    this.refold()
  }

  /** Tells the operator if an item needs scopes. Called by transports whose callers have none. */
  reportScopes(): void {
    const { tools, resources, templates, prompts } = this
    for (const { items } of [tools, resources, templates, prompts])
      for (const { key, scopes } of items.values()) if (scopes !== undefined) return this.#warnOfScopes(key)
  }

  #warnOfScopes(item: string): void {
    const needs = `"${item.slice(0, 512)}" needs scopes, which callers without authentication do not have`
    this.warnOnce(
      'scopes',
      '',
      `${needs}; their requests for it are rejected; the option auth authenticates callers`,
    )
  }

  /** Folds anew at the next request: something was added that decides how requests are answered. */
  refold(): void {
    this.#dispatch = undefined
    this.#hasTasks = undefined
  }

  /** Whether the server offers a capability such as `tools` or `tools.listChanged`. */
  offers(capability: string): boolean {
    const [name] = capability.split('.') as [string]
    switch (name) {
      case 'tools':
        return this.#options.declared.has(name) || this.tools.registered.size > 0
      case 'resources':
        return (
          this.#options.declared.has(name) ||
          this.resources.registered.size + this.templates.registered.size > 0
        )
      case 'prompts':
        return this.#options.declared.has(name) || this.prompts.registered.size > 0
      case 'completions':
        return this.#completes || this.refs.size > 0
      case 'tasks':
        return (this.#hasTasks ??=
          this.#options.declared.has('async') ||
          [...this.tools.registered.values()].some(({ task }) => task !== undefined))
      default:
        return this.#options.declared.has(name)
    }
  }

  /** Whether prompts or templates can be completed; the capability covers nothing else. */
  get #completes(): boolean {
    return this.#options.declared.has('completions') || this.completers.size > 0
  }

  /** The declared capabilities, with extensions in the place that each revision has for them. */
  #capabilities(place: 'experimental' | 'extensions'): JsonObject {
    let { experimental, extensions } = this.#options
    if (this.extensions.size > 0) {
      const own = Object.fromEntries([...this.extensions].map(([id, { settings }]) => [id, settings]))
      if (place === 'extensions') extensions = { ...extensions, ...own }
      else experimental = { ...experimental, ...own }
    }
    const hasTasks = this.offers('tasks')
    if (hasTasks && place === 'extensions') extensions = { ...extensions, [TASKS_EXTENSION]: {} }
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
    return {
      ...(this.offers('tools') ? { tools: { listChanged: true } } : {}),
      ...(this.offers('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(this.offers('prompts') ? { prompts: { listChanged: true } } : {}),
      ...(this.#completes ? { completions: {} } : {}),
      ...(this.offers('logging') ? { logging: {} } : {}),
      ...(hasTasks && place === 'experimental' ? { tasks } : {}),
      ...(experimental === undefined ? {} : { experimental }),
      ...(extensions === undefined ? {} : { extensions }),
    }
  }

  #fold(): Answer {
    const { methods, providers } = this
    const dispatch = createDispatch({
      routes: this.#routes(),
      middleware: this.middleware,
      methodLength: this.#options.limits.methodLength,
      warnOnce: this.#parts.warnOnce,
      offers: (capability) => this.offers(capability),
      context: (call) => {
        respell(this, call, this.#options.limits.uriLength)
        const context = new Context(call, this.#parts)
        if (providers.length === 0) return context
        return isForItems(call.method) || methods.has(call.method)
          ? provided(context, providers, this.#parts)
          : context
      },
    })
    if (this.interceptors.size === 0) return this.#saving(dispatch)
    const answer: Answer = (call) => (intercepted.get(call.method) ?? dispatch)(call)
    const intercepted = new Map(
      [...this.interceptors].map(([method, list]) => {
        // An interceptor may pass on a call of another method, which has interceptors of its own.
        const rest: Answer = (call) => (call.method === method ? dispatch : answer)(call)
        return [method, chained(list, rest)]
      }),
    )
    return this.#saving(answer)
  }

  /** Answers once other nodes can know what a request changed in its session. */
  #saving(answer: Answer): Answer {
    return this.#sharesSessions ? (call) => soon(answer(call), (result) => whenSaved(call, result)) : answer
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  set isClosed(isClosed: boolean) {
    this.#isClosed = isClosed
    this.changes.hurry(isClosed)
  }

  /** Lets other nodes serve the sessions of this one. */
  async shareSessions(): Promise<SessionContents> {
    const { createContents } = await import('./session-contents.ts')
    this.#sharesSessions = true
    this.refold()
    return createContents(this, this.#parts)
  }

  /** The handler of `resources/list`: pages are cached unless templates list resources too. */
  #listing(wrapped: boolean): Handler<Context> {
    const { resources, templates } = this
    if (![...templates.items.values()].some(isListing)) return (context) => resources.page(context, wrapped)
    return listResources.bind(undefined, { ...this.#options, resources, templates }, wrapped)
  }

  #routes(): Map<string, Handler<Context>> {
    const { instructions, ttlMs, pageSize } = this.#options
    const greeting: Greeting = {
      info: this.info,
      capabilities: this.#capabilities('experimental'),
      instructions,
      ttlMs,
      revisions: this.revisions,
      dialects: this.dialects,
    }
    const lists = { resources: this.resources, templates: this.templates, ttlMs }
    const completing = {
      prompts: this.prompts,
      templates: lists.templates,
      completers: this.completers,
      refs: this.refs,
    }
    const found = { ...greeting, capabilities: this.#capabilities('extensions') }
    const offers = (capability: string): boolean => this.offers(capability)
    const { changes, streams, extensions, tasks } = this
    const listening = { changes, lists, streams, extensions, offers, tasks: tasks.load }
    const wrapped = new Set(this.middleware.map(({ method }) => method))
    const wraps = (method: string): boolean =>
      wrapped.has(method) || wrapped.has(undefined) || this.interceptors.has(method)
    const routes: [string, Handler<Context>][] = [
      [
        'initialize',
        initialize.bind(undefined, greeting, (...args) => follow(this.changes, ...args), wraps('initialize')),
      ],
      ['server/discover', () => discover(found, wraps('server/discover'))],
      ['ping', ping],
      ['tools/list', (context) => this.tools.page(context, wraps('tools/list'))],
      ['tools/call', callTool.bind(undefined, this.tools, this.offers('tasks') ? tasks.hook : undefined)],
      ['resources/list', this.#listing(wraps('resources/list'))],
      [
        'resources/templates/list',
        (context) => this.templates.page(context, wraps('resources/templates/list')),
      ],
      ['resources/read', (context) => readResource(lists, context)],
      ['resources/subscribe', later(subscriptions, ({ subscribe }, context) => subscribe(lists, context))],
      ['resources/unsubscribe', later(subscriptions, ({ unsubscribe }, context) => unsubscribe(context))],
      ['prompts/list', (context) => this.prompts.page(context, wraps('prompts/list'))],
      ['prompts/get', (context) => getPrompt(this.prompts, context)],
      ['completion/complete', (context) => complete(completing, context)],
      ['logging/setLevel', (context) => setLevel(callOf(context))],
      ['subscriptions/listen', later(subscriptions, ({ listen }, context) => listen(listening, context))],
      ['tasks/get', tasks.handler(({ getTask, tasks }, context) => getTask(tasks, context))],
      [
        'tasks/result',
        tasks.handler(({ taskResult, tasks }, context) => taskResult(tasks, this.load, context)),
      ],
      ['tasks/list', tasks.handler(({ listTasks, tasks }, context) => listTasks(tasks, pageSize, context))],
      ['tasks/update', tasks.handler(({ updateTask, tasks }, context) => updateTask(tasks, context))],
      ['tasks/cancel', tasks.handler(({ cancelTask, tasks }, context) => cancelTask(tasks, context))],
    ]
    return new Map([...routes, ...this.methods])
  }
}

/** Folds interceptors around the usual way; the first is the outermost. */
function chained(interceptors: readonly Interceptor[], dispatch: Answer): Answer {
  return interceptors.reduceRight<Answer>((next, interceptor) => (call) => interceptor(call, next), dispatch)
}

function whenSaved(call: Call, result: Result): Result | Promise<Result> {
  const saving = call.peer.session?.keeper?.saved()
  return saving === undefined ? result : saving.then(() => result)
}

const subscriptions = () => import('./subscriptions.ts')
