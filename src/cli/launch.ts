import { pathToFileURL } from 'node:url'
import type { ItemList, ListenOptions, Running } from 'pierhead'
import { Failure } from './failure.ts'
import type { SourceFile } from './source-file.ts'
import { importSources } from './typescript.ts'

/** A server of a program, as far as the command uses it. It may come from another copy of the package. */
export interface LaunchedServer {
  listen(options?: ListenOptions): Promise<Running>
  use(plugin: object): unknown
  changed(list?: ItemList): void
}

export interface LaunchOptions {
  /** The transports to open instead of those that the program names; undefined for its own. A function gets the options of the program. */
  readonly listen: ListenOptions | ((own: ListenOptions) => ListenOptions) | undefined
  /** The transports to open if the program exports a server and does not listen itself. */
  readonly otherwise: ListenOptions
  /** Makes the server listen in one worker, which can be replaced. */
  readonly worker?: { readonly startMs: number } | undefined
  /** Is called with the server before it listens. */
  onServer?(app: LaunchedServer): void
}

/** Runs a program, and lets its server listen. */
export async function launch(file: SourceFile, options: LaunchOptions): Promise<Running> {
  importSources(file.path)
  const known = new Set<object>()
  const meet = (app: LaunchedServer): void => {
    if (!known.has(app)) options.onServer?.(app)
    known.add(app)
  }
  let running: Running | undefined
  const launcher = {
    worker: options.worker,
    listen(app: LaunchedServer, own: ListenOptions): ListenOptions {
      meet(app)
      const { listen } = options
      if (listen === undefined) return own
      return { ...withoutTransports(own), ...(typeof listen === 'function' ? listen(own) : listen) }
    },
    listening(_: LaunchedServer, opened: Running): void {
      running ??= opened
    },
  }
  Object.assign(globalThis, { [Symbol.for('pierhead.launcher')]: launcher })
  const module = (await import(pathToFileURL(file.path).href)) as Readonly<Record<string, unknown>>
  if (known.size === 0) return exportedServer(module, file).listen(options.otherwise)
  // The program may not have waited until its server was open.
  while (running === undefined) await new Promise((resolve) => setTimeout(resolve, 10))
  return running
}

const TRANSPORTS: readonly string[] = ['stdio', 'http', 'ws', 'tcp', 'unix', 'workers']

function withoutTransports(options: ListenOptions): ListenOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !TRANSPORTS.includes(name)))
}

/** The server that a module exports: under the given name, as default, or as its only one. */
function exportedServer(
  module: Readonly<Record<string, unknown>>,
  { path, name }: SourceFile,
): LaunchedServer {
  const servers = Object.entries(module).filter(([, value]) => isServer(value))
  const [, found] =
    servers.find(([key]) => key === (name ?? 'default')) ??
    (name === undefined && servers.length === 1 ? (servers[0] ?? []) : [])
  if (found !== undefined) return found as LaunchedServer
  if (name !== undefined)
    throw new Failure(`${path} does not export a server "${name}"`, {
      hint:
        servers.length > 0
          ? `It exports ${servers.map(([key]) => key).join(', ')}.`
          : 'Write: export const name = createServer(…)',
    })
  throw new Failure(`${path} neither exports a server nor calls listen()`, {
    hint:
      servers.length > 1
        ? `Name one of its servers: ${servers.map(([key]) => `${path}:${key}`).join(', ')}`
        : 'End it with: export default app',
  })
}

function isServer(value: unknown): value is LaunchedServer {
  const { listen, connect, tool } = (value ?? {}) as Readonly<Record<string, unknown>>
  return [listen, connect, tool].every((member) => typeof member === 'function')
}
