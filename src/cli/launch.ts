import { pathToFileURL } from 'node:url'
import type { ItemList, ListenOptions, Running } from 'pierhead'
import { Deferred } from '../base/deferred.ts'
import { chooseServer, type Exports } from './exported-server.ts'
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
  /** Returns the transports to open instead of those that the program names; undefined opens its own. */
  readonly listen: ((own: ListenOptions) => ListenOptions) | undefined
  /** Returns the transports of a server that the program only exports. `own` are those of its option `transports`, if it has that. Default: `own`. */
  exported?(own: ListenOptions | undefined): ListenOptions
  /** Makes the server listen in one worker, which can be replaced. */
  readonly worker?: { readonly startMs: number } | undefined
  /** Ends the wait for a program that does not listen yet. A server that listens closes itself at the end of the process. */
  readonly signal?: AbortSignal | undefined
  /** Is called with the server before it listens. */
  onServer?(app: LaunchedServer): void
}

/** Runs a program, and lets its server listen. Rejects with the reason of the signal if that aborts before. */
export async function launch(file: SourceFile, options: LaunchOptions): Promise<Running> {
  const { signal } = options
  if (signal === undefined) return start(file, options, () => undefined)
  const interrupted = new Deferred<never>()
  const end = (): void => interrupted.reject(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  const listens = (): void => signal.removeEventListener('abort', end)
  try {
    return await Promise.race([interrupted.promise, start(file, options, listens)])
  } finally {
    listens()
  }
}

/** `onOpen` is called when a server listens. */
async function start(file: SourceFile, options: LaunchOptions, onOpen: () => void): Promise<Running> {
  importSources(file.path)
  const known = new Set<object>()
  const opening: Promise<Running>[] = []
  const begun = new Deferred<void>()
  let exported: LaunchedServer | undefined
  const launcher = {
    worker: options.worker,
    /** A built file reads this. */
    listens: false,
    opening(_: LaunchedServer, running: Promise<Running>): void {
      this.listens = true
      opening.push(running)
      // Whoever waits for the server hears of an error.
      running.then(onOpen, () => undefined)
      begun.resolve()
    },
    listen(app: LaunchedServer, given: ListenOptions): ListenOptions {
      if (!known.has(app)) options.onServer?.(app)
      known.add(app)
      const own =
        app === exported && options.exported !== undefined
          ? options.exported(namesTransports(given) ? given : undefined)
          : given
      return options.listen === undefined ? own : { ...withoutTransports(own), ...options.listen(own) }
    },
  }
  Object.assign(globalThis, { [Symbol.for('pierhead.launcher')]: launcher })
  const module = (await import(pathToFileURL(file.path).href)) as Exports
  if (opening.length === 0) {
    const choice = chooseServer(module, file.path, file.name)
    if ('server' in choice) {
      exported = choice.server as LaunchedServer
      return exported.listen()
    }
    // A function that the program did not await may come to it.
    if (!(await listensLater(begun.promise, options.worker?.startMs)))
      throw new Failure(choice.problem, { hint: choice.hint })
  }
  return firstOpen(opening)
}

/** How long a program may take until it calls `listen`. */
const START_MS = 30_000

/** Waits until a program listens, has nothing left to do, or takes too long. Answers whether it listens. */
async function listensLater(begun: Promise<void>, startMs: number = START_MS): Promise<boolean> {
  const over = new Deferred<false>()
  const end = (): void => over.resolve(false)
  const timer = setTimeout(end, startMs)
  // The timer and the channel to the parent process are no work of the program.
  timer.unref()
  process.channel?.unref()
  process.once('beforeExit', end)
  try {
    return await Promise.race([begun.then(() => true), over.promise])
  } finally {
    clearTimeout(timer)
    process.channel?.ref()
    process.removeListener('beforeExit', end)
  }
}

/** The first server that is open. A program may try again where it could not listen; if it does not, that error counts. */
async function firstOpen(opening: readonly Promise<Running>[]): Promise<Running> {
  for (let index = 0; ; index++) {
    try {
      return await (opening[index] as Promise<Running>)
    } catch (error) {
      // The program hears of it after this.
      await new Promise((resolve) => setImmediate(resolve))
      if (index + 1 === opening.length) throw error
    }
  }
}

const TRANSPORTS: readonly string[] = ['stdio', 'http', 'ws', 'tcp', 'unix', 'workers']

function namesTransports(options: ListenOptions): boolean {
  return Object.keys(options).some((name) => TRANSPORTS.includes(name))
}

function withoutTransports(options: ListenOptions): ListenOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !TRANSPORTS.includes(name)))
}
