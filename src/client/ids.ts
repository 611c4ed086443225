import type { JsonObject } from '../protocol/jsonrpc.ts'

type OnProgress = (params: JsonObject) => void

/** The numbers of requests and what progress under them means. None is given out while it is pending. */
export class Ids {
  readonly #pending = new Map<number, OnProgress | undefined>()
  readonly #ceiling: number
  #next = 1

  constructor(ceiling: number) {
    this.#ceiling = ceiling
  }

  /** Whether all numbers were given out, so that only a new connection can begin again. */
  get spent(): boolean {
    return this.#next > this.#ceiling
  }

  restart(): void {
    this.#next = 1
  }

  next(): number {
    while (this.#pending.has(this.#next)) this.#next++
    return this.#next++
  }

  /** A request waits under a number; progress for it is told if it asked for that. */
  begin(id: number, onProgress: OnProgress | undefined): void {
    this.#pending.set(id, onProgress)
  }

  end(id: number): void {
    this.#pending.delete(id)
  }

  /** Takes a progress notification; one for nothing that waits is ignored. */
  progress(params: JsonObject): void {
    const token = params['progressToken']
    if (typeof token === 'number' && typeof params['progress'] === 'number')
      this.#pending.get(token)?.(params)
  }
}
