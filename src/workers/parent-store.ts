import { delayOf, pause } from '../base/backoff.ts'
import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import type { EventStore } from '../rpc/event-store.ts'
import { BusReader } from '../store/bus-reader.ts'
import { BUS_PAGE } from '../store/changes-memory.ts'
import { Lifetime } from '../store/lifetime.ts'
import type { TaskStore } from '../tasks/store.ts'
import type { News } from './store-host.ts'
import { STORE_STEPS, type ParentStores, type Watched } from './store-steps.ts'

/** The way to the stores of the parent process. */
export interface StoreLink {
  /** Takes a step, such as `sessions.use`. */
  step(name: string, args: readonly unknown[]): Promise<unknown>
  watch(number: number, kind: Watched, session: string, stream: string): void
  unwatch(number: number): void
}

/** A driver whose stores are in the parent process, and what to call with its news. */
export interface ParentStore {
  readonly driver: ParentStores & { close(): void }
  onNews(news: News): void
}

/** The pauses before the bus is read again after a failure. */
const RETRY = { firstMs: 20, maxMs: 2000 }

type Watcher = (ids: readonly string[]) => void

/** Opens a driver for the stores of the parent process. Every method is one message there and one back, in the order of the calls. */
export function parentStore(link: StoreLink): ParentStore {
  const lifetime = new Lifetime()
  const watches = new Watches(link)
  const stepsOf = <Kind extends keyof ParentStores>(kind: Kind): ParentStores[Kind] =>
    Object.fromEntries(
      STORE_STEPS[kind].map((name) => [
        name,
        async (...args: readonly unknown[]) => {
          lifetime.check()
          return link.step(`${kind}.${name}`, args)
        },
      ]),
    ) as unknown as ParentStores[Kind]
  const close = (): void => {
    lifetime.end()
    watches.end()
  }
  const [events, tasks, changes] = [stepsOf('events'), stepsOf('tasks'), stepsOf('changes')]
  const watch = (kind: Watched, watcher: Watcher, session?: string, stream?: string): (() => void) => {
    lifetime.check()
    return watches.add(kind, watcher, session, stream)
  }
  const driver = {
    sessions: stepsOf('sessions'),
    events: {
      ...events,
      watch: (session, stream, onNews) => watch('events', () => onNews(), session, stream),
    } satisfies EventStore,
    tasks: {
      ...tasks,
      watch: (onChange) => watch('tasks', (ids) => ids.forEach(onChange)),
      close,
    } satisfies TaskStore,
    changes: {
      ...changes,
      async subscribe(after, onMessage, onGap) {
        const subscription = new Subscription(changes, new BusReader(after, onMessage, onGap), lifetime)
        const unwatch = watch('changes', () => subscription.read())
        subscription.read()
        return () => {
          subscription.stop()
          unwatch()
        }
      },
    } satisfies ChangeBus,
    cache: stepsOf('cache'),
    rates: stepsOf('rates'),
    nodes: stepsOf('nodes'),
    close,
  }
  return { driver, onNews: (news) => watches.pass(news) }
}

/** Watchers of the parent's stores in this process. */
class Watches {
  readonly #link: StoreLink
  readonly #watchers = new Map<number, Watcher>()
  #last = 0

  constructor(link: StoreLink) {
    this.#link = link
  }

  add(kind: Watched, watcher: Watcher, session: string = '', stream: string = ''): () => void {
    const number = ++this.#last
    this.#watchers.set(number, watcher)
    this.#link.watch(number, kind, session, stream)
    return () => {
      if (this.#watchers.delete(number)) this.#link.unwatch(number)
    }
  }

  pass(news: News): void {
    for (const [number, ids] of news) this.#watchers.get(number)?.(ids)
  }

  end(): void {
    for (const number of this.#watchers.keys()) this.#link.unwatch(number)
    this.#watchers.clear()
  }
}

/** Reads the bus page by page, again after each news. So a process that is slow makes the parent keep nothing for it. */
class Subscription {
  readonly #changes: Pick<ChangeBus, 'read' | 'position'>
  readonly #reader: BusReader
  readonly #lifetime: Lifetime
  readonly #stop = new AbortController()
  #isReading = false
  #isBehind = false

  constructor(changes: Pick<ChangeBus, 'read' | 'position'>, reader: BusReader, lifetime: Lifetime) {
    this.#changes = changes
    this.#reader = reader
    this.#lifetime = lifetime
  }

  read(): void {
    this.#isBehind = true
    if (!this.#isReading) void this.#readAll()
  }

  stop(): void {
    this.#reader.stop()
    this.#stop.abort()
  }

  async #readAll(): Promise<void> {
    this.#isReading = true
    for (let failures = 0; this.#isBehind && !this.#reader.isStopped && !this.#lifetime.isOver;) {
      this.#isBehind = false
      try {
        await this.#readPage()
        failures = 0
      } catch {
        // Too many calls wait for the parent, or it is gone, and this process ends with it.
        this.#isBehind = true
        await pause(delayOf(failures++, RETRY, Math.random), this.#stop.signal)
      }
    }
    this.#isReading = false
  }

  async #readPage(): Promise<void> {
    const page = await this.#changes.read(this.#reader.after, BUS_PAGE)
    if (page === undefined) this.#reader.skip(await this.#changes.position())
    else this.#take(page)
  }

  #take(page: readonly BusMessage[]): void {
    this.#reader.take(page)
    if (page.length === BUS_PAGE) this.#isBehind = true
  }
}
