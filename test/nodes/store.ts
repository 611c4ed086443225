import { mcpError } from '../../src/errors/error.ts'
import { SOON } from '../../src/errors/retry-after.ts'
import { STORE_UNREACHABLE } from '../../src/errors/store.ts'
import type { BusMessage, ChangeBus } from '../../src/rpc/change-bus.ts'
import type { EventStore } from '../../src/rpc/event-store.ts'
import type { NodeInfo, NodeStore } from '../../src/rpc/node-store.ts'
import type { DriverOf } from '../../src/store/driver.ts'
import { MemoryChangeBus } from '../../src/store/changes-memory.ts'
import { Lifetime } from '../../src/store/lifetime.ts'
import { memory } from '../../src/store/memory.ts'
import type { ServerStore } from '../../src/index.ts'

/** Knows the nodes of one process. A lease ends only if the test says so. */
class Nodes implements NodeStore {
  readonly #all = new Map<number, NodeInfo>()
  readonly dead: Set<number> = new Set()
  readonly #secrets = new Map<string, string>()
  #last = 0

  get numbers(): readonly number[] {
    return [...this.#all.keys()]
  }

  join(node: Omit<NodeInfo, 'number'>): { readonly number: number; readonly others: readonly NodeInfo[] } {
    const others = [...this.#all.values()].filter(({ server }) => server === node.server)
    const number = ++this.#last
    this.#all.set(number, { ...node, number })
    return { number, others }
  }

  beat(number: number): boolean {
    return this.isAlive(number)
  }

  leave(number: number): void {
    this.#all.delete(number)
  }

  isAlive(number: number): boolean {
    return this.#all.has(number) && !this.dead.has(number)
  }

  secret(server: string, proposed: string): string {
    if (!this.#secrets.has(server)) this.#secrets.set(server, proposed)
    return this.#secrets.get(server) as string
  }
}

/** One exchange with the store. */
export interface Exchange {
  readonly node: string
  /** The kind of store and the step, such as `sessions.use`. */
  readonly step: string
}

/** Stores in memory that several servers of one process share, as if they were far away. */
export class Stores {
  readonly nodes: Nodes = new Nodes()
  readonly exchanges: Exchange[] = []
  readonly kinds: Omit<
    DriverOf<'sessions' | 'events' | 'changes' | 'cache' | 'rates' | 'nodes'>,
    'close' | 'tasks'
  >

  /** `messages` is how many messages the bus keeps. */
  constructor(messages: number = 10_000) {
    const { sessions, events, cache, rates } = memory()
    const changes = new MemoryChangeBus(new Lifetime(), { events: messages, bytes: 1 << 26 })
    this.kinds = { sessions, events, changes, cache, rates, nodes: this.nodes }
  }

  /** The stores as one node sees them. */
  view(name: string): View {
    return new View(name, this)
  }

  /** The steps that nodes take meanwhile. */
  async during(act: () => Promise<unknown>): Promise<readonly string[]> {
    const before = this.exchanges.length
    await act()
    return this.exchanges.slice(before).map(({ step }) => step)
  }
}

/** How one node sees the stores: each step is asynchronous, and fails while they are away. */
export class View {
  readonly driver: ServerStore
  readonly #name: string
  readonly #stores: Stores
  #isAway = false
  /** Called when the stores are back. */
  readonly #onBack = new Set<() => void>()
  #onLost: () => Promise<void> = () => Promise.resolve()
  /** Makes the answer of a step wait. */
  delay: (step: string) => Promise<void> | undefined = () => undefined
  /** Makes a step fail although it has happened. */
  losesAnswer: (step: string) => boolean = () => false

  constructor(name: string, stores: Stores) {
    this.#name = name
    this.#stores = stores
    const kinds = stores.kinds
    const entries = Object.entries(kinds).map(([kind, store]) => [kind, this.#far(kind, store)])
    this.driver = Object.fromEntries(entries) as ServerStore
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** Makes the stores unreachable, or reachable again. */
  set isAway(isAway: boolean) {
    this.#isAway = isAway
    if (!isAway) this.#onBack.forEach((back) => back())
  }

  /** Loses the messages that have not arrived. */
  loseMessages(): Promise<void> {
    return this.#onLost()
  }

  #far(kind: string, store: object): object {
    return new Proxy(store, {
      get: (target, name: string) => {
        // Far away, nothing is in the memory of the process.
        if (name === 'isInMemory') return undefined
        if (name === 'watch') return this.#watch.bind(this, target as EventStore)
        if (name === 'subscribe') return this.#subscribe.bind(this, target as ChangeBus)
        const step: unknown = Reflect.get(target, name)
        if (typeof step !== 'function') return step
        return (...args: readonly unknown[]) => this.#take(`${kind}.${name}`, () => step.apply(target, args))
      },
    })
  }

  async #take(step: string, act: () => unknown): Promise<unknown> {
    if (step !== 'nodes.beat') this.#stores.exchanges.push({ node: this.#name, step })
    await new Promise((resolve) => setImmediate(resolve))
    await this.delay(step)
    if (this.#isAway) throw mcpError(STORE_UNREACHABLE, {}, SOON)
    const answer = await act()
    await new Promise((resolve) => setImmediate(resolve))
    if (this.losesAnswer(step)) throw mcpError(STORE_UNREACHABLE, {}, SOON)
    return answer
  }

  readonly #watch = (
    events: EventStore,
    session: string,
    stream: string,
    onNews: () => void,
  ): (() => void) => {
    const unwatch = events.watch(session, stream, () => void (this.#isAway || setImmediate(onNews)))
    this.#onBack.add(onNews)
    return () => {
      unwatch()
      this.#onBack.delete(onNews)
    }
  }

  readonly #subscribe = async (
    bus: ChangeBus,
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (newest: number) => void,
  ): Promise<() => void> => {
    const waiting: (() => void)[] = []
    const pass = (): void => {
      while (waiting.length > 0 && !this.#isAway) (waiting.shift() as () => void)()
    }
    const soon = (act: () => void): void => {
      waiting.push(act)
      setImmediate(pass)
    }
    const stop = await bus.subscribe(
      after,
      (message) => soon(() => onMessage(message)),
      (newest) => soon(() => onGap(newest)),
    )
    this.#onBack.add(pass)
    this.#onLost = async () => {
      waiting.length = 0
      onGap(await bus.position())
    }
    return () => {
      stop()
      this.#onBack.delete(pass)
    }
  }
}
