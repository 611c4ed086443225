/** A request and the status of its answer. */
export interface Exchange {
  readonly verb: string
  readonly lastEventId: string | null
  readonly status: number
}

/** Remembers what went over the network. */
export class Network {
  readonly exchanges: Exchange[] = []
  #arrived: () => void = () => undefined

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const lastEventId = new Headers(init?.headers).get('last-event-id')
    this.exchanges.push({ verb: init?.method ?? 'GET', lastEventId, status: response.status })
    this.#arrived()
    return response
  }

  /** What was resumed so far, once there is as much as `count`. */
  async resumed(count: number): Promise<Exchange[]> {
    for (;;) {
      const found = this.exchanges.filter(({ lastEventId }) => lastEventId !== null)
      if (found.length >= count) return found
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }

  /** The first exchange of a verb, once there is one. */
  async until(verb: string): Promise<Exchange> {
    for (;;) {
      const found = this.exchanges.find((one) => one.verb === verb)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }
}
