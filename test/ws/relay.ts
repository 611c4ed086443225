import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

type Way = 'up' | 'down'

/** A way to a server on which connections break when a test says so, after any byte. */
export interface Relay {
  readonly url: string
  /** The head of each request that opened a connection. */
  readonly heads: readonly string[]
  /** How many connections are open. */
  readonly open: number
  /** Breaks every connection now. */
  cut(): void
  /** Breaks the connection when so many more bytes went one way. */
  cutAfter(bytes: number, way: Way): void
  /** Lets nothing through any more, without a word to either side; new connections work. */
  freeze(): void
  /** Takes no connections until the function that comes back is called. */
  refuse(): () => void
  /** Leads to another server from now on. */
  leadTo(port: number): void
}

export async function relay(first: number): Promise<Relay> {
  let port = first
  const pairs = new Set<Pair>()
  const heads: string[] = []
  let refusing = false
  const server = createServer((near) => {
    if (refusing) return void near.destroy()
    const pair = new Pair(near, connect({ port, host: '127.0.0.1' }), (head) => heads.push(head))
    pairs.add(pair)
    near.once('close', () => pairs.delete(pair))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const pair of pairs) pair.cut()
    server.close()
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    heads,
    get open() {
      return pairs.size
    },
    cut: () => pairs.forEach((pair) => pair.cut()),
    cutAfter: (bytes, way) => pairs.forEach((pair) => pair.left.set(way, bytes)),
    freeze: () => pairs.forEach((pair) => pair.freeze()),
    refuse() {
      refusing = true
      return () => void (refusing = false)
    },
    leadTo: (next) => void (port = next),
  }
}

class Pair {
  /** How many more bytes may go each way. */
  readonly left = new Map<Way, number>()
  readonly #near: Socket
  readonly #far: Socket
  #frozen = false
  #headed = false

  constructor(near: Socket, far: Socket, onHead: (head: string) => void) {
    this.#near = near
    this.#far = far
    near.on('data', (chunk: Buffer) => {
      if (!this.#headed) onHead(chunk.toString('latin1'))
      this.#headed = true
      this.#pass(far, chunk, 'up')
    })
    far.on('data', (chunk: Buffer) => this.#pass(near, chunk, 'down'))
    for (const socket of [near, far]) {
      socket.on('error', () => undefined)
      socket.on('close', () => this.#frozen || this.cut())
    }
  }

  cut(): void {
    this.#near.destroy()
    this.#far.destroy()
  }

  freeze(): void {
    this.#frozen = true
  }

  #pass(to: Socket, chunk: Buffer, way: Way): void {
    if (this.#frozen) return
    const left = this.left.get(way)
    if (left === undefined || chunk.length < left) {
      if (left !== undefined) this.left.set(way, left - chunk.length)
      return void to.write(chunk)
    }
    to.write(chunk.subarray(0, left), () => this.cut())
    this.left.set(way, 0)
  }
}
