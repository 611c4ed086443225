import cluster from 'node:cluster'
import { isatty } from 'node:tty'
import { badOption } from '../../base/options.ts'
import { parseUrl } from '../../protocol/url.ts'
import type { Context } from '../../server/context.ts'
import { releaseStdout } from '../../transport/stdio/guard.ts'
import { Channel } from '../../workers/channel.ts'
import { combineStores } from '../../workers/combine.ts'
import { errorToData } from '../../workers/error-data.ts'
import { parentStore, type StoreLink } from '../../workers/parent-store.ts'
import { onUnreadable, portToParent } from '../../workers/ports.ts'
import { reportedNodes } from '../../workers/reported-nodes.ts'
import { openParentStores, StoreGuest, type News } from '../../workers/store-host.ts'
import { Supervisor } from '../../workers/supervisor.ts'
import { WORKER_VARIABLE, type Addresses, type Welcome } from '../../workers/worker-process.ts'
import { hooksOf, serviceOf, type App } from '../app.ts'
import type { ListenOptions } from '../options.ts'
import { closeOnSignal, exitWhenClosed, forwardSignals } from './exit.ts'
import type { LaunchedWorker } from './launcher.ts'
import type { Local, Running } from './listen.ts'
import { watchUncaught } from './uncaught.ts'

interface WorkersOptions {
  readonly count: number
  /** How a launcher wants them to be kept. */
  readonly launched?: LaunchedWorker | undefined
  /** The transports. */
  readonly options: ListenOptions
  readonly onUncaught: ListenOptions['onUncaught']
  /** Opens the transports in this process. */
  open(options: ListenOptions): Promise<Local>
}

const WHERE = 'listen workers'
/** How much longer than its requests and `onStop` a process may take to end. */
const SPARE_MS = 5000
/** The longest time that clients have to use the connections of a process that was replaced. */
const LONGEST_IDLE_MS = 300_000
let isUsed = false

/** Serves the same ports with several processes. In the one that the user started, this starts the others; in those, it listens. */
export async function listenInWorkers(app: App<Context>, options: WorkersOptions): Promise<Running> {
  if (isUsed) throw badOption(WHERE, 'a process can do this once; give each server a program of its own')
  const number = Number(process.env[WORKER_VARIABLE])
  const isWorker = cluster.isWorker && number > 0
  if (cluster.isWorker && !isWorker)
    throw badOption(WHERE, 'this process is a worker of another program already; leave out workers')
  if (!isWorker && process.argv[1] === undefined)
    throw badOption(WHERE, 'workers run the program again, so it must be in a file')
  isUsed = true
  return isWorker ? listenAsWorker(app, options, number) : listenAsParent(app, options)
}

async function listenAsParent(
  app: App<Context>,
  { count, launched, onUncaught }: WorkersOptions,
): Promise<Running> {
  const service = serviceOf(app)
  const stores = openParentStores()
  releaseStdout()
  const { drainMs, idleMs } = app.limits
  const stopMs = 2 * drainMs + SPARE_MS
  const supervisor = new Supervisor({
    count,
    stores,
    stopMs,
    retireMs: Math.min(idleMs, LONGEST_IDLE_MS) + drainMs + stopMs,
    startMs: launched?.startMs,
    triesOnce: launched !== undefined,
    report: (...entry) => service.report(...entry),
    onDied: (nodes) => hooksOf(app).membership.declareDead(nodes),
    onGivenUp(error) {
      service.report('error', error.message, { error })
      void exitWhenClosed([app], 1)
    },
  })
  const before = { ...hooksOf(app).membership.stores }
  const guest: StoreGuest = new StoreGuest(stores, () => setImmediate(() => onNews(guest.takeNews() ?? [])))
  const onNews = useStores(app, linkHere(guest), supervisor.parent)
  let addresses: Addresses
  try {
    // What the program does here, such as app.updated, concerns the clients of all processes.
    await hooksOf(app).membership.join()
    addresses = await supervisor.start()
  } catch (error) {
    isUsed = false
    await hooksOf(app).membership.leave()
    Object.assign(hooksOf(app).membership.stores, before)
    throw error
  }
  const stopWatching = [
    closeOnSignal(app),
    watchUncaught(service, onUncaught === 'exit'),
    restartOnHangUp(supervisor, (error) =>
      service.report('error', 'the workers could not be replaced', { error }),
    ),
  ]
  let finish = (): void => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closing ??= supervisor.stop().then(async () => {
      await hooksOf(app).membership.leave()
      for (const stop of stopWatching) stop()
      finish()
    }))
  return {
    url: addresses['http'],
    addresses,
    reloadTls: () => supervisor.reloadTls(),
    worker: undefined,
    restart: () => supervisor.restart(),
    closed,
    close,
  }
}

