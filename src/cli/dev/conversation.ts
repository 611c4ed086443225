import type { Message } from './json-rpc.ts'
import type { RelayedProgram } from './relayed-program.ts'

/** What a client has told its server at revisions with a handshake. The next program must know it too. */
export class Conversation {
  #opening: Message['params']
  #revision: unknown
  #isReady = false
  #level: Message['params']
  readonly #subscriptions = new Map<unknown, Message['params']>()

  /** Notes a request that was answered. */
  answered(method: string, params: Message['params'], { result }: Message): void {
    if (result === undefined) return
    const uri = params?.['uri']
    switch (method) {
      case 'initialize':
        this.#opening = params
        this.#revision = result['protocolVersion']
        return
      case 'logging/setLevel':
        this.#level = params
        return
      case 'resources/subscribe':
        this.#subscriptions.set(uri, params)
        return
      case 'resources/unsubscribe':
        this.#subscriptions.delete(uri)
    }
  }

  /** Notes a notification of the client. */
  notified(method: string): void {
    if (method === 'notifications/initialized') this.#isReady = true
  }

  /** Tells a new program the same. Answers what it did not accept. */
  async repeat(program: RelayedProgram): Promise<readonly string[]> {
    if (this.#opening === undefined) return []
    const problems: string[] = []
    const { result } = await program.ask('initialize', this.#opening)
    if (result?.['protocolVersion'] !== this.#revision)
      problems.push('the new program does not speak the revision of the client, which must connect again')
    if (!this.#isReady) return problems
    program.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    if (this.#level !== undefined) await program.ask('logging/setLevel', this.#level)
    for (const [uri, params] of this.#subscriptions) {
      const { error } = await program.ask('resources/subscribe', params)
      if (error !== undefined)
        problems.push(`the client is no longer subscribed to ${typeof uri === 'string' ? uri : 'a resource'}`)
    }
    return problems
  }
}
