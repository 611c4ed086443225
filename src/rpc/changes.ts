import { onWorkers } from '../base/runtime.ts'
import { endOfTurn, inNextTurn } from '../base/turn.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Peer } from './call.ts'
import type { Session } from './session.ts'

/** How many levels of parents a changed resource has: more could take long to look up. */
const MOST_LEVELS = 256
/** How many changes are queued while another one is sent to many clients. Beyond that, the next one is sent at once. */
const MOST_QUEUED = 1024
/** From this many listeners on, sending rests for this many times as long as it took, up to a limit, so that it never takes all the time. */
const MANY = 100
const REST = 3
const LONGEST_REST_MS = 250

/** The position of a change on the bus, if nodes share changes; -1 if each session finds out by itself. */
interface Positioned {
  readonly position?: number | undefined
}

/** A notification defined by an extension. */
export interface ExtensionNotice extends Positioned {
  readonly kind: 'extension'
  readonly id: string
  readonly method: string
  /** Frozen, because all clients get the same. */
  readonly params: JsonObject
  /** Sends it to a session whose client declared the extension. */
  tell(session: Session, position?: number): void
}

export interface ResourceChange extends Positioned {
  readonly kind: 'resource'
  readonly uri: string
  /** Whether the resource is restricted; its URI is sent only to callers that subscribed to it. */
  isForSome(): boolean
}

export interface ListChange extends Positioned {
  readonly kind: 'tools' | 'prompts' | 'resources'
}

/** A change that clients may want to be notified of. */
export type Change = ListChange | ResourceChange | ExtensionNotice

/** A change as nodes send it to each other. */
export type SentChange =
  | Pick<ListChange, 'kind'>
  | Pick<ResourceChange, 'kind' | 'uri'>
  | Pick<ExtensionNotice, 'kind' | 'id' | 'method' | 'params'>

/** Is called with changes of lists and notices of extensions. */
export type ChangeListener = (change: ListChange | ExtensionNotice) => void

/** Is called when a resource that it watches has changed, or one below it, with frozen params that all watchers share. */
export type Watcher = (params: { readonly uri: string }, position?: number) => void

/**
 * Passes each change to all who listen to such changes, in order. If that takes long, it pauses, and after many listeners it rests, so
 * that no number of them, and of changes, keeps the process from other work; otherwise it is synchronous. Changes that wait are merged
 * with the same ones that follow. A listener that throws does not affect the others.
 */
export class Changes {
  readonly #listeners = new Set<ChangeListener>()
  /** The watchers of each URI. Most have only one. */
  readonly #watchers = new Map<string, Watcher | Set<Watcher>>()
  /** Changes that are not sent yet, by what makes another one superfluous. */
  readonly #queue = new Map<unknown, Change>()
  #sending: Iterator<void> | undefined
  #isBusy = false
  #isHurried = false
  /** When the rest ends, and what waits for that. */
  #restsUntil = 0
  #resting: ReturnType<typeof setTimeout> | undefined
  /** Sends changes to all nodes, and this one delivers them when they come back; undefined if there are no others. */
  carrier: ((change: Change) => void) | undefined
  /** Resolves once all nodes can know of the changes that were sent before. */
  announced: () => Promise<void> = nothingSent

  get listeners(): number {
    return this.#listeners.size
  }

  /** Whether anybody may want to know of changed lists, here or at other nodes. */
  get isHeard(): boolean {
    return this.#listeners.size > 0 || this.carrier !== undefined
  }

  publish(change: Change): void {
    if (this.carrier === undefined) this.deliver(change)
    else this.carrier(change)
  }

