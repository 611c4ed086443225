import { mcpError } from '../errors/error.ts'
import { TOO_MUCH_HELD } from '../errors/server.ts'

/** The bytes that a server keeps for all its clients between their requests. */
export class HeldBytes {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes room for further bytes; throws if there is none. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#limit)
      throw mcpError(TOO_MUCH_HELD, { limit: this.#limit }, { retryAfterMs: 30_000 })
    this.#bytes += bytes
  }

  /** Gives back room. */
  free(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** What it takes to keep a URI, besides its characters. */
const OVERHEAD = 128

/** URIs that a client watches, counted among the bytes of the server until they are deleted. */
export class WatchedUris extends Set<string> {
  readonly #held: HeldBytes

  /** Throws if there is no room for all of them. */
  constructor(held: HeldBytes, uris: Iterable<string> = []) {
    super()
    this.#held = held
    const all = new Set(uris)
    held.take([...all].reduce((sum, uri) => sum + uri.length + OVERHEAD, 0))
    for (const uri of all) super.add(uri)
  }

  override add(uri: string): this {
    if (!this.has(uri)) this.#held.take(uri.length + OVERHEAD)
    return super.add(uri)
  }

  override delete(uri: string): boolean {
    if (!super.delete(uri)) return false
    this.#held.free(uri.length + OVERHEAD)
    return true
  }

  override clear(): void {
    for (const uri of this) this.delete(uri)
  }
}
