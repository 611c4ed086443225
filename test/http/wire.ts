import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { createEventReader, type ReadEvent } from '../../src/wire/sse-reader.ts'

export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  readonly agent?: Agent
  /** The address to send it from. */
  readonly from?: string
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: Uint8Array
  /** The body as JSON. */
  readonly json: JsonObject
  /** The body as an event stream. */
  readonly events: readonly ReadEvent[]
}

/** Sends one request and reads the whole reply. */
export async function send(port: number, sent: Sent): Promise<Received> {
  const response = await begin(port, sent)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    bytes,
    get json() {
      return JSON.parse(text) as JsonObject
    },
    get events() {
      return eventsOf(bytes)
    },
  }
}

export function post(
  port: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string | readonly string[]>>,
): Promise<Received> {
  return send(port, { body, headers })
}

/** Sends one request and gives back the reply once its head is there. */
export function begin(
  port: number,
  { method = 'POST', path = '/mcp', headers = {}, body, agent, from }: Sent,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const given = { ...headers } as Record<string, string | string[]>
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: given,
        agent: agent ?? false,
        ...(from && { localAddress: from }),
      },
      resolve,
    )
    asked.once('error', reject)
    asked.end(body)
  })
}

export function eventsOf(bytes: Uint8Array): readonly ReadEvent[] {
  const events: ReadEvent[] = []
  const reader = createEventReader({
    maxBytes: 1 << 26,
    onEvent: (event) => events.push(event),
    onOversize: () => undefined,
  })
  reader.push(bytes)
  return events
}

/** An open event stream, read as it comes. */
export class Stream {
  readonly response: IncomingMessage
  readonly events: ReadEvent[] = []
  raw = ''
  ended = false
  retryMs: number | undefined
  readonly #waiting = new Set<() => void>()

  constructor(response: IncomingMessage) {
    this.response = response
    const reader = createEventReader({
      maxBytes: 1 << 26,
      onEvent: (event) => this.events.push(event),
      onRetry: (ms) => void (this.retryMs = ms),
      onOversize: () => undefined,
    })
    response.on('data', (chunk: Buffer) => {
      this.raw += chunk.toString('utf8')
      reader.push(chunk)
      this.#wake()
    })
    const end = (): void => {
      this.ended = true
      this.#wake()
    }
    response.once('end', end)
    response.once('close', end)
    response.on('error', end)
  }

  get status(): number {
    return this.response.statusCode ?? 0
  }

  /** The messages that came so far. */
  get messages(): readonly JsonObject[] {
    return this.events.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data) as JsonObject]))
  }

  /** Waits until something holds of the stream. */
  async until(holds: (stream: Stream) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.ended) throw new Error(`the stream ended with ${this.raw.slice(-500)}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
    return this
  }

  async end(): Promise<this> {
    while (!this.ended) await new Promise<void>((resolve) => this.#waiting.add(resolve))
    return this
  }

  /** Goes away as a client does whose connection breaks. */
  drop(): void {
    this.response.destroy()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** Sends one request and reads the reply as it comes. */
export async function stream(port: number, sent: Sent): Promise<Stream> {
  return new Stream(await begin(port, sent))
}

/** A connection for whatever bytes. */
export class Raw {
  readonly socket: Socket
  text = ''
  closed = false

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.on('data', (chunk: Buffer) => void (this.text += chunk.toString('latin1')))
    this.socket.on('error', () => undefined)
    this.socket.on('end', () => void (this.closed = true))
    this.socket.on('close', () => void (this.closed = true))
  }

  write(text: string | Uint8Array): this {
    this.socket.write(text)
    return this
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.text)?.[1] ?? 0)
  }

  /** Waits until the text matches, or the server closes the connection. */
  async until(pattern: RegExp): Promise<this> {
    while (!pattern.test(this.text) && !this.closed) {
      await oneOf(this.socket, ['data', 'end', 'close'])
    }
    return this
  }

  async gone(): Promise<this> {
    while (!this.closed) {
      await oneOf(this.socket, ['end', 'close'])
    }
    this.socket.destroy()
    return this
  }

  destroy(): void {
    this.socket.destroy()
  }
}

/** Resolves with the first of several events, and leaves no listeners. */
function oneOf(socket: Socket, names: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of names) socket.off(name, done)
      resolve()
    }
    for (const name of names) socket.on(name, done)
  })
}