async function listenAsWorker(
  app: App<Context>,
  { options, onUncaught, open }: WorkersOptions,
  number: number,
): Promise<Running> {
  let local: Local | undefined
  let onNews = (_news: News): void => undefined
  const channel = new Channel(portToParent(), {
    news: (news: News) => onNews(news),
    reloadTls: () => local?.running.reloadTls(),
    stop: () => {
      hooksOf(app).membership.endAll()
      void exitWhenClosed([app], 0)
    },
    retire: async () => {
      await local?.retire()
      await exitWhenClosed([app], 0)
    },
  })
  // Calls would wait for lost answers for ever. The parent starts another process.
  onUnreadable((error) => {
    serviceOf(app).report('error', 'a message of the parent process cannot be read, so this worker ends', {
      error,
    })
    process.exit(1)
  })
  const welcome = (await channel.call('welcome')) as Welcome
  onNews = useStores(app, linkTo(channel), welcome.parent)
  reportNodes(app, channel)
  // Whoever wants to end this process alone gets another one. Signals to all processes reach the parent, too.
  forwardSignals((signal) => void (signal === 'SIGTERM' && channel.tell('leaving')))
  process.on('SIGHUP', () => undefined)
  try {
    local = await open({ ...withPorts(options, welcome.addresses), onUncaught })
  } catch (error) {
    // The parent tells the user, once for all processes.
    await channel.call('failed', errorToData(error)).catch(() => undefined)
    process.exit(1)
  }
  const { running } = local
  channel.tell('listening', running.addresses)
  // A server that closes by itself is replaced like one that gets a signal.
  void running.closed.then(() => channel.tell('leaving'))
  return { ...running, worker: number }
}

/** Gives a server the stores of the parent process in place of those that are missing. Answers what to call with news. */
function useStores(app: App<Context>, link: StoreLink, parent: string): (news: News) => void {
  const inUse = hooksOf(app).membership.stores
  const { driver, onNews } = parentStore(link)
  const { stores, inParent } = combineStores(inUse.current, driver)
  inUse.current = stores
  inUse.endWithParent = stores.sessions === driver.sessions
  inUse.inParent = inParent.map((kind) => `${kind}@${parent}`)
  return onNews
}

/** Tells the parent which nodes this process is. */
function reportNodes(app: App<Context>, channel: Channel): void {
  const { stores } = hooksOf(app).membership
  const { current } = stores
  if (current?.nodes === undefined) return
  const nodes = reportedNodes(current.nodes, {
    joined: (number) => channel.tell('joined', number),
    left: (number) => channel.tell('left', number),
  })
  stores.current = { ...current, nodes }
}

function linkTo(channel: Channel): StoreLink {
  return {
    step: (name, args) => channel.call('step', name, args),
    watch: (...watch) => channel.tell('watch', ...watch),
    unwatch: (watch) => channel.tell('unwatch', watch),
  }
}

function linkHere(guest: StoreGuest): StoreLink {
  return {
    step: async (name, args) => guest.step(name, args),
    watch: (...watch) => guest.watch(...watch),
    unwatch: (watch) => guest.unwatch(watch),
  }
}

/** The options of a process that must use the ports which the system chose for those before it. */
function withPorts(options: ListenOptions, addresses: Addresses | undefined): ListenOptions {
  if (addresses === undefined) return options
  const changed = (['http', 'ws', 'tcp'] as const).flatMap((name) => {
    const [option, address] = [options[name], addresses[name]]
    if (typeof option !== 'object' || Number(option.port) !== 0 || address === undefined) return []
    return [[name, { ...option, port: Number(parseUrl(address).port) }] as const]
  })
  return { ...options, ...Object.fromEntries(changed) }
}

/** Replaces the processes on SIGHUP. In a terminal, that signal means that the user has closed it, and ends the program as usual. */
function restartOnHangUp(supervisor: Supervisor, onError: (error: unknown) => void): () => void {
  if ([0, 1, 2].some((descriptor) => isatty(descriptor))) return () => undefined
  const restart = (): void => void supervisor.restart().catch(onError)
  process.on('SIGHUP', restart)
  return () => void process.off('SIGHUP', restart)
}
