import { soon } from '../base/soon.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { TaskHead } from './record.ts'
import type { Run } from './run.ts'
import type { Soon, TaskStore } from './store.ts'

/** Sends a notification that concerns the task with an id. */
export type SendOfTask = (method: string, params: JsonObject, id: string) => void

/** The connection of a task with the client that started it, which all attempts in this process share. */
export class TaskLink {
  /** The token of its progress; undefined if the client asked for none. */
  readonly token: string | number | undefined
  /** Called with each change of its state. */
  readonly onStatus: ((head: TaskHead) => void) | undefined
  readonly #ways: SendOfTask[]
  #progress = Number.NEGATIVE_INFINITY

  constructor(token: string | number | undefined, send?: SendOfTask, onStatus?: (head: TaskHead) => void) {
    this.token = token
    this.onStatus = onStatus
    this.#ways = send === undefined ? [] : [send]
  }

  /** Sends a notification the way that was added last. Progress increases over all attempts. */
  send(method: string, params: JsonObject, id: string): void {
    if (method === 'notifications/progress') {
      const progress = params['progress'] as number
      if (!(progress > this.#progress)) return
      this.#progress = progress
    }
    this.#ways.at(-1)?.(method, params, id)
  }

  /** Sends notifications another way from now on. Returns a function that ends that. */
  add(way: SendOfTask): () => void {
    this.#ways.push(way)
    return () => {
      const at = this.#ways.indexOf(way)
      if (at >= 0) this.#ways.splice(at, 1)
    }
  }
}

/** The links of tasks that wait for another attempt, until this node begins it or another one has the task. */
export class TaskLinks {
  readonly #byId = new TurnoverMap<string, TaskLink>()

  /** Keeps the link of an attempt that is over. */
  keep({ head, link }: Run): void {
    if (head !== undefined && link !== undefined) this.#byId.set(head.id, link)
  }

  get(id: string): TaskLink | undefined {
    return this.#byId.get(id)
  }

  /** The link of a task, for its next attempt or its end. */
  take(id: string): TaskLink | undefined {
    const link = this.#byId.get(id)
    if (link !== undefined) this.#byId.delete(id)
    return link
  }

  delete(id: string): void {
    this.#byId.delete(id)
  }

  /** Drops the link of a task that another node has got. */
  check(id: string, { store, node }: { readonly store: TaskStore; readonly node: string }): Soon<void> {
    if (this.#byId.get(id) === undefined) return undefined
    return soon(store.head(id), (head) => {
      if (head === undefined || (head.node !== '' && head.node !== node)) this.delete(id)
    })
  }
}
