import { httpCall } from './http-call.ts'
import type { Trace } from './trace.ts'
import { Wire, type HttpReply, type SendOptions } from './wire.ts'

/** The headers of every POST. */
const USUAL = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

export interface HttpWireOptions {
  readonly url: URL
  /** Headers of the user, such as a token. */
  readonly headers: Readonly<{ [name: string]: string }>
  readonly trace: Trace
  readonly ms: number
}

/** Streamable HTTP: every message is a POST, and what comes back is received. */
export class HttpWire extends Wire {
  readonly transport = 'http'
  readonly url: URL
  /** Headers that later requests have besides the usual ones, such as the session id. */
  readonly more: { [name: string]: string } = {}
  readonly #headers: Readonly<{ [name: string]: string }>
  readonly #ms: number
  readonly #replies = new Set<HttpReply>()

  constructor({ url, headers, trace, ms }: HttpWireOptions) {
    super(trace)
    this.url = url
    this.#headers = headers
    this.#ms = ms
  }

  send(text: string, { headers = {} }: SendOptions = {}): Promise<HttpReply> {
    this.give(text)
    return this.call('POST', { ...USUAL, ...this.more, ...headers }, text)
  }

  sendBytes(bytes: Uint8Array): Promise<HttpReply> {
    return this.call('POST', { ...USUAL, ...this.more }, bytes)
  }

  /** Opens the GET stream. */
  get({ headers = {} }: SendOptions = {}): Promise<HttpReply> {
    return this.call('GET', { accept: 'text/event-stream', ...this.more, ...headers })
  }

  /** Sends any request; headers with the value undefined are left out. */
  async call(
    method: string,
    headers: Readonly<{ [name: string]: string | undefined }>,
    body?: string | Uint8Array,
    url: URL = this.url,
  ): Promise<HttpReply> {
    const given = Object.entries({ ...this.#headers, ...headers }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    )
    const reply = await httpCall(
      url,
      {
        method,
        headers: Object.fromEntries(given),
        body,
        ms: this.#ms,
        onEvent: ({ type, data, id, hasData }, stream) => {
          if (hasData && type === 'message' && data !== '') this.take(data, stream, id)
          else this.noteEvent(stream, type, data, id)
        },
      },
      this.trace,
    )
    this.#replies.add(reply)
    if (!reply.isStream && reply.body !== '' && /json/i.test(reply.headers['content-type'] ?? ''))
      this.take(reply.body, reply.stream)
    return reply
  }

  /** Events that are no messages: those with an id and no data, and those of other types. */
  readonly events: {
    readonly stream: string
    readonly type: string
    readonly data: string
    readonly id: string | undefined
  }[] = []

  private noteEvent(stream: string, type: string, data: string, id: string | undefined): void {
    if (this.events.length < 1_000) this.events.push({ stream, type, data, id })
    this.trace.add({
      from: 'peer',
      stream,
      text: `event: ${type}${id === undefined ? '' : `, id: ${id}`}, data: ${data}`,
    })
  }

  async close(): Promise<void> {
    for (const reply of this.#replies) reply.close()
    this.#replies.clear()
    this.end('closed by the validator')
  }
}
