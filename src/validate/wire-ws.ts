import { WebSocket } from 'ws'
import type { Trace } from './trace.ts'
import { MOST_BYTES, Wire } from './wire.ts'

let count = 0

/** WebSocket: one message in each text frame. */
export class WsWire extends Wire {
  readonly transport = 'ws'
  /** The code with which the peer closed the connection. */
  closeCode: number | undefined
  /** The subprotocol that the peer chose. */
  get protocol(): string {
    return this.#socket.protocol
  }
  readonly name: string = `ws ${++count}`
  readonly #socket: WebSocket

  private constructor(socket: WebSocket, trace: Trace) {
    super(trace)
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      this.take(isBinary ? `(a binary frame of ${data.length} bytes)` : data.toString('utf8'), this.name)
    })
    socket.on('close', (code) => {
      this.closeCode = code
      this.end(`the peer closed the connection with code ${code}`)
    })
    socket.on('error', (error) => this.end(error.message))
  }

  /** Throws if the peer cannot be reached. */
  static open(
    url: URL,
    headers: Readonly<{ [name: string]: string }>,
    trace: Trace,
    ms: number,
  ): Promise<WsWire> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, ['mcp'], {
        headers,
        handshakeTimeout: ms,
        maxPayload: MOST_BYTES,
        followRedirects: false,
        perMessageDeflate: false,
      })
      const wire = new WsWire(socket, trace)
      socket.once('open', () => resolve(wire))
      socket.once('error', reject)
    })
  }

  async send(text: string): Promise<undefined> {
    this.give(text)
    this.trace.add({ from: 'validator', stream: this.name, text })
    await this.#write(text)
  }

  async sendBytes(bytes: Uint8Array): Promise<undefined> {
    this.trace.add({ from: 'validator', stream: this.name, text: `(${bytes.length} bytes)` })
    await this.#write(bytes)
  }

  async #write(data: string | Uint8Array): Promise<void> {
    if (this.ended !== undefined) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 2_000)
      this.#socket.send(data, { binary: false }, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    this.end('closed by the validator')
    this.#socket.close()
    setTimeout(() => this.#socket.terminate(), 500).unref()
  }
}
