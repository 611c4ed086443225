import { Deferred } from '../base/deferred.ts'
import { isReply, type Client } from './redis-client.ts'

/** A connection that is made again whenever it is lost. Nobody waits for it longer than is allowed. */
export class RedisConnection {
  readonly #client: Client
  readonly #patienceMs: number
  /** Those who wait for the connection; none while it is ready. */
  #waiting: Deferred<Client> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Since when there is no connection; `Infinity` while there is one. */
  #awaySince: number = performance.now()
  #isClosed = false
  #lastError: unknown

  /** Begins to connect. `patienceMs` is how long others wait after the connection was lost; later they fail at once. */
  constructor(client: Client, patienceMs: number, onReady?: (client: Client) => void) {
    this.#client = client
    this.#patienceMs = patienceMs
    client.on('error', (error) => {
      this.#lastError = error
      // A server that rejects the password will do so again.
      if (isReply(error)) this.#settle(this.#reason())
    })
    client.on('ready', () => {
      this.#awaySince = Infinity
      this.#settle(undefined)
      onReady?.(client)
    })
    // Each attempt that fails also ends with this event.
    client.on('close', () => void (this.#awaySince = Math.min(this.#awaySince, performance.now())))
    client.on('end', () => this.#settle(new Error('the connection is closed')))
    // It fails if the first attempt does; others follow.
    client.connect().catch((error: unknown) => void (this.#lastError ??= error))
  }

  /** The client if it is connected. */
  get current(): Client | undefined {
    return this.#client.status === 'ready' ? this.#client : undefined
  }

  /** The client once it is connected. Rejects with the reason if that takes too long. */
  ready(): Client | Promise<Client> {
    if (this.current !== undefined) return this.#client
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'))
    if (this.#waiting !== undefined) return this.#waiting.promise
    const leftMs = Math.min(this.#awaySince, performance.now()) + this.#patienceMs - performance.now()
    if (leftMs <= 0) return Promise.reject(this.#reason())
    this.#waiting = new Deferred()
    if (leftMs !== Infinity) this.#timer = setTimeout(() => this.#settle(this.#reason()), leftMs)
    return this.#waiting.promise
  }

  close(): void {
    this.#isClosed = true
    this.#client.disconnect()
    this.#settle(new Error('the connection is closed'))
  }

  #settle(error: Error | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    clearTimeout(this.#timer)
    if (error === undefined) waiting?.resolve(this.#client)
    else waiting?.reject(error)
  }

  #reason(): Error {
    return this.#lastError instanceof Error ? this.#lastError : new Error('there is no connection')
  }
}
