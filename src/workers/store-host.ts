import { Lifetime } from '../store/lifetime.ts'
import { memory } from '../store/memory.ts'
import { MemoryNodeStore } from '../store/nodes-memory.ts'
import type { NodeInfo } from '../rpc/node-store.ts'
import { STORE_STEPS, type ParentStores, type Watched } from './store-steps.ts'

/** Opens the stores that a parent process keeps for its workers. */
export function openParentStores(): ParentStores {
  return { ...memory(), nodes: new MemoryNodeStore(new Lifetime()) }
}

/** News of watches: the number of each, with the ids of changed tasks. */
export type News = readonly (readonly [watch: number, ids: readonly string[]])[]

/** What one process does with the stores of the parent. When it is gone, nothing of it is left but what it stored. */
export class StoreGuest {
  readonly #stores: ParentStores
  readonly #onNews: () => void
  readonly #watches = new Map<number, () => void>()
  readonly #news = new Map<number, Set<string>>()
  /** The nodes of the process, as members and as workers on tasks. */
  readonly #members = new Set<number>()
  readonly #taskNodes = new Set<string>()
  readonly #steps = new Map<string, (...args: readonly unknown[]) => unknown>()

  /** `onNews` is called when there may be news to take. */
  constructor(stores: ParentStores, onNews: () => void) {
    this.#stores = stores
    this.#onNews = onNews
    for (const [kind, names] of Object.entries(STORE_STEPS)) {
      const store = stores[kind as keyof ParentStores] as unknown as Record<
        string,
        (...args: readonly unknown[]) => unknown
      >
      for (const name of names)
        this.#steps.set(`${kind}.${name}`, (...args) => store[name]?.call(store, ...args))
    }
    this.#steps.set('nodes.join', (...args) =>
      this.#join(...(args as Parameters<ParentStores['nodes']['join']>)),
    )
    this.#steps.set('tasks.beat', (...args) =>
      this.#beat(...(args as Parameters<ParentStores['tasks']['beat']>)),
    )
  }

  /** Takes a step of a store, such as `sessions.use`. */
  step(name: string, args: readonly unknown[]): unknown {
    const act = this.#steps.get(name)
    if (act === undefined) throw new Error(`there is no step ${name}`)
    return act(...args)
  }

  /** Watches a store. The process chooses the number. */
  watch(number: number, kind: Watched, session: string, stream: string): void {
    const stop = this.#watch(number, kind, session, stream)
    this.#watches.set(number, stop)
    // Another process may have changed something while the request to watch was under way.
    if (kind === 'events') this.#add(number)
  }

  unwatch(number: number): void {
    this.#watches.get(number)?.()
    this.#watches.delete(number)
    this.#news.delete(number)
  }

  /** The news since the last call; undefined if there are none. */
  takeNews(): News | undefined {
    if (this.#news.size === 0) return undefined
    const news = [...this.#news].map(([number, ids]) => [number, [...ids]] as const)
    this.#news.clear()
    return news
  }

  /** The process is gone: its nodes are dead, so that others end its streams and take over its tasks. */
  end(): void {
    for (const number of this.#watches.keys()) this.unwatch(number)
    for (const member of this.#members) void this.#stores.nodes.leave(member)
    for (const node of this.#taskNodes) void this.#stores.tasks.beat(node, 0)
  }

  #watch(number: number, kind: Watched, session: string, stream: string): () => void {
    const { events, tasks, changes } = this.#stores
    const onNews = (): void => this.#add(number)
    if (kind === 'events') return events.watch(session, stream, onNews)
    if (kind === 'tasks') return tasks.watch((id) => this.#add(number, id))
    // Only messages from now on: the process reads the others by itself.
    const stop = changes.subscribe(changes.position() as number, onNews, onNews)
    return stop as () => void
  }

  #add(number: number, id?: string): void {
    const ids = this.#news.get(number) ?? new Set()
    if (id !== undefined) ids.add(id)
    this.#news.set(number, ids)
    this.#onNews()
  }

  async #join(node: Omit<NodeInfo, 'number'>, leaseMs: number): Promise<unknown> {
    const joined = await this.#stores.nodes.join(node, leaseMs)
    this.#members.add(joined.number)
    return joined
  }

  #beat(node: string, until: number): unknown {
    this.#taskNodes.add(node)
    return this.#stores.tasks.beat(node, until)
  }
}
