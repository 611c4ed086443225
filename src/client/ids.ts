import type { JsonObject } from '../protocol/jsonrpc.ts'
import { withTypes } from './events.ts'

const PROGRESS = { total: 'number', message: 'string' }

type OnProgress = (params: JsonObject) => void

/** Allocates request ids and routes progress to the pending requests. A pending id is not reused. */
export class Ids {
  readonly #pending = new Map<number, OnProgress | undefined>()
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

  /** Marks an id as pending. */
  begin(id: number, onProgress: OnProgress | undefined): void {
    this.#pending.set(id, onProgress)
  }

  end(id: number): void {
    this.#pending.delete(id)
  }

  /** Handles a progress notification. One for a request that is not pending is ignored. */
  progress(params: JsonObject): void {
    const token = params['progressToken']
    if (typeof token === 'number' && typeof params['progress'] === 'number')
      this.#pending.get(token)?.(withTypes(params, PROGRESS))
  }
}