  /** Passes a change on in this process. */
  deliver(change: Change): void {
    if (this.#queue.size >= MOST_QUEUED) this.#finishOne()
    const key = keyOf(change)
    // The streams of sessions take positions in their order only, so a change that comes again moves behind those before it.
    if (change.position !== undefined && change.position >= 0) this.#queue.delete(key)
    if (!this.#queue.has(key)) this.#queue.set(key, change)
    if (!this.#isBusy) this.#afterRest()
  }

  /** With true, it does not rest until it is told otherwise: the server closes, and its clients leave. */
  hurry(isHurried: boolean): void {
    this.#isHurried = isHurried
    if (!isHurried || this.#resting === undefined) return
    clearTimeout(this.#resting)
    this.#resting = undefined
    this.#proceed()
  }

  /** Passes on that all resources may have changed, and perhaps all lists, to all but the sessions that find out by themselves. */
  deliverAll(withLists: boolean): void {
    if (withLists) for (const kind of LISTS) this.deliver({ kind, position: -1 })
    const isForSome = (): boolean => true
    for (const uri of this.#watchers.keys()) this.deliver({ kind: 'resource', uri, isForSome, position: -1 })
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Calls `watcher` when a resource changes, or one below it. */
  watch(uri: string, watcher: Watcher): void {
    const others = this.#watchers.get(uri)
    if (others === undefined) this.#watchers.set(uri, watcher)
    else if (others instanceof Set) others.add(watcher)
    else this.#watchers.set(uri, new Set([others, watcher]))
  }

  unwatch(uri: string, watcher: Watcher): void {
    const all = this.#watchers.get(uri)
    if (all === watcher || (all instanceof Set && all.delete(watcher) && all.size === 0))
      this.#watchers.delete(uri)
  }

  /** Sends changes once the rest is over: at once if there is none. */
  #afterRest(): void {
    const ms = this.#restsUntil === 0 || this.#isHurried ? 0 : this.#restsUntil - performance.now()
    if (ms <= 0) return this.#proceed()
    this.#isBusy = true
    this.#resting = setTimeout(() => {
      this.#resting = undefined
      inNextTurn(() => this.#proceed())
    }, ms)
  }

  /** Sends changes until the turn is over or all are sent. */
  #proceed(): void {
    this.#isBusy = true
    const began = performance.now()
    // On Workers, a timer may end with the request that started it.
    const end = onWorkers ? Number.POSITIVE_INFINITY : endOfTurn()
    let told = 1
    let isOver = false
    for (; !isOver && this.#step(); told++) isOver = performance.now() > end
    const rests = told >= MANY && !onWorkers
    const now = performance.now()
    this.#restsUntil = rests ? now + Math.min(LONGEST_REST_MS, REST * (now - began)) : 0
    if (!isOver) this.#isBusy = false
    else if (rests) this.#afterRest()
    else inNextTurn(() => this.#proceed())
  }

  /** Sends the rest of the oldest change. */
  #finishOne(): void {
    this.#sending ??= this.#next()
    while (this.#sending?.next().done === false);
    this.#sending = undefined
  }

  /** Sends a change to one more listener; false if nothing is left. */
  #step(): boolean {
    this.#sending ??= this.#next()
    if (this.#sending?.next().done === true) this.#sending = undefined
    return this.#sending !== undefined || this.#queue.size > 0
  }

  #next(): Iterator<void> | undefined {
    for (const [key, change] of this.#queue) {
      this.#queue.delete(key)
      return change.kind === 'resource' ? this.#tellWatchers(change) : this.#tellListeners(change)
    }
    return undefined
  }

  *#tellListeners(change: ListChange | ExtensionNotice): Generator<void, void> {
    for (const listener of this.#listeners) {
      call(listener, change)
      yield
    }
  }

  /** Those who watch only a parent get its URI if the resource is not for everybody. */
  *#tellWatchers({ uri, isForSome, position }: ResourceChange): Generator<void, void> {
    const told = new Set<Watcher>()
    for (const watched of withParents(uri)) {
      const found = this.#watchers.get(watched)
      if (found === undefined) continue
      const params = Object.freeze({ uri: watched !== uri && isForSome() ? watched : uri })
      for (const watcher of found instanceof Set ? found : [found]) {
        if (told.has(watcher)) continue
        told.add(watcher)
        call((given: { readonly uri: string }) => watcher(given, position), params)
        yield
      }
    }
  }
}

/** A notice of an extension, for clients that declared it. */
export function toNotice(
  notice: Pick<ExtensionNotice, 'id' | 'method' | 'params' | 'position'>,
  isFor: (peer: Peer) => boolean,
): ExtensionNotice {
  const { method, params } = notice
  return {
    ...notice,
    kind: 'extension',
    tell(session, position) {
      if (!isFor(session)) return
      const act = (): void => session.notify(method, params, position)
      // A notice without params is sent only once, however often it occurs before the client is ready.
      session.whenReady(act, Object.keys(params).length === 0 ? method : act)
    },
  }
}

const LISTS = ['tools', 'prompts', 'resources'] as const

/** The URI that a change of a resource is reported as to one who watches some URIs; undefined if none of them is meant. */
export function watchedAs(
  uri: string,
  watched: ReadonlySet<string>,
  isForSome: () => boolean,
): string | undefined {
  for (const one of withParents(uri)) if (watched.has(one)) return one !== uri && isForSome() ? one : uri
  return undefined
}

/** Changes with the same key are the same to clients. */
export function keyOf(change: SentChange): unknown {
  if (change.kind === 'extension') return change
  return change.kind === 'resource' ? `resource ${change.uri}` : change.kind
}

/** A URI, and those of its parents, with and without a slash at their ends. */
function* withParents(uri: string): Generator<string, void> {
  yield uri
  let levels = 0
  for (let at = uri.indexOf('/'); at !== -1 && levels++ < MOST_LEVELS; at = uri.indexOf('/', at + 1)) {
    yield uri.slice(0, at)
    if (at + 1 < uri.length) yield uri.slice(0, at + 1)
  }
}

function nothingSent(): Promise<void> {
  return Promise.resolve()
}

function call<Given>(listener: (given: Given) => void, given: Given): void {
  try {
    listener(given)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
