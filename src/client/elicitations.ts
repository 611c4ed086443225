import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

const MAX_KEPT = 1000

/** The visits to URLs that servers asked for, by the id under which they tell of the end. */
export class Elicitations {
  readonly #asked = new Set<string>()

  /** Notes what a question, or an item of an error, asks for. */
  expect({ elicitationId: id }: JsonObject): void {
    if (typeof id !== 'string') return
    this.#asked.add(id)
    for (const oldest of this.#asked) {
      if (this.#asked.size <= MAX_KEPT) break
      this.#asked.delete(oldest)
    }
  }

  /** Notes what an error says must be visited first. */
  expectAll({ data }: McpError): void {
    const items = data?.['elicitations']
    if (!Array.isArray(items)) return
    for (const item of items as unknown[])
      if (typeof item === 'object' && item !== null) this.expect(item as JsonObject)
  }

  /** Whether somebody asked for this; from now on nobody did. */
  done(id: unknown): id is string {
    return this.#asked.delete(id as string)
  }
}
