import { mcpError } from '../errors/error.ts'
import { STORE_CLOSED } from '../errors/store.ts'
import { bytesOf } from '../tasks/bytes.ts'
import { headOf, type TaskHead, type TaskRecord, type TaskStatus } from '../tasks/record.ts'
import { hasBytes, rejectionOf, tasksTooLarge } from '../tasks/room.ts'
import type {
  Created,
  OwnTasks,
  TaskChange,
  TaskExcerpt,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskText,
} from '../tasks/store.ts'
import { Chain, type Link } from './chain.ts'
import { Heap, type HeapEntry } from '../base/heap.ts'
import { textBytes } from '../base/weight.ts'
import { WaitingTasks } from './tasks-memory-waiting.ts'

/** The tasks of some callers. */
interface Sum {
  tasks: number
  bytes: number
}

/** The sums in which a task counts. Those of an empty scope or network are its own. */
interface Sums {
  readonly all: Sum
  readonly scope: Sum
  readonly network: Sum
}

/** A task, and its places in the orders that the store keeps. */
interface Kept {
  head: TaskHead
  request: string
  state: string
  outcome: string
  /** What it takes of the room. */
  bytes: number
  readonly sums: Sums
  /** Its place among all tasks, by creation. */
  link: Link<Kept> | undefined
  /** Its place among those of its scope. */
  own: Link<Kept> | undefined
  /** Its place among those that end some day. */
  expiry: HeapEntry<Kept> | undefined
  /** Its place among those that wait for a node. */
  waiting: HeapEntry<Kept> | undefined
  /** Its place among those that its node runs. */
  running: Link<Kept> | undefined
}

const FINAL: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled'])

/** Keeps tasks in memory. Every method answers at once, and costs the same however many tasks there are. */
export class MemoryTaskStore implements TaskStore {
  readonly isInMemory = true
  readonly #tasks = new Map<string, Kept>()
  readonly #order = new Chain<Kept>()
  readonly #scopes = new Map<string, Chain<Kept>>()
  readonly #keys = new Map<string, Kept>()
  readonly #sum: Sum = { tasks: 0, bytes: 0 }
  readonly #scopeSums = new Map<string, Sum>()
  readonly #networkSums = new Map<string, Sum>()
  readonly #expiry = new Heap<Kept>()
  /** Unfinished tasks without a node. */
  readonly #waiting = new WaitingTasks<Kept>()
  /** Unfinished tasks by the node that runs them. */
  readonly #running = new Map<string, Chain<Kept>>()
  /** Until when nodes are alive. */
  readonly #alive = new Map<string, number>()
  readonly #watchers = new Set<(id: string) => void>()
  #closed = false

  create(record: TaskRecord, room: TaskRoom): Created {
    this.#open()
    const name = keyOf(record)
    const same = name === undefined ? undefined : this.#keys.get(name)
    if (same !== undefined) return { outcome: 'exists', head: same.head }
    const sums = this.#sumsOf(record)
    const bytes = bytesIn(record)
    const rejected = rejectionOf(record, bytes, sums, room)
    if (rejected !== undefined) return rejected
    this.#add(record, sums, bytes)
    return { outcome: 'created' }
  }

  get(id: string): TaskRecord | undefined {
    const kept = this.#open().get(id)
    return kept === undefined ? undefined : recordOf(kept)
  }

  head(id: string): TaskHead | undefined {
    return this.#open().get(id)?.head
  }

  owned(ids: readonly string[], owner: string): readonly TaskHead[] {
    const tasks = this.#open()
    return ids.flatMap((id) => {
      const head = tasks.get(id)?.head
      return head?.owner === owner ? [head] : []
    })
  }

  read(id: string, name: TaskText, most: number): TaskExcerpt | undefined {
    const kept = this.#open().get(id)
    if (kept === undefined) return undefined
    // Looking at each character would take longer than to answer.
    const bytes = kept[name].length * 2
    return { head: kept.head, text: bytes > most ? undefined : kept[name], bytes }
  }

  change(id: string, version: number, change: TaskChange, room?: TaskRoom): TaskHead | undefined {
    const kept = this.#open().get(id)
    if (kept === undefined || kept.head.version !== version) return undefined
    const more =
      growth(kept.request, change.request) +
      growth(kept.state, change.state) +
      growth(kept.outcome, change.outcome)
    if (more > 0 && room !== undefined && !hasBytes(kept.head, more, kept.sums, room))
      throw tasksTooLarge(room)
    if (more !== 0) count(kept, 0, more)
    this.#replace(kept, change)
    this.#notify(id)
    return kept.head
  }

