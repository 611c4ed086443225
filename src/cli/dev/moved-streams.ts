import type { Worker } from 'node:cluster'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Deferred } from '../../base/deferred.ts'
import { ACKNOWLEDGED, messagesIn } from './json-rpc.ts'
import { REOPENS_HEADER, toMessage, type StreamRequest } from './messages.ts'

/** How long programs have to give streams away, and to open them again. */
const MOVE_MS = 2_000
/** When to try again after a connection broke. */
const AGAIN_MS = 50
/** How long the last event may take to its client. */
const LAST_MS = 500

/** The event streams of `subscriptions/listen` whose programs were replaced. Each goes on in the newest program, over the same connection. */
export class MovedStreams {
  readonly #streams = new Set<MovedStream>()
  /** The processes that are about to give their streams away. */
  readonly #giving = new Map<Worker, Deferred<void>>()
  #moved: Promise<unknown> = Promise.resolve()

  /** Opens all streams again in the process that takes requests now: those that were moved before, and those of the processes before it. */
  move(before: Iterable<Worker>): void {
    for (const worker of before) {
      if (!worker.isConnected()) continue
      if (!this.#giving.has(worker)) this.#giving.set(worker, new Deferred())
      worker.send(toMessage({ kind: 'replaced' }), undefined, () => undefined)
    }
    const given = Promise.all([...this.#giving.values()].map(({ promise }) => promise))
    this.#moved = given.then(() => Promise.all([...this.#streams].map((stream) => stream.open())))
  }

  take(opened: StreamRequest, socket: Socket): void {
    const stream = new MovedStream(opened, socket)
    this.#streams.add(stream)
    socket.once('close', () => this.#streams.delete(stream))
  }

  /** A process has given all its streams away, or has ended. */
  given(worker: Worker): void {
    this.#giving.get(worker)?.resolve()
    this.#giving.delete(worker)
  }

  /** Resolves when all streams are open in the newest process, or after a moment. */
  async whenMoved(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, MOVE_MS)))
    await Promise.race([this.#moved, late])
    clearTimeout(timer)
  }

  /** Ends all streams that their program has not ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.end()))
  }
}

/** One connection of a client. */
class MovedStream {
  readonly #opened: StreamRequest
  readonly #socket: Socket
  #request: ClientRequest | undefined
  #isOpen = new Deferred<void>()

  constructor(opened: StreamRequest, socket: Socket) {
    this.#opened = opened
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#request?.destroy()
      this.#isOpen.resolve()
    })
    // Only a connection that is read shows that its client has closed it.
    socket.resume()
  }

  /** Opens it in the process that takes requests now. Resolves when it is open, or ends. */
  open(): Promise<void> {
    this.#isOpen.resolve()
    this.#isOpen = new Deferred()
    if (this.#socket.destroyed) this.#isOpen.resolve()
    else this.#ask()
    return this.#isOpen.promise
  }

  /** Sends the result with which a server ends a stream. */
  async end(): Promise<void> {
    const [{ id } = {}] = messagesIn(this.#opened.body) ?? []
    const complete = { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
    await this.#last(`event: message\ndata: ${JSON.stringify(complete)}\n\n`)
  }

  #ask(): void {
    const { path, body } = this.#opened
    const { localAddress: host, localPort: port } = this.#socket
    const asked = request({ host, port, path, method: 'POST', agent: false, headers: this.#headers() })
    this.#request = asked
    const isCurrent = (): boolean => this.#request === asked && !this.#socket.destroyed
    asked.on('response', (response) => void (isCurrent() && this.#pass(response, isCurrent)))
    asked.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (!isCurrent()) return
      // Nothing listens there any more.
      if (code === 'ECONNREFUSED') void this.end()
      else setTimeout(() => void (isCurrent() && this.#ask()), AGAIN_MS)
    })
    asked.end(body)
  }

  /** The headers of the client, without those of its connection. */
  #headers(): readonly string[] {
    const { headers, body } = this.#opened
    const kept = headers.filter((_, at) => !OWN_HEADERS.has((headers[at - (at % 2)] ?? '').toLowerCase()))
    return [...kept, 'content-length', String(Buffer.byteLength(body)), REOPENS_HEADER, '1']
  }

  /** Passes events on until the program ends the stream, or itself: then the next program opens it again. */
  #pass(response: IncomingMessage, isCurrent: () => boolean): void {
    response.on('error', () => undefined)
    if (response.statusCode !== 200 || response.headers['content-type']?.includes('event-stream') !== true) {
      response.resume()
      return void this.end()
    }
    let text = ''
    response.setEncoding('utf8').on('data', (more: string) => {
      if (!isCurrent()) return
      const events = (text + more).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) this.#event(`${event}\n\n`)
      if (!this.#socket.writableNeedDrain) return
      response.pause()
      this.#socket.once('drain', () => response.resume())
    })
  }

  #event(event: string): void {
    const [, data = ''] = /^data: (.*)$/m.exec(event) ?? []
    const [message] = messagesIn(data) ?? []
    if (message?.method === ACKNOWLEDGED) return this.#isOpen.resolve()
    if (message !== undefined && message.method === undefined) return void this.#last(event)
    this.#socket.write(chunkOf(event))
  }

  async #last(event: string): Promise<void> {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.end(`${chunkOf(event)}0\r\n\r\n`)
    const late = setTimeout(() => this.#socket.destroy(), LAST_MS)
    await closed
    clearTimeout(late)
  }
}

const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  REOPENS_HEADER,
])

/** A part of a body whose length is not known before it ends. */
function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
