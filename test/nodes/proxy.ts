import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

/** Passes each request on to the next of several servers, as a load balancer without sticky sessions does. */
export class RoundRobin {
  readonly #server = createServer((asked, answered) => this.#pass(asked, answered))
  readonly #ports: number[]
  readonly #open = new Map<number, Set<() => void>>()
  #next = 0
  /** Chooses the server for a request instead. */
  choose: ((asked: IncomingMessage) => number | undefined) | undefined

  constructor(ports: readonly number[]) {
    this.#ports = [...ports]
  }

  async listen(): Promise<this> {
    this.#server.keepAliveTimeout = 600_000
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`
  }

  /** Passes requests to another server, too. */
  join(port: number): void {
    this.#ports.push(port)
  }

  /** Passes no further requests to a server. */
  leave(port: number): void {
    this.#ports.splice(this.#ports.indexOf(port), 1)
  }

  /** Passes nothing more to a server, and breaks its connections. */
  remove(port: number): void {
    this.leave(port)
    this.drop(port)
  }

  /** Breaks the connections to a server. */
  drop(port: number): void {
    this.#open.get(port)?.forEach((drop) => drop())
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  #pass(asked: IncomingMessage, answered: ServerResponse): void {
    const port = this.choose?.(asked) ?? (this.#ports[this.#next++ % this.#ports.length] as number)
    const { method, url, headers } = asked
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (reply) => {
      // Both connections are kept alive by themselves.
      const { connection: _1, 'keep-alive': _2, 'transfer-encoding': _3, ...rest } = reply.headers
      answered.writeHead(reply.statusCode as number, rest)
      answered.flushHeaders()
      reply.pipe(answered)
      reply.on('error', drop)
    })
    const drop = (): void => {
      passed.destroy()
      if (!answered.writableEnded) answered.destroy()
    }
    const all = this.#open.get(port) ?? new Set()
    this.#open.set(port, all.add(drop))
    answered.once('close', () => {
      all.delete(drop)
      passed.destroy()
    })
    passed.on('error', drop)
    asked.pipe(passed)
  }
}
