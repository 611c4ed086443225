import type { JsonObject } from '../protocol/jsonrpc.ts'
import { withTypes } from './events.ts'
import { toKept } from './kept-progress.ts'

const PROGRESS = {
  progress: 'number',
  total: 'number',
  message: 'string',
  _meta: 'object',
}

/** The most tasks whose progress is kept until somebody follows them. */
const MAX_EARLY = 100

type OnProgress = (params: JsonObject) => void

/** Allocates request ids and routes progress to the pending requests. A pending id is not reused. */
export class Ids {
  readonly #pending = new Map<number, OnProgress | undefined>()
  /** The latest progress of tasks that nobody follows yet, by token. */
  readonly #early = new Map<number, JsonObject | undefined>()
  readonly #max: number
  #next = 1

  constructor(max: number) {
    this.#max = max
  }

  /** Whether all ids are used, so that only a new connection can start again at 1. */
  get exhausted(): boolean {
    return this.#next > this.#max
  }

  restart(): void {
    this.#next = 1
  }

  next(): number {
    while (this.#pending.has(this.#next)) this.#next++
    return this.#next++
  }

  /** Marks an id as pending. Progress of a task that came before is reported. */
  begin(id: number, onProgress: OnProgress | undefined): void {
    this.#pending.set(id, onProgress)
    const early = this.#early.get(id)
    this.#early.delete(id)
    if (early !== undefined) onProgress?.(early)
  }

  /** Marks an id as no longer pending. If it is the token of a task, the latest progress is kept for whoever follows the task. */
  end(id: number, isTask = false): void {
    this.#pending.delete(id)
    if (!isTask) return
    this.#early.set(id, undefined)
    const [first] = this.#early.keys()
    if (this.#early.size > MAX_EARLY) this.#early.delete(first as number)
  }

  /** Handles a progress notification. One for a request that is not pending is ignored. */
  progress(params: JsonObject): void {
    const token = params['progressToken']
    if (typeof token !== 'number' || typeof params['progress'] !== 'number') return
    const progress = withTypes(params, PROGRESS)
    if (this.#early.has(token)) this.#early.set(token, toKept(progress))
    else this.#pending.get(token)?.(progress)
  }
}
