// How clients of the chaos test keep a session over WebSockets: without any code of ours, so that a fault of our client cannot hide one of our server.
import { WebSocket } from 'ws'
import { pause } from './chaos-messages.ts'
import { NODE_HEADER } from './chaos-proxy.ts'
import { SILENCE_MS } from './chaos-wire.ts'

/** What a session over WebSockets needs to know. */
export interface WsParts {
  readonly url: string
  readonly apiKey: string
  isOver(): boolean
  onMessage(text: string): void
  /** A message was written to a connection with a node. */
  onSent(text: string, node: string): void
  /** A connection is open that goes on after so many messages. */
  onResumed(received: number): void
  /** The server does not know the session any more, or refused a connection that it should accept. */
  onGone(): void
  onRefused(error: string): void
}

const RETRY_MS = 200
const PING_MS = 2000
const DONE = 1000
/** Statuses that mean: try again. */
const LATER: readonly number[] = [429, 502, 503, 504]

/** A session that outlives its connections: both sides count messages, and send those again that the other has not got. */
export class WsWire {
  readonly #parts: WsParts
  /** All messages of the session that were sent. */
  readonly #sent: string[] = []
  #received = 0
  #session = ''
  #socket: WebSocket | undefined
  #node = ''
  /** Resolves when the last connection has ended. */
  #ended: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: WsParts) {
    this.#parts = parts
  }

  /** How many messages have arrived. */
  get received(): number {
    return this.#received
  }

  /** Opens the session, and keeps it connected until it is closed. */
  async open(): Promise<void> {
    while (this.#isWanted && this.#session === '') if (!(await this.#connect())) await pause(RETRY_MS)
    void this.#keep()
  }

  send(text: string): void {
    this.#sent.push(text)
    // A socket that is about to end takes messages, too; they are sent again.
    if (this.#socket?.readyState === WebSocket.OPEN) this.#write(this.#socket, text)
  }

  #write(socket: WebSocket, text: string): void {
    this.#parts.onSent(text, this.#node)
    socket.send(text, () => undefined)
  }

  /** Breaks the connection. */
  drop(): void {
    this.#socket?.terminate()
  }

  /** Ends the session. */
  close(): void {
    this.#isClosed = true
    this.#socket?.close(DONE)
  }

  get #isWanted(): boolean {
    return !this.#isClosed && !this.#parts.isOver()
  }

  async #keep(): Promise<void> {
    while (this.#isWanted) {
      if (this.#socket === undefined && !(await this.#connect())) await pause(RETRY_MS)
      await this.#ended
    }
  }

  /** Makes a connection; false if that failed. */
  #connect(): Promise<boolean> {
    const { url, apiKey } = this.#parts
    const isFirst = this.#session === ''
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'last-event-id': String(this.#received),
      ...(!isFirst && { 'mcp-session-id': this.#session }),
    }
    if (!isFirst) this.#parts.onResumed(this.#received)
    const socket = new WebSocket(url, ['mcp'], {
      headers,
      handshakeTimeout: SILENCE_MS,
      followRedirects: false,
    })
    this.#ended = new Promise((resolve) => void socket.once('close', () => resolve()))
    return new Promise((resolve) => {
      socket.once('upgrade', ({ headers: replied }) => {
        const [session, count] = [replied['mcp-session-id'], Number(replied['last-event-id'] ?? 0)]
        if (!isFirst && session !== this.#session) return this.#lose(socket)
        this.#session = String(session)
        this.#node = String(replied[NODE_HEADER])
        socket.once('open', () => this.#begin(socket, count))
      })
      socket.once('open', () => resolve(true))
      socket.once('unexpected-response', (_, { statusCode = 0 }) => {
        if (!LATER.includes(statusCode)) this.#parts.onRefused(`status ${statusCode} for a WebSocket`)
        socket.terminate()
      })
      // The end of the connection follows.
      socket.on('error', () => undefined)
      socket.once('close', () => {
        if (this.#socket === socket) this.#socket = undefined
        resolve(false)
      })
    })
  }

  /** Sends what the server has not got, and reads. */
  #begin(socket: WebSocket, count: number): void {
    this.#socket = socket
    for (const text of this.#sent.slice(count)) this.#write(socket, text)
    let heardAt = performance.now()
    const timer = setInterval(() => {
      if (performance.now() - heardAt > SILENCE_MS || this.#parts.isOver()) socket.terminate()
      else if (socket.readyState === WebSocket.OPEN) socket.ping()
    }, PING_MS)
    for (const event of ['ping', 'pong'] as const) socket.on(event, () => (heardAt = performance.now()))
    socket.on('message', (data) => {
      heardAt = performance.now()
      // What still arrives over a connection that was replaced is not counted: the server sends it again.
      if (this.#socket !== socket) return
      this.#received++
      this.#parts.onMessage((data as Buffer).toString())
    })
    socket.once('close', () => clearInterval(timer))
  }

  #lose(socket: WebSocket): void {
    this.#isClosed = true
    this.#parts.onGone()
    socket.terminate()
  }
}
