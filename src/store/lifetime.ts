import { mcpError } from '../errors/error.ts'
import { STORE_CLOSED } from '../errors/store.ts'

/** Whether the stores of a driver are open. */
export class Lifetime {
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  /** Throws if the driver was closed. */
  check(): void {
    if (this.#isOver) throw mcpError(STORE_CLOSED, {})
  }

  end(): void {
    this.#isOver = true
  }
}
