import type { Service } from '../../rpc/service.ts'
import { serveMemory, type MemoryConnection, type MemoryEnd, type MemoryOptions } from './server.ts'

/** The open connections of a server with clients in the same process. */
export class MemoryClients {
  readonly #open = new Set<MemoryConnection>()

  add(service: Service, options: Omit<MemoryOptions, 'onEnd'>): MemoryEnd {
    const client = serveMemory(service, { ...options, onEnd: () => this.#open.delete(client) })
    this.#open.add(client)
    return client
  }

  /** Whether there are any. */
  get isAny(): boolean {
    return this.#open.size > 0
  }

  /** Finishes running requests, for at most `limitMs`, then ends all connections. */
  async finish(limitMs: number): Promise<void> {
    await Promise.all([...this.#open].map((one) => one.finish(Math.max(0, limitMs))))
  }
}
