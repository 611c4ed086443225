import { Deferred } from '../base/deferred.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import type { TaskHead } from './record.ts'
import type { TaskStore } from './store.ts'
import type { Tasks } from './tasks.ts'

/** The number of tasks that one step of a store looks for, and that are read at once where a step reads one. */
const PAGE = 200
const FEW = 8

/** A request for many tasks. */
export interface Lookup {
  readonly ids: readonly string[]
  readonly owner: string
  /** Who asks: others of the same caller wait meanwhile. */
  readonly caller: unknown
  /** Whether nobody wants the answer any more. */
  isOver(): boolean
}

/** Looks for many tasks in few steps of the store, and does so for one request of a caller at a time: nobody can fill the queue of its steps. */
export class Lookups {
  readonly #tasks: Tasks
  readonly #last = new TurnoverMap<unknown, Promise<readonly TaskHead[]>>()
  /** The tasks that are looked for next, by owner. */
  readonly #next = new TurnoverMap<string, Map<string, Deferred<TaskHead | undefined>>>()

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** The tasks that exist for an owner. If the store fails, so do those that wait behind: they would wait as long for the same. */
  of(lookup: Lookup): Promise<readonly TaskHead[]> {
    const { ids, owner, caller, isOver } = lookup
    const before = this.#last.get(caller)
    const read = async (): Promise<readonly TaskHead[]> => this.#read(ids, owner, isOver)
    const found = before === undefined ? read() : before.then(read)
    this.#last.set(caller, found)
    const forget = (): void => {
      if (this.#last.get(caller) === found) this.#last.delete(caller)
    }
    found.then(forget, forget)
    return found
  }

  /** One task of an owner. Those that many ask for at the same time are found together. */
  async one(id: string, owner: string): Promise<TaskHead | undefined> {
    if (this.#tasks.isInMemory) return this.#tasks.find(id, owner)
    let next = this.#next.get(owner)
    if (next === undefined) {
      this.#next.set(owner, (next = new Map()))
      void this.#readNext(owner)
    }
    let found = next.get(id)
    if (found === undefined) next.set(id, (found = new Deferred()))
    return found.promise
  }

  /** Answers those who ask for tasks of an owner, until nobody does. */
  async #readNext(owner: string): Promise<void> {
    // All of this turn.
    await Promise.resolve()
    for (
      let next = this.#next.get(owner);
      next !== undefined && next.size > 0;
      next = this.#next.get(owner)
    ) {
      this.#next.set(owner, new Map())
      await this.#answer(next, owner)
    }
    this.#next.delete(owner)
  }

  async #answer(asked: ReadonlyMap<string, Deferred<TaskHead | undefined>>, owner: string): Promise<void> {
    try {
      const [only] = asked.keys()
      const heads =
        asked.size === 1
          ? [await this.#tasks.find(only as string, owner)]
          : await this.#read([...asked.keys()], owner)
      for (const head of heads) if (head !== undefined) asked.get(head.id)?.resolve(head)
      for (const found of asked.values()) found.resolve(undefined)
    } catch (error) {
      for (const found of asked.values()) found.reject(error)
    }
  }

  async #read(
    ids: readonly string[],
    owner: string,
    isOver: () => boolean = () => false,
  ): Promise<readonly TaskHead[]> {
    const { store } = this.#tasks
    const heads: TaskHead[] = []
    const page = store.owned === undefined ? FEW : PAGE
    for (let from = 0; from < ids.length && !isOver(); from += page)
      heads.push(...(await ownedBy(store, ids.slice(from, from + page), owner)))
    return heads.filter((head) => this.#tasks.isVisible(head, owner))
  }
}

async function ownedBy(
  store: TaskStore,
  ids: readonly string[],
  owner: string,
): Promise<readonly TaskHead[]> {
  if (store.owned !== undefined) return store.owned(ids, owner)
  const heads = await Promise.all(ids.map(async (id) => store.head(id)))
  return heads.filter((head) => head !== undefined)
}
