import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Leads each connection to the next of several servers, and to another one if nothing listens there. */
export class TcpRoundRobin {
  /** The ports of the servers. */
  readonly ports: number[]
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  readonly #server = createServer((near) => this.#lead(near, 0))
  #next = 0

  constructor(ports: readonly number[]) {
    this.ports = [...ports]
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    onTestFinished(() => {
      this.cut()
      this.#server.close()
    })
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Breaks all connections. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  #lead(near: Socket, tries: number): void {
    const port = this.ports[this.#next++ % this.ports.length] as number
    const far = connect({ port, host: '127.0.0.1' })
    const pair = [near, far] as const
    let isOpen = false
    if (tries === 0) near.on('error', () => undefined)
    far.on('error', () => undefined)
    far.once('connect', () => {
      isOpen = true
      this.#pairs.add(pair)
      near.pipe(far)
      far.pipe(near)
      near.once('close', () => far.destroy())
    })
    far.once('close', () => {
      this.#pairs.delete(pair)
      if (!isOpen && tries < 10 && !near.destroyed) return this.#lead(near, tries + 1)
      near.destroySoon()
    })
  }
}