  list({ server, scope, status, tool, after, limit }: TaskQuery): readonly TaskHead[] {
    const tasks = this.#open()
    const last = after === undefined ? undefined : tasks.get(after)
    const chain = scope === undefined ? this.#order : this.#scopes.get(scope)
    if (chain === undefined || (after !== undefined && last === undefined)) return []
    if (scope !== undefined && last !== undefined && last.head.scope !== scope) return []
    const place = (kept: Kept | undefined): Link<Kept> | undefined =>
      scope === undefined ? kept?.link : kept?.own
    const heads: TaskHead[] = []
    for (let link = chain.after(place(last)); link !== undefined; link = link.next) {
      if (heads.length >= limit) break
      const { head } = link.item
      if (server !== undefined && !isOf(server, head)) continue
      if ((status ?? head.status) === head.status && (tool ?? head.tool) === head.tool) heads.push(head)
    }
    return heads
  }

  expire(now: number, limit: number): readonly string[] {
    this.#open()
    const ids: string[] = []
    for (let first = this.#expiry.first; first !== undefined; first = this.#expiry.first) {
      if (first.at > now || ids.length >= limit) break
      this.#remove(first.item)
      ids.push(first.item.head.id)
    }
    for (const id of ids) this.#notify(id)
    return ids
  }

  claim(node: string, now: number, limit: number, { server, tools }: OwnTasks): readonly TaskRecord[] {
    this.#open()
    const claimed: Kept[] = []
    const take = (kept: Kept): void => {
      this.#replace(kept, { node })
      claimed.push(kept)
    }
    for (const [name, until] of this.#alive) if (until <= now) this.#alive.delete(name)
    for (const [name, tasks] of this.#running) {
      // The node that asks is alive.
      if (name === node || this.#alive.has(name)) continue
      for (let link = tasks.after(undefined), next = link; link !== undefined; link = next) {
        next = link.next
        if (claimed.length >= limit) break
        const { head } = link.item
        if (head.dueAt <= now && isOf(server, head) && tools.includes(head.tool)) take(link.item)
      }
    }
    this.#waiting.each({ server, tools }, now, limit - claimed.length, take)
    const records = claimed.map(recordOf)
    for (const { id } of records) this.#notify(id)
    return records
  }

  beat(node: string, until: number): void {
    this.#open()
    this.#alive.set(node, until)
  }

  watch(onChange: (id: string) => void): () => void {
    this.#open()
    // Its own function, so that the same one can watch twice.
    const watcher = (id: string): void => onChange(id)
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  close(): void {
    this.#closed = true
    this.#watchers.clear()
  }

  #open(): ReadonlyMap<string, Kept> {
    if (this.#closed) throw mcpError(STORE_CLOSED, {})
    return this.#tasks
  }

  #add(record: TaskRecord, sums: Sums, bytes: number): void {
    const { id, scope, network, request, state, outcome } = record
    const head = headOf(record)
    const none = {
      link: undefined,
      own: undefined,
      expiry: undefined,
      waiting: undefined,
      running: undefined,
    }
    const kept: Kept = { head, request, state, outcome, bytes: 0, sums, ...none }
    this.#tasks.set(id, kept)
    count(kept, 1, bytes)
    if (scope !== '') this.#scopeSums.set(scope, sums.scope)
    if (network !== '') this.#networkSums.set(network, sums.network)
    kept.link = this.#order.add(kept)
    if (scope !== '') kept.own = chainOf(this.#scopes, scope).add(kept)
    this.#hold(kept)
    this.#setExpiry(kept)
    this.#assign(kept)
  }

  #remove(kept: Kept): void {
    const { id, scope, network } = kept.head
    this.#unassign(kept)
    if (kept.expiry !== undefined) this.#expiry.remove(kept.expiry)
    this.#release(kept)
    this.#tasks.delete(id)
    count(kept, -1, -kept.bytes)
    if (kept.sums.scope.tasks === 0) this.#scopeSums.delete(scope)
    if (kept.sums.network.tasks === 0) this.#networkSums.delete(network)
    if (kept.link !== undefined) this.#order.remove(kept.link)
    if (kept.own !== undefined) removeFrom(this.#scopes, scope, kept.own)
  }

  #sumsOf({ scope, network }: TaskHead): Sums {
    return {
      all: this.#sum,
      scope: this.#scopeSums.get(scope) ?? { tasks: 0, bytes: 0 },
      network: this.#networkSums.get(network) ?? { tasks: 0, bytes: 0 },
    }
  }

  #replace(kept: Kept, change: TaskChange): void {
    const { key, ttlMs } = kept.head
    this.#unassign(kept)
    if ((change.key ?? key) !== key) this.#release(kept)
    kept.request = change.request ?? kept.request
    kept.state = change.state ?? kept.state
    kept.outcome = change.outcome ?? kept.outcome
    kept.head = withChange(kept.head, change)
    if (kept.head.key !== key) this.#hold(kept)
    if (kept.head.ttlMs !== ttlMs) this.#setExpiry(kept)
    this.#assign(kept)
  }

  /** Gives a task its key, unless another one has it. */
  #hold(kept: Kept): void {
    const name = keyOf(kept.head)
    if (name === undefined) return
    if (this.#keys.has(name)) kept.head = { ...kept.head, key: '' }
    else this.#keys.set(name, kept)
  }

  #release({ head }: Kept): void {
    const name = keyOf(head)
    if (name !== undefined) this.#keys.delete(name)
  }

