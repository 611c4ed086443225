import { availableParallelism } from 'node:os'
import { hooksOf, serviceOf, type App } from '../app.ts'
import { launcher } from './launcher.ts'
import { lazy } from '../../base/lazy.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import type { Context } from '../../server/context.ts'
import { guardStdout, releaseStdout, unguardStdout } from '../../transport/stdio/guard.ts'
import { serveStdio, type StdioServer } from '../../transport/stdio/server.ts'
import { closeOnSignal, exitWhenClosed } from './exit.ts'
import { watchUncaught } from './uncaught.ts'
import type { ListenOptions, ServerOptions, StdioOptions } from '../options.ts'
import { takesStdout } from '../logger.ts'
import { defaultListen, secretsOf } from '../settings.ts'
import { HTTP_OPTIONS, LISTEN_OPTIONS, STDIO_OPTIONS } from './options.ts'

/** The transports that have an address. */
type Addressed = Exclude<keyof ListenOptions, 'stdio' | 'onUncaught' | 'workers'>

/** A server that is listening. */
export interface Running {
  /** The URL for HTTP clients, if HTTP is open. */
  readonly url: string | undefined
  /** The address of each open transport, in the form that `connect` accepts; stdio has none. */
  readonly addresses: { readonly [Name in Addressed | 'sse']?: string }
  /**
   * Reads the certificates of all transports again, if `tls` is a function. New connections get them; open ones go on with the
   * old ones. Rejects if they cannot be used; the old ones then stay. Without this, they are read every minute.
   */
  reloadTls(): Promise<void>
  /** The number of this process among the workers, from 1; undefined in their parent, and without the option `workers`. */
  readonly worker: number | undefined
  /**
   * Replaces the processes of the option `workers` one after the other, for example to run a new version of the program. Each old one ends
   * after a new one listens and its own connections are idle, so no request is rejected. Resolves when all old ones have ended. Call it in
   * the parent, or send that SIGHUP. Rejects without `workers`, or if the new program does not start; the old processes then stay.
   */
  restart(): Promise<void>
  /** Resolves when all transports have closed. */
  readonly closed: Promise<void>
  /** Finishes running requests, and tasks if nothing else uses the server, for at most `limits.drainMs`, then closes these transports. `app.close` closes all. */
  close(): Promise<void>
}

/** The functions with which a process starts. */
export interface Starters {
  readonly listen: typeof listen
  readonly work: typeof work
}

/** A transport that is open. */
export interface Opened {
  /** The address for clients, in the form that `connect` accepts. */
  readonly url: string
  /** The address for clients of HTTP+SSE, if it is served. */
  readonly sse?: string | undefined
  readonly tls?: { reload(): Promise<void> } | undefined
  /** Takes no new connections. Resolves when those that it has are not needed any more. */
  retire?(): Promise<void>
  /** Finishes running requests, then closes. */
  close(): Promise<void>
}

/** The transports that are already open, for one that shares a port. */
export type OpenedSoFar = ReadonlyMap<Addressed, Opened>

/** Opens a transport with the value of its option, which is neither undefined nor false. */
export type Opener<Name extends Addressed> = (
  app: App<Context>,
  option: Exclude<ListenOptions[Name], undefined | false>,
  opened: OpenedSoFar,
) => Promise<Opened>

/** The function that opens each transport, in this order. Its code is loaded only if it is used. */
const OPENERS: { readonly [Name in Addressed]: () => Promise<Opener<Name>> } = {
  http: async () => (await import('./http.ts')).openHttp,
  ws: async () => (await import('./ws.ts')).openWs,
  tcp: async () => (await import('./tcp.ts')).openTcp,
  unix: async () => (await import('./tcp.ts')).openUnix,
}
const WORKERS = lazy(() => import('./workers.ts'))
const ADDRESSED = Object.keys(OPENERS) as readonly Addressed[]
const TRANSPORTS: readonly ('stdio' | Addressed)[] = ['stdio', ...ADDRESSED]

/**
 * Opens the transports in the options. Without any, it opens the defaults of the server; if the options only turn
 * transports off, it opens stdio.
 */
