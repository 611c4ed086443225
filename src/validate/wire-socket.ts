import type { Socket } from 'node:net'
import type { Framing } from './framing.ts'
import { openSocket } from '../transport/tcp/open.ts'
import type { Trace } from './trace.ts'
import { LineWire } from './wire-lines.ts'
import { MOST_BYTES, Wire } from './wire.ts'

let count = 0
/** How many bytes say how long a message is. */
const HEAD = 4

/** Messages on a socket that are preceded by their length in four bytes. */
class FrameWire extends Wire {
  readonly transport = 'tcp'
  readonly name: string = `tcp frames ${++count}`
  readonly #socket: Socket
  #chunks: Buffer[] = []
  #length = 0

  constructor(socket: Socket, trace: Trace) {
    super(trace)
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(Buffer.from(chunk)))
    socket.on('end', () => this.end('the peer ended its output'))
    socket.on('close', () => this.end('the peer closed the connection'))
    socket.on('error', (error) => this.end(error.message))
  }

  #read(chunk: Buffer): void {
    if (this.isStopped) return
    this.#chunks.push(chunk)
    this.#length += chunk.length
    let wanted = this.#wanted()
    if (wanted > MOST_BYTES) return this.stop(`the peer announced a message of ${wanted} bytes`)
    if (this.#length < HEAD + wanted) return
    let rest = Buffer.concat(this.#chunks)
    while (rest.length >= HEAD && !this.isStopped) {
      wanted = rest.readUInt32BE(0)
      if (wanted > MOST_BYTES) return this.stop(`the peer announced a message of ${wanted} bytes`)
      if (rest.length < HEAD + wanted) break
      // An empty one only shows that the peer is there.
      if (wanted > 0) this.take(rest.toString('utf8', HEAD, HEAD + wanted), this.name)
      rest = rest.subarray(HEAD + wanted)
    }
    this.#chunks = [rest]
    this.#length = rest.length
  }

  /** The length of the message that comes first, as far as it is known. */
  #wanted(): number {
    if (this.#length < HEAD) return HEAD
    if ((this.#chunks[0]?.length ?? 0) < HEAD) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]?.readUInt32BE(0) ?? 0
  }

  async send(text: string): Promise<undefined> {
    this.give(text)
    this.trace.add({ from: 'validator', stream: this.name, text })
    await this.#write(Buffer.from(text, 'utf8'))
  }

  async sendBytes(bytes: Uint8Array): Promise<undefined> {
    this.trace.add({ from: 'validator', stream: this.name, text: `(${bytes.length} bytes)` })
    await this.#write(bytes)
  }

  async #write(body: Uint8Array): Promise<void> {
    if (this.ended !== undefined) return
    const head = Buffer.alloc(HEAD)
    head.writeUInt32BE(body.length)
    await new Promise<void>((resolve) => {
      // A peer that does not read must not hold us up for ever.
      const timer = setTimeout(resolve, 2_000)
      this.#socket.write(Buffer.concat([head, body]), () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    this.end('closed by the validator')
    this.#socket.destroy()
  }
}

export interface SocketOptions {
  readonly trace: Trace
  readonly ms: number
  /** How messages are separated. Default: `lines`. */
  readonly framing?: Framing | undefined
}

/** Connects to a server on a socket: `tcp:`, `tls:` or `unix:`. Throws if it cannot be reached. */
export async function connectSocket(url: URL, { trace, ms, framing }: SocketOptions): Promise<Wire> {
  const socket = await openSocket(url, {}, ms)(AbortSignal.timeout(ms))
  if (framing === 'length-prefix') return new FrameWire(socket, trace)
  const release = async (): Promise<void> => void socket.destroy()
  return new LineWire('tcp', { input: socket, output: socket }, release, trace)
}
