import type { CallOptions } from '../client/options.ts'
import { McpError } from '../errors/error.ts'
import type { Context } from '../server/context.ts'
import { Apps, type AppAction, type AppFacts, type AppShown, type AppUnit } from './app-registry.ts'
import { defineExtension, type Extension, type Remote } from './define.ts'
import { listenFor } from './listen-for.ts'
import type { Host } from './install.ts'
import type { Requester } from './remote.ts'

/** The apps of a server as a client uses them: `apps.of(client)`. */
export interface AppsApi {
  /** Every app and its state: `apps`, in the order of registration. */
  list(
    params?: Readonly<Record<string, never>>,
    options?: CallOptions,
  ): Promise<{ readonly apps: readonly AppShown[] }>
  /** One app and its state. */
  get(params: Named, options?: CallOptions): Promise<Shown>
  /** Adds an app, if the server allows it. It has no code and does not control tools. */
  register(params: AppFacts, options?: CallOptions): Promise<Shown>
  /** Starts an app, if the server allows it; its tools become available. */
  start(params: Named, options?: CallOptions): Promise<Shown>
  /** Stops an app, if the server allows it; its tools are hidden. */
  stop(params: Named, options?: CallOptions): Promise<Shown>
  /** Stops and removes an app, if the server allows it. */
  unregister(params: Named, options?: CallOptions): Promise<object>
  /** Calls back whenever the list changed; resolves to a function that ends this. */
  onChange(listener: () => void): Promise<() => void>
}

type Named = {
  /** The name of the app. */
  readonly name: string
}
type Shown = {
  /** The app after the request. */
  readonly app: AppShown
}

const ID = 'dev.pierhead/apps'

const TEXT = { type: 'string', maxLength: 2048 } as const
const FACTS = {
  name: { type: 'string', minLength: 1, maxLength: 128 },
  title: TEXT,
  description: TEXT,
  version: TEXT,
  tools: { type: 'array', items: { type: 'string', maxLength: 256 }, maxItems: 256 },
} as const
const NAMED = { type: 'object', properties: { name: FACTS.name }, required: ['name'] } as const
const REGISTERED = {
  type: 'object',
  properties: FACTS,
  required: ['name'],
  additionalProperties: false,
} as const
const SHOWN = {
  type: 'object',
  properties: { ...FACTS, state: { enum: ['registered', 'running', 'stopped'] } },
  required: ['name', 'state'],
}
const ONE = { type: 'object', properties: { app: SHOWN }, required: ['app'] }
const ALL = {
  type: 'object',
  properties: { apps: { type: 'array', items: SHOWN } },
  required: ['apps'],
}

const METHODS = {
  list: { about: 'Every app and its state.', result: ALL, idempotent: true },
  get: { about: 'One app.', params: NAMED, result: ONE, idempotent: true },
  register: { about: 'Adds an app, if the server allows clients to.', params: REGISTERED, result: ONE },
  start: { about: 'Starts an app; its tools become available.', params: NAMED, result: ONE },
  stop: { about: 'Stops an app; its tools are hidden.', params: NAMED, result: ONE },
  unregister: { about: 'Removes an app, if the server allows clients to.', params: NAMED },
} as const

/** Named units of a server that are started and stopped as one: `dev.pierhead/apps/…`. */
export const apps: Extension<AppsApi, readonly AppUnit[] | Apps> = /* @__PURE__ */ defineExtension({
  id: ID,
  about: 'Named units of the server that are started and stopped together with their tools.',
  methods: METHODS,
  notices: ['list_changed'],
  settings: { listChanged: true },
  serve: (given: readonly AppUnit[] | Apps | undefined, host: Host) => {
    const registry = given instanceof Apps ? given : new Apps(given ?? [])
    hideTools(registry, host)
    const toOne = (app: AppShown, context: Context): Shown => ({ app: shownTo(context, app, host) })
    return {
      list: (_params, context) => ({ apps: registry.list().map((app) => toOne(app, context).app) }),
      get: ({ name }, context) => toOne(registry.get(name), context),
      register: async (facts, context) => {
        await permit(registry, 'register', facts, context)
        return toOne(registry.registerForeign(facts), context)
      },
      start: async ({ name }, context) => {
        await permit(registry, 'start', registry.get(name), context)
        return toOne(await registry.start(name), context)
      },
      stop: async ({ name }, context) => {
        await permit(registry, 'stop', registry.get(name), context)
        return toOne(await registry.stop(name), context)
      },
      unregister: async ({ name }, context) => {
        await permit(registry, 'unregister', registry.get(name), context)
        await registry.unregister(name)
      },
    }
  },
  client: (remote: Remote<typeof METHODS>, client: Requester): AppsApi => ({
    ...(remote as unknown as Omit<AppsApi, 'onChange'>),
    onChange: (listener) => listenFor(client, ID, () => listener()),
  }),
})

/** Hides the tools of stopped apps, whenever the tools are defined, and notifies clients of every change. */
function hideTools(registry: Apps, { service, notify }: Host): void {
  const { tools, changes } = service
  const { transform } = tools
  const owned = new Set<string>()
  tools.transform = (given) => {
    const tool = transform(given)
    const { key } = tool
    return owned.has(key) ? { ...tool, isThere: () => registry.isThere(key) } : tool
  }
  const cover = (): void => {
    for (const name of registry.tools) {
      if (owned.has(name)) continue
      owned.add(name)
      tools.refresh(name)
    }
  }
  cover()
  registry.onChange(() => {
    cover()
    if (owned.size > 0) changes.publish({ kind: 'tools' })
    notify('list_changed')
  })
}

/** An app with those of its tools that the caller sees while it runs. */
function shownTo(context: Context, app: AppShown, { service }: Host): AppShown {
  if (app.tools === undefined) return app
  return { ...app, tools: app.tools.filter((name) => service.tools.isKnownTo(context, name)) }
}

async function permit(registry: Apps, action: AppAction, app: AppFacts, context: Context): Promise<void> {
  if (await registry.allow(action, app, context)) return
  throw new McpError('bad_params', `this server does not let clients ${action} the app "${app.name}"`)
}
