import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { LISTEN } from './json-rpc.ts'
import { REOPENS_HEADER, toMessage, type WorkerMessage } from './messages.ts'

/** The largest request that is kept for the next program. */
const MOST_BYTES = 1_000_000

/** A stream that a client keeps open, with the request that opened it. */
interface HeldStream {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The body of the request; empty if it is too large. */
  readonly body: readonly Uint8Array[]
}

/** The event streams of `subscriptions/listen` over HTTP in this process. Their connections outlive it. */
export class HeldStreams {
  readonly #streams = new Set<HeldStream>()
  readonly #servers = new Set<Server>()
  #isReplaced = false

  /** Notes the streams that clients open from now on. */
  watch(): void {
    subscribe('http.server.request.start', (message) => {
      const { request, response, server } = message as HeldStream & { readonly server: Server }
      if (request.method !== 'POST' || request.headers['mcp-method'] !== LISTEN) return
      this.#servers.add(server)
      const stream = { request, response, body: bodyOf(request) }
      this.#streams.add(stream)
      response.once('close', () => this.#streams.delete(stream))
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

/** Collects the body while the server reads it. */
function bodyOf(request: IncomingMessage): readonly Uint8Array[] {
  const chunks: Uint8Array[] = []
  let size = 0
  const push = request.push.bind(request)
  request.push = (chunk: unknown, ...more) => {
    if (chunk instanceof Uint8Array && (size += chunk.length) <= MOST_BYTES)
      chunks.push(Uint8Array.from(chunk))
    else if (chunk !== null) chunks.length = 0
    return push(chunk, ...more)
  }
  return chunks
}

/** Whether the client has got the beginning of an event stream, with nothing on its way. */
function isMovable({ request, response, body }: HeldStream): boolean {
  const { socket } = response
  return (
    body.length > 0 &&
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
    body: Buffer.concat(body).toString('utf8'),
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
