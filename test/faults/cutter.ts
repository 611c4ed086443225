import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Where to cut: after so many events, or bytes, of what the server sends once a request of interest went by. */
export interface Cut {
  readonly events?: number
  readonly bytes?: number
}

const INTERESTING = /"method":"tools\/call"|last-event-id/i
const NEWLINE = 0x0a

/** Stands between a client and a server on the loopback, and cuts connections when told to. */
export class Cutter implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #open = new Set<Socket>()
  readonly #cuts: Cut[] = []
  /** How many connections were cut. */
  cut = 0

  private constructor(server: Server, port: number, path: string) {
    this.#server = server
    this.url = `http://127.0.0.1:${port}${path}`
  }

  /** Listens in front of a server. */
  static async before(target: string): Promise<Cutter> {
    const { hostname, port, pathname } = new URL(target)
    let cutter: Cutter | undefined
    const server = createServer((client) => cutter?.carry(client, connect(Number(port), hostname)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (cutter = new Cutter(server, (server.address() as AddressInfo).port, pathname))
  }

  /** Cuts the connections of the next requests of interest: calls of tools, and resumed streams. */
  next(...cuts: readonly Cut[]): void {
    this.#cuts.push(...cuts)
  }

  /** Makes no cuts any more that were planned. */
  spare(): void {
    this.#cuts.length = 0
  }

  /** Cuts every connection that is open now. */
  cutAll(): void {
    for (const socket of this.#open) socket.destroy()
    this.cut++
  }

  carry(client: Socket, server: Socket): void {
    let scissors: Scissors | undefined
    for (const socket of [client, server]) {
      this.#open.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        this.#open.delete(socket)
        client.destroy()
        server.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (INTERESTING.test(chunk.toString('latin1'))) {
        const cut = this.#cuts.shift()
        scissors = cut === undefined ? undefined : new Scissors(cut)
      }
      server.write(chunk)
    })
    server.on('data', (chunk) => {
      const end = scissors?.within(chunk)
      if (end === undefined) return void client.write(chunk)
      this.cut++
      scissors = undefined
      // What came before the cut arrives; then the connection ends without a word.
      client.end(chunk.subarray(0, end), () => client.destroy())
      server.destroy()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Counts what goes by on one connection. */
class Scissors {
  readonly #cut: Cut
  #bytes = 0
  #events = 0
  #last = 0

  constructor(cut: Cut) {
    this.#cut = cut
  }

  /** How much of a chunk still goes through, when it is the one to cut. */
  within(chunk: Buffer): number | undefined {
    const { events, bytes } = this.#cut
    if (bytes !== undefined) {
      const left = bytes - this.#bytes
      this.#bytes += chunk.length
      return left <= chunk.length ? left : undefined
    }
    if (events === 0) return this.#headOf(chunk)
    for (const [index, byte] of chunk.entries()) {
      if (byte === NEWLINE && this.#last === NEWLINE && ++this.#events === events) return index + 1
      this.#last = byte
    }
    return undefined
  }

  #headOf(chunk: Buffer): number | undefined {
    const end = chunk.indexOf('\r\n\r\n')
    return end < 0 ? undefined : end + 4
  }
}