export async function listen<Ctx extends Context>(
  app: App<Ctx, unknown>,
  given: ListenOptions,
  server: ServerOptions,
): Promise<Running> {
  secretsOf(server)
  if (typeof given !== 'object' || given === null) throw notOptions(given)
  const options = launcher()?.listen(app, withTransports(given, server)) ?? given
  const misplaced = Object.keys(options).find((name) => Object.hasOwn(HTTP_OPTIONS, name))
  if (misplaced !== undefined) {
    const reason = `"${misplaced}" is an option of http: write { http: { ${misplaced} } }`
    throw badOption('listen', reason)
  }
  if ('survive' in options) {
    const value = options.survive === false ? 'exit' : 'report'
    const reason = `the option "survive" is now onUncaught: write onUncaught: '${value}'`
    throw badOption('listen', reason)
  }
  checkOptions('listen', options, LISTEN_OPTIONS)
  const asked = namesTransport(options) ? options : defaultListen(server)
  const wanted = ADDRESSED.filter((name) => asked[name] !== undefined && asked[name] !== false)
  const stdioOptions = typeof asked.stdio === 'object' ? asked.stdio : {}
  checkOptions('listen stdio', stdioOptions, STDIO_OPTIONS)
  const wantsStdio = asked.stdio ?? wanted.length === 0
  if (wanted.length === 0 && wantsStdio === false)
    throw badOption('listen', 'name a transport: { stdio: true } or { http: {} }')
  if (wantsStdio !== false && takesStdout(server.log)) {
    const reason =
      'log writes to stdout, which carries the protocol: write log: pino(pino.destination(2)), which is stderr'
    throw badOption('listen stdio', reason)
  }
  const count = countWorkers(options.workers)
  const worker = launcher()?.worker
  if (count > 1 || worker !== undefined) {
    checkWorkers(wantsStdio !== false, wanted)
    const { listenInWorkers } = await WORKERS()
    return listenInWorkers(app as unknown as App<Context>, {
      count,
      launched: worker,
      options: asked,
      onUncaught: options.onUncaught,
      open: (own) => openHere(app as unknown as App<Context>, wanted, { ...own, stdio: false }),
    })
  }
  const { scopes, keys } = stdioOptions
  if (keys !== undefined && scopes !== undefined)
    throw badOption(
      'listen stdio',
      'with keys, each key has its own scopes: write allowKeys([{ key, scopes }])',
    )
  const { onUncaught } = options
  const here = { ...asked, onUncaught, stdio: wantsStdio !== false && stdioOptions }
  return (await openHere(app as unknown as App<Context>, wanted, here)).running
}

function namesTransport(options: ListenOptions): boolean {
  return TRANSPORTS.some((name) => options[name] !== undefined)
}

/** The options, with the transports of the server if they name none and it does. */
function withTransports(options: ListenOptions, server: ServerOptions): ListenOptions {
  const hasDefault = server.transports !== undefined && !namesTransport(options)
  return hasDefault ? { ...defaultListen(server), ...options } : options
}

/** A server that listens in this process. */
export interface Local {
  readonly running: Running
  /** Takes no new connections. Resolves when those that it has are not needed any more. */
  retire(): Promise<void>
}

/** Opens transports in this process. */
async function openHere(
  app: App<Context>,
  wanted: readonly Addressed[],
  options: Omit<ListenOptions, 'stdio'> & { readonly stdio: false | StdioOptions },
): Promise<Local> {
  const wantsStdio = options.stdio !== false
  // Output must not reach stdout while another transport opens, nor while the server stops: the client may still read.
  if (wantsStdio) guardStdout()
  const join = (): Promise<unknown> => hooksOf(app).membership.join()
  const opened = await openAll(app, join, wanted, options).catch((error: unknown) => {
    if (wantsStdio) unguardStdout()
    throw error
  })
  const stdio =
    options.stdio === false ? undefined : serveStdio(serviceOf(app), { limits: app.limits, ...options.stdio })
  if (stdio !== undefined && opened.size === 0 && process.stdin.isTTY === true)
    serviceOf(app).report('warning', inTerminal(process.argv[1] ?? 'server.js'))
  const removeHandlers = watchUncaught(serviceOf(app), options.onUncaught === 'exit')
  const retire = async (): Promise<void> =>
    void (await Promise.all([...opened.values()].map(async (one) => one.retire?.())))
  return { running: running(app, opened, stdio, removeHandlers), retire }
}

/** The number of processes; 1 means this one alone. */
function countWorkers(workers: ListenOptions['workers']): number {
  return workers === 'auto' ? availableParallelism() : (workers ?? 1)
}

/** Several processes cannot share stdin, nor the file of a socket. */
function checkWorkers(wantsStdio: boolean, wanted: readonly Addressed[]): void {
  if (!wantsStdio && !wanted.includes('unix')) return
  const reason = `${wantsStdio ? 'stdio' : 'a Unix socket'} belongs to one process; use workers with http, ws and tcp alone`
  throw badOption('listen workers', reason)
}

/** The longest time of a timer. */
const LONGEST_MS = 2 ** 31 - 1

