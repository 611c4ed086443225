import type { ServerResponse } from 'node:http'
import type { Channel } from './turn.ts'
import type { HttpSeen, Seen, Visit } from './visit.ts'

type Headers = Readonly<{ [name: string]: string }>

/** An event of a stream; undefined members are left out. */
export interface EventParts {
  readonly data?: string | undefined
  readonly id?: string | undefined
  readonly type?: string | undefined
  readonly retry?: number | undefined
}

/** A stream of server-sent events to the client. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #visit: Visit
  readonly #stream: string

  constructor(response: ServerResponse, visit: Visit, stream: string) {
    this.#response = response
    this.#visit = visit
    this.#stream = stream
  }

  event({ data, id, type, retry }: EventParts): void {
    const lines = [
      ...(type === undefined ? [] : [`event: ${type}`]),
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(retry === undefined ? [] : [`retry: ${retry}`]),
      ...(data === undefined ? [] : [`data: ${data}`]),
    ]
    this.raw(`${lines.join('\n')}\n\n`)
  }

  /** Writes a text as it is. */
  raw(text: string): void {
    this.#visit.give(text.trim(), this.#stream)
    this.#response.write(text)
  }

  end(): void {
    this.#response.end()
  }
}

/** An HTTP request of the client, and the means to answer it. */
export class HttpExchange {
  readonly seen: Seen & { readonly http: HttpSeen }
  readonly visit: Visit
  /** Whether the names of headers are written in capitals. */
  isLoud = false
  readonly #response: ServerResponse

  constructor(seen: Seen & { readonly http: HttpSeen }, visit: Visit, response: ServerResponse) {
    this.seen = seen
    this.visit = visit
    this.#response = response
  }

  get isAnswered(): boolean {
    return this.#response.headersSent
  }

  /** Answers with a status and, if there is a text, with JSON. */
  answer(status: number, text = '', headers: Headers = {}): void {
    if (this.isAnswered) return
    const all: Headers = { ...(text !== '' && { 'content-type': 'application/json' }), ...headers }
    this.visit.give(`${status}\n\n${text}`.trim(), this.seen.stream, { status, headers: all })
    this.#response.writeHead(status, this.#named(all))
    this.#response.end(text)
  }

  #named(headers: Headers): Record<string, string> {
    const pairs = Object.entries(headers)
    return Object.fromEntries(this.isLoud ? pairs.map(([name, value]) => [name.toUpperCase(), value]) : pairs)
  }

  /** Answers with a stream of events. */
  events(headers: Headers = {}): EventStream {
    const all: Headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...headers }
    this.visit.give('200', this.seen.stream, { status: 200, headers: all })
    this.#response.writeHead(200, this.#named(all))
    this.#response.flushHeaders()
    return new EventStream(this.#response, this.visit, this.seen.stream)
  }
}

/** The reply to one POST as the way to the client. */
export class HttpChannel implements Channel {
  readonly stream: string
  readonly #exchange: HttpExchange
  readonly #headers: Headers
  #events: EventStream | undefined
  #open: number

  /** `requests` is how many responses the reply will have. */
  constructor(exchange: HttpExchange, headers: Headers, requests: number) {
    this.stream = exchange.seen.stream
    this.#exchange = exchange
    this.#headers = headers
    this.#open = requests
    if (requests > 1) this.openStream()
  }

  openStream(): void {
    if (!this.#exchange.isAnswered) this.#events ??= this.#exchange.events(this.#headers)
  }

  comment(text: string): void {
    this.openStream()
    this.#events?.raw(`: ${text}\n\n`)
  }

  async send(text: string): Promise<void> {
    this.openStream()
    this.#events?.event({ type: 'message', data: text })
  }

  async finish(text: string, status = 200): Promise<void> {
    this.#open--
    if (this.#events === undefined) {
      this.#exchange.answer(status, text, this.#headers)
      return
    }
    this.#events.event({ type: 'message', data: text })
    if (this.#open <= 0) this.#events.end()
  }
}
