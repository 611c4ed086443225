import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

const MAX_EXPECTED = 1000
const MAX_LENGTH = 1024

/** The ids of URLs that servers asked to open, so that only expected completions are reported. */
export class Elicitations {
  readonly #expected = new Set<string>()

  /** Remembers the id in a question or in an item of an error. */
  expect({ elicitationId: id }: JsonObject): void {
    if (typeof id !== 'string' || id.length > MAX_LENGTH) return
    this.#expected.add(id)
    for (const oldest of this.#expected) {
      if (this.#expected.size <= MAX_EXPECTED) break
      this.#expected.delete(oldest)
    }
  }

  /** Remembers the ids of the URLs that an error requires. */
  expectAll({ data }: McpError): void {
    const items = data?.['elicitations']
    if (!Array.isArray(items)) return
    for (const item of items as unknown[])
      if (typeof item === 'object' && item !== null) this.expect(item as JsonObject)
  }

  /** Removes an id. Returns whether it was expected. */
  complete(id: unknown): id is string {
    return this.#expected.delete(id as string)
  }
}