/** Runs tasks without a transport, until it is closed. */
export async function work<Ctx extends Context>(
  app: App<Ctx, unknown>,
  { store }: ServerOptions,
): Promise<Running> {
  if (store?.tasks === undefined || store.tasks.isInMemory === true)
    throw badOption('app.work', 'give createServer a store that other processes share, such as postgres(url)')
  releaseStdout()
  const join = (): Promise<unknown> => hooksOf(app).membership.joinAsWorker()
  const opened = await openAll(app as unknown as App<Context>, join, [], {})
  const removeHandlers = watchUncaught(serviceOf(app), false)
  // Nothing else keeps the process alive while no task runs.
  const alive = setInterval(() => undefined, LONGEST_MS)
  return running(app as unknown as App<Context>, opened, undefined, () => {
    clearInterval(alive)
    removeHandlers()
  })
}

/** Nothing happens in a terminal, because there the messages of a client are missing. */
function inTerminal(program: string): string {
  const shown = program.split(/[\\/]/).at(-1) as string
  // Node 20 needs tsx for TypeScript. Flags of Node are not repeated: the Inspector takes them for its own.
  const runner = process.execArgv.some((flag) => /(^|[\\/=])tsx($|[\\/])/.test(flag)) ? 'npx tsx' : 'node'
  return (
    'waiting for MCP messages on stdin, which a client sends when it starts this program; ' +
    `to try it, run: npx @modelcontextprotocol/inspector ${runner} ${shown}; for a URL, write listen({ http: {} })`
  )
}

function notOptions(given: unknown): Error {
  const port = Number.isInteger(given) ? given : 3000
  const reason = `expected an object with options; write { http: { port: ${String(port)} } } or { stdio: true }`
  return badOption('listen', reason)
}

/** Starts the server, opens the transports one after the other, and lets tasks run. If one fails, it closes those that are open. */
async function openAll(
  app: App<Context>,
  join: () => Promise<unknown>,
  wanted: readonly Addressed[],
  options: ListenOptions,
): Promise<OpenedSoFar> {
  const opened = new Map<Addressed, Opened>()
  const hooks = hooksOf(app)
  let isStarted = false
  try {
    await hooks.enter()
    isStarted = true
    await serviceOf(app).tasks.open()
    await join()
    for (const name of wanted) {
      const open = (await OPENERS[name]()) as Opener<Addressed>
      opened.set(name, await open(app, options[name] as never, opened))
    }
  } catch (error) {
    await Promise.allSettled([...opened.values()].map((one) => one.close()))
    if (isStarted) await hooks.leave()
    throw error
  }
  serviceOf(app).tasks.start()
  return opened
}

function noWorkers(): Error {
  const reason = 'it replaces the processes of listen({ workers }), and is called in their parent'
  return badOption('restart', reason)
}

async function reloadAll(opened: OpenedSoFar): Promise<void> {
  const all = [...opened.values()].map(({ tls }) => tls).filter((tls) => tls !== undefined)
  if (all.length === 0) throw badOption('reloadTls', 'none of these transports uses TLS; give one tls')
  await Promise.all(all.map((tls) => tls.reload()))
}

function running(
  app: App<Context>,
  opened: OpenedSoFar,
  stdio: StdioServer | undefined,
  removeHandlers: () => void,
): Running {
  let closing: Promise<void> | undefined
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  const closeAll = async (): Promise<void> => {
    const until = performance.now() + app.limits.drainMs
    const all = [...opened.values(), ...(stdio === undefined ? [] : [stdio])]
    const ends = await Promise.allSettled(all.map(async (one) => one.close()))
    await hooksOf(app).leave(until)
    if (stdio !== undefined) unguardStdout()
    ignoreSignals()
    removeHandlers()
    finish()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  const close = (): Promise<void> => (closing ??= closeAll())
  const ignoreSignals = closeOnSignal(app)
  void stdio?.closed.then(async (ended) => {
    // A program that closes it goes on, for example to close its store.
    if (ended === undefined) return
    // Services and containers often start without an input; other transports go on then.
    if (opened.size > 0 && !stdio.isUsed) return
    // A client that closes our stdin is finished, so the process exits even if something keeps it alive.
    await exitWhenClosed([app])
  })
  const sse = opened.get('http')?.sse
  const urls = Object.fromEntries([...opened].map(([name, { url }]) => [name, url]))
  const addresses = { ...urls, ...(sse !== undefined && { sse }) }
  const reloadTls = (): Promise<void> => reloadAll(opened)
  const restart = (): Promise<never> => Promise.reject(noWorkers())
  return { url: opened.get('http')?.url, addresses, reloadTls, worker: undefined, restart, closed, close }
}
