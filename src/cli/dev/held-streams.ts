import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { LISTEN } from './json-rpc.ts'
import { REOPENS_HEADER, toMessage, type WorkerMessage } from './messages.ts'

/** The largest request that is kept for the next program, and the most that all of them take. Streams with others end when a file is saved. */
const MOST_BYTES = 65_536
const MOST_TOGETHER = 32 * MOST_BYTES

/** A stream that a client keeps open, with the request that opened it. */
interface HeldStream {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: KeptBody
}

/** The event streams of `subscriptions/listen` over HTTP in this process. Their connections outlive it. */
export class HeldStreams {
  readonly #streams = new Set<HeldStream>()
  readonly #servers = new Set<Server>()
  readonly #room = { left: MOST_TOGETHER }
  #isReplaced = false

  /** Notes the streams that clients open from now on. */
  watch(): void {
    subscribe('http.server.request.start', (message) => {
      const { request, response, server } = message as HeldStream & { readonly server: Server }
      if (request.method !== 'POST' || request.headers['mcp-method'] !== LISTEN) return
      this.#servers.add(server)
      const stream = { request, response, body: new KeptBody(request, this.#room) }
      this.#streams.add(stream)
      response.once('close', () => {
        this.#streams.delete(stream)
        stream.body.drop()
      })
    })
  }

  /** Gives the connections of all streams to the process that watches, for the newer program. */
  async giveAway(): Promise<void> {
    this.#isReplaced = true
    // The requests that open them again must not arrive here.
    for (const server of this.#servers) Server.prototype.close.call(server)
    for (const stream of this.#streams)
      if (stream.request.headers[REOPENS_HEADER] !== undefined) stream.response.destroy()
      else if (isMovable(stream)) await give(stream)
    await tell({ kind: 'streams' })
  }

  /** Answers whether the end of a request only means that its stream was given away. */
  isGivenAway(method: string | undefined): boolean {
    return this.#isReplaced && method === LISTEN
  }
}

/** The body of a request, collected while the server reads it, in one buffer: clients choose the size of its chunks. */
class KeptBody {
  readonly #room: { left: number }
  #bytes = Buffer.alloc(0)
  #size = 0
  #isDropped = false

  constructor(request: IncomingMessage, room: { left: number }) {
    this.#room = room
    const push = request.push.bind(request)
    request.push = (chunk: unknown, ...more) => {
      if (chunk instanceof Uint8Array) this.#add(chunk)
      else if (chunk !== null) this.drop()
      return push(chunk, ...more)
    }
  }

  /** The text; empty if it was too large to keep. */
  get text(): string {
    return this.#bytes.toString('utf8', 0, this.#size)
  }

  drop(): void {
    this.#room.left += this.#bytes.length
    this.#bytes = Buffer.alloc(0)
    this.#size = 0
    this.#isDropped = true
  }

  #add(chunk: Uint8Array): void {
    if (this.#isDropped) return
    const size = this.#size + chunk.length
    if (size > this.#bytes.length) {
      const length = Math.max(1024, 2 ** Math.ceil(Math.log2(size)))
      if (length > MOST_BYTES || length - this.#bytes.length > this.#room.left) return this.drop()
      this.#room.left -= length - this.#bytes.length
      this.#bytes = Buffer.concat([this.#bytes], length)
    }
    this.#bytes.set(chunk, this.#size)
    this.#size = size
  }
}

/** Whether the client has got the beginning of an event stream, with nothing on its way. */
function isMovable({ request, response, body }: HeldStream): boolean {
  const { socket } = response
  return (
    body.text !== '' &&
    request.httpVersion === '1.1' &&
    response.headersSent &&
    !response.writableEnded &&
    isEventStream(response) &&
    socket !== null &&
    !(socket instanceof TLSSocket) &&
    !socket.destroyed &&
    socket.writableLength === 0
  )
}

/** Only this internal property shows the head that was sent. */
function isEventStream(response: ServerResponse): boolean {
  const { _header: head } = response as { _header?: string | null }
  return head?.includes('text/event-stream') === true && /^transfer-encoding: chunked/im.test(head)
}

/** Sends a connection to the other process. Here, the client seems to have gone away. */
async function give({ request, response, body }: HeldStream): Promise<void> {
  const socket = response.socket as Socket & { server?: unknown }
  const opened = {
    path: request.url ?? '/',
    headers: request.rawHeaders,
    body: body.text,
  }
  // Node would keep the listener open until the other process has closed the connection.
  socket.server = undefined
  // Node sends one connection at a time, and the next one when the other process has the one before.
  await tell({ kind: 'stream', request: opened }, socket)
  socket.destroy()
  response.destroy()
  response.emit('close')
}

function tell(message: WorkerMessage, socket?: Socket): Promise<void> {
  return new Promise((resolve) => void process.send?.(toMessage(message), socket, undefined, () => resolve()))
}
