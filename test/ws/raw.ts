import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Frame {
  readonly fin: boolean
  readonly opcode: number
  readonly masked: boolean
  readonly payload: Buffer
}

export interface FrameOptions {
  readonly fin?: boolean
  readonly rsv?: number
  readonly opcode?: number
  readonly masked?: boolean
  /** A length to announce other than that of the payload, as eight bytes. */
  readonly announced?: bigint
}

export const OPCODE = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** One frame as a client sends it, right or wrong. */
export function frame(payload: string | Uint8Array, options: FrameOptions = {}): Buffer {
  const { fin = true, rsv = 0, opcode = OPCODE.text, masked = true, announced } = options
  const body = Buffer.from(payload as Uint8Array)
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode
  const mask = masked ? 0x80 : 0
  let head: Buffer
  if (announced !== undefined || body.length > 65_535) {
    head = Buffer.alloc(10)
    head[1] = mask | 127
    head.writeBigUInt64BE(announced ?? BigInt(body.length), 2)
  } else if (body.length > 125) {
    head = Buffer.alloc(4)
    head[1] = mask | 126
    head.writeUInt16BE(body.length, 2)
  } else {
    head = Buffer.from([0, mask | body.length])
  }
  head[0] = first
  if (!masked) return Buffer.concat([head, body])
  const key = randomBytes(4)
  for (let at = 0; at < body.length; at++) body[at] = (body[at] as number) ^ (key[at % 4] as number)
  return Buffer.concat([head, key, body])
}

/** The lines of a request that asks for a WebSocket; a header that is undefined is left out. */
export function handshake(port: number, headers: Readonly<Record<string, string | undefined>> = {}): string {
  const all: Record<string, string | undefined> = {
    host: `127.0.0.1:${port}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\r\n`,
  )
  return `GET /mcp HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** A socket of which every byte can be chosen. */
export class Raw {
  readonly socket: Socket
  readonly closed: Promise<void>
  head = ''
  readonly frames: Frame[] = []
  #bytes: Buffer = Buffer.alloc(0)
  readonly #waiting = new Set<() => void>()
  #isClosed = false

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' })
    this.socket.on('error', () => undefined)
    this.socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.closed = new Promise((resolve) => {
      this.socket.once('close', () => {
        this.#isClosed = true
        this.#look()
        resolve()
      })
    })
    onTestFinished(() => void this.socket.destroy())
  }

  /** Asks for a WebSocket and gives back the status. */
  async ask(text: string): Promise<number> {
    this.socket.write(text)
    await this.until(() => this.head !== '')
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.head)?.[1])
  }

  write(...pieces: readonly (string | Uint8Array)[]): void {
    this.socket.write(Buffer.concat(pieces.map((piece) => Buffer.from(piece as Uint8Array))))
  }

  /** Writes no faster than the other side reads; ends early when it no longer does. */
  async pour(piece: Uint8Array): Promise<void> {
    if (this.#isClosed || this.socket.write(piece)) return
    await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.closed])
  }

  /** The code with which the server ends the connection; undefined when it just cuts it. */
  async closeCode(): Promise<number | undefined> {
    await this.until(() => this.frames.some(({ opcode }) => opcode === OPCODE.close))
    const last = this.frames.find(({ opcode }) => opcode === OPCODE.close)
    return last === undefined || last.payload.length < 2 ? undefined : last.payload.readUInt16BE(0)
  }

  /** The messages so far. */
  get texts(): readonly string[] {
    return this.frames.filter(({ opcode }) => opcode === OPCODE.text).map(({ payload }) => payload.toString())
  }

  /** Waits until something is true, or nothing more can come. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition() && !this.#isClosed) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (this.head === '') {
      const end = this.#bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      this.head = this.#bytes.toString('latin1', 0, end)
      this.#bytes = this.#bytes.subarray(end + 4)
    }
    if (this.head.startsWith('HTTP/1.1 101')) while (this.#cut());
    this.#look()
  }

  /** The body of a reply that is not a WebSocket. */
  get body(): string {
    return this.#bytes.toString()
  }

  #cut(): boolean {
    const bytes = this.#bytes
    if (bytes.length < 2) return false
    const short = (bytes[1] as number) & 0x7f
    const from = short === 127 ? 10 : short === 126 ? 4 : 2
    if (bytes.length < from) return false
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
    if (bytes.length < from + length) return false
    const first = bytes[0] as number
    this.frames.push({
      fin: first >= 0x80,
      opcode: first & 0x0f,
      masked: (bytes[1] as number) >= 0x80,
      payload: bytes.subarray(from, from + length),
    })
    this.#bytes = bytes.subarray(from + length)
    return true
  }

  #look(): void {
    for (const look of this.#waiting) look()
  }
}
