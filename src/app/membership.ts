import { mcpError } from '../errors/error.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Change, SentChange } from '../rpc/changes.ts'
import type { Steps } from '../nodes/steps.ts'
import type { Revoked } from '../rpc/leases.ts'
import type { ServerService } from '../server/service.ts'
import type { Sharing } from '../transport/http/server/replicas.ts'
import { within } from '../transport/io/timer.ts'
import type { ServerStore } from './options.ts'
import type { StoresInUse } from './stores-in-use.ts'

/** How often a node says that it is alive, unless its streams are kept alive more often. */
const BEAT_MS = 5000
/** The stores that nodes use together. No part of a server uses `rates`, so nodes need not share them. */
const USED = ['sessions', 'events', 'changes', 'cache'] as const
const UNUSED = /^rates\b/

/** The part that a server takes in the nodes that share its store, from its first listener or mount until it closes. */
export class Membership {
  readonly stores: StoresInUse
  readonly #service: ServerService
  readonly #limits: Limits
  #joined: Promise<Sharing> | undefined
  /** What is still published without being a node. */
  readonly #announcing = new Set<Steps>()

  constructor(stores: StoresInUse, service: ServerService, limits: Limits) {
    this.stores = stores
    this.#service = service
    this.#limits = limits
    service.leases.carrier = (revoked, at) => this.#carry(revoked, at)
  }

  /** Joins the other nodes, if there can be any. Throws if some kind of store is not shared with them; the next call tries again. */
  async join(): Promise<Sharing | undefined> {
    const { current } = this.stores
    if (current?.nodes === undefined) return undefined
    return (this.#joined ??= this.#join(current).catch((error: unknown) => {
      this.#joined = undefined
      throw error
    }))
  }

  /** Joins the other nodes for a process that serves no clients: only if it shares everything with them, so that theirs hear of its changes. */
  async joinAsWorker(): Promise<void> {
    const { current } = this.stores
    if (current !== undefined && this.#kindsHere(current).length === 0) await this.join()
  }

  /** The kinds of store that not all nodes can see. */
  #kindsHere(store: ServerStore): readonly string[] {
    const inParent = this.stores.inParent.filter((kind) => !UNUSED.test(kind))
    return [...inMemory(store, this.#service.offers('tasks')), ...inParent]
  }

  /** All processes of the parent are about to end. If it has the sessions, no other node goes on with them. */
  endAll(): void {
    if (this.stores.endWithParent === true)
      void this.#joined?.then(({ node }) => (node.isLast = true)).catch(() => undefined)
  }

  /** Tells the other nodes that processes of this parent have died. */
  declareDead(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    void this.#joined
      ?.then(({ node }) => numbers.forEach((number) => node.declareDead(number)))
      .catch(() => undefined)
  }

  /** Leaves the other nodes, once they can know everything that this one had to say. */
  async leave(): Promise<void> {
    const joined = await this.#joined?.catch(() => undefined)
    this.#joined = undefined
    for (const steps of this.#announcing) steps.stop()
    if (joined === undefined) return
    const { node } = joined
    this.#service.changes.carrier = undefined
    await within(this.#limits.drainMs, (done) => void node.sent().then(done))
    await node.leave()
  }

  /** Carries a revocation to the other nodes, also if this process is not one of them (yet). Resolves once they can know it. */
  async #carry({ sub, issuer }: Revoked, at: number): Promise<void> {
    const message = { kind: 'revoked', sub, issuer, at } as const
    const joined = await this.#joined?.catch(() => undefined)
    if (joined !== undefined) return joined.node.sendRevocation(message)
    const { nodes, events, changes } = this.stores.current ?? {}
    if (nodes === undefined || events === undefined || changes === undefined) return
    const { announceRevocation } = await import('../nodes/revocations.ts')
    const report = (error: unknown): void =>
      this.#service.report('error', 'a message to other nodes was lost', { error })
    const steps = announceRevocation({ events, changes }, String(this.#service.info['name']), message, report)
    this.#announcing.add(steps)
    await steps.reached()
    this.#announcing.delete(steps)
    if (steps.size > 0) throw mcpError(SHUTTING_DOWN, {})
  }

  async #join(store: ServerStore): Promise<Sharing> {
    const { changes, leases } = this.#service
    const { Node } = await import('../nodes/node.ts')
    const { checkStores } = await import('../nodes/check-stores.ts')
    const { withPlaces } = await import('../nodes/places.ts')
    const contents = await this.#service.shareSessions()
    const stores = checkStores({ ...(await withMemory(store)), nodes: store.nodes })
    const places = async (): Promise<Readonly<Record<string, string | undefined>>> => ({
      tasks: await this.#service.tasks.open(),
    })
    const node = await Node.join({
      server: String(this.#service.info['name']),
      stores: { ...stores, nodes: withPlaces(stores.nodes, places) },
      inMemory: this.#kindsHere(store),
      beatMs: Math.min(BEAT_MS, this.#limits.keepAliveMs),
      listener: {
        onMessage(message, isOwn, position) {
          if (message.kind === 'changed') contents.deliver(message.change, position)
          if (message.kind === 'revoked' && !isOwn)
            leases.apply(message, message.at, position === 0 ? 'past' : 'elsewhere')
        },
        onAllChanged: (_, lost) => changes.deliverAll(lost.includes('lists')),
      },
      report: (...entry) => this.#service.report(...entry),
    })
    changes.carrier = (change) => {
      try {
        node.sendChange(toSent(change))
      } catch {
        // It cannot be written as JSON, so only the clients of this node can get it.
        changes.deliver(change)
      }
    }
    // After the changed lists of this tick, which are published once.
    changes.announced = () => Promise.resolve().then(() => node.announced())
    return { node, contents }
  }
}

/** The given stores; those that are missing are in the memory of the process. */
async function withMemory(store: ServerStore): Promise<ServerStore> {
  const isMissing = USED.some((kind) => store[kind] === undefined)
  const own: ServerStore = isMissing ? (await import('../store/memory.ts')).memory() : {}
  return Object.fromEntries(USED.map((kind) => [kind, store[kind] ?? own[kind]]))
}

/** The kinds of store that other nodes cannot see. Tasks count only if the server has any. */
function inMemory(store: ServerStore, hasTasks: boolean): readonly string[] {
  const kinds = hasTasks ? ([...USED, 'tasks'] as const) : USED
  return kinds.filter((kind) => store[kind] === undefined || store[kind].isInMemory === true)
}

function toSent(change: Change): SentChange {
  const { kind } = change
  if (kind === 'resource') return { kind, uri: change.uri }
  if (kind === 'extension') return { kind, id: change.id, method: change.method, params: change.params }
  return { kind }
}