  #setExpiry(kept: Kept): void {
    const { createdAt, ttlMs } = kept.head
    if (kept.expiry !== undefined) this.#expiry.remove(kept.expiry)
    kept.expiry = ttlMs === null ? undefined : this.#expiry.add(createdAt + ttlMs, kept)
  }

  /** Enters an unfinished task where `claim` looks for it. */
  #assign(kept: Kept): void {
    const { status, node } = kept.head
    if (FINAL.has(status)) return
    if (node === '') kept.waiting = this.#waiting.add(kept.head, kept)
    else kept.running = chainOf(this.#running, node).add(kept)
  }

  #unassign(kept: Kept): void {
    if (kept.waiting !== undefined) this.#waiting.remove(kept.head, kept.waiting)
    kept.waiting = undefined
    if (kept.running !== undefined) removeFrom(this.#running, kept.head.node, kept.running)
    kept.running = undefined
  }

  #notify(id: string): void {
    for (const watcher of this.#watchers) watcher(id)
  }
}

/** Counts what a task takes more. */
function count(kept: Kept, tasks: 1 | 0 | -1, bytes: number): void {
  kept.bytes += bytes
  const { all, scope, network } = kept.sums
  for (const sum of [all, scope, network]) {
    sum.tasks += tasks
    sum.bytes += bytes
  }
}

/** What a task takes of the room. */
function bytesIn({ request, state, outcome }: TaskRecord): number {
  return bytesOf(textBytes(request), state, outcome)
}

/** How much more a text takes after a change, which may leave it as it is. */
function growth(before: string, after: string | undefined): number {
  return after === undefined ? 0 : textBytes(after) - textBytes(before)
}

/** The key of a task among those of its server, scope and tool; undefined if it has none. */
function keyOf({ server, scope, tool, key }: TaskHead): string | undefined {
  return scope === '' || key === '' ? undefined : JSON.stringify([server, scope, tool, key])
}

/** Whether a server may run or list a task. */
function isOf(server: string, head: TaskHead): boolean {
  return head.server === server || head.server === ''
}

function recordOf({ head, request, state, outcome }: Kept): TaskRecord {
  // A spread with further members takes a hundred times as long.
  const record = headOf(head) as Writable<TaskRecord>
  record.request = request
  record.state = state
  record.outcome = outcome
  return record
}

/** A head with the members that a change names; those that are undefined count as left out. */
function withChange(head: TaskHead, change: TaskChange): TaskHead {
  const next: Writable<TaskHead> = headOf(head)
  next.version++
  if (change.key !== undefined) next.key = change.key
  if (change.isShared !== undefined) next.isShared = change.isShared
  if (change.status !== undefined) next.status = change.status
  if (change.statusMessage !== undefined) next.statusMessage = change.statusMessage
  if (change.isError !== undefined) next.isError = change.isError
  if (change.updatedAt !== undefined) next.updatedAt = change.updatedAt
  if (change.ttlMs !== undefined) next.ttlMs = change.ttlMs
  if (change.pollMs !== undefined) next.pollMs = change.pollMs
  if (change.attempt !== undefined) next.attempt = change.attempt
  if (change.dueAt !== undefined) next.dueAt = change.dueAt
  if (change.node !== undefined) next.node = change.node
  return next
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** The chain of a name, which is created if there is none. */
function chainOf(chains: Map<string, Chain<Kept>>, name: string): Chain<Kept> {
  let chain = chains.get(name)
  if (chain === undefined) chains.set(name, (chain = new Chain()))
  return chain
}

/** Removes a link, and its chain if that is empty then. */
function removeFrom(chains: Map<string, Chain<Kept>>, name: string, link: Link<Kept>): void {
  const chain = chains.get(name)
  chain?.remove(link)
  if (chain?.size === 0) chains.delete(name)
}
