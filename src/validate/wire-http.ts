import { httpCall } from './http-call.ts'
import { isRequest, member, messagesIn, parsed } from './message.ts'
import { ownText } from './own-text.ts'
import type { Trace } from './trace.ts'
import { isLikeMessage, Wire, type HttpReply, type SendOptions } from './wire.ts'

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
  /** Whether a body that is not read as messages looks like one. */
  #isOdd = false

  constructor({ url, headers, trace, ms }: HttpWireOptions) {
    super(trace)
    this.url = url
    // In small letters, so that a check can replace or remove them.
    this.#headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    this.#ms = ms
  }

  /** What was sent, by the name of the stream of its reply. */
  readonly posts: Map<string, string> = new Map()

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
        onEvent: ({ type, data, id, hasData, retry }, stream) => {
          if (hasData && type === 'message' && data !== '') this.take(data, stream, id)
          else this.noteEvent(stream, type, data, id)
          if (retry !== undefined) this.retries.add(stream)
        },
      },
      this.trace,
    )
    if (typeof body === 'string') this.posts.set(reply.stream, body)
    if (reply.isStream) {
      this.#replies.add(reply)
      void reply.ended.then(() => this.#replies.delete(reply))
    } else if (this.#isForMessages(reply, url, method === 'POST' ? body : undefined))
      this.take(reply.body, reply.stream, undefined, reply.at)
    else {
      this.#isOdd ||= method === 'POST' && reply.status < 300 && isLikeMessage(reply.body)
      this.count(reply.body.length)
    }
    return reply
  }

  override get hasOddMessages(): boolean {
    return this.#isOdd || super.hasOddMessages || this.events.some(({ data }) => isLikeMessage(data))
  }

  /** Whether a body should have messages: it says so, or a request that was posted is not refused. Refusals may have any JSON. */
  #isForMessages(
    { body, headers, status }: HttpReply,
    url: URL,
    posted: string | Uint8Array | undefined,
  ): boolean {
    if (body === '' || !/json/i.test(headers['content-type'] ?? '') || url.pathname !== this.url.pathname)
      return false
    if (
      status >= 200 &&
      status < 300 &&
      typeof posted === 'string' &&
      messagesIn(parsed(posted)).some(isRequest)
    )
      return true
    return messagesIn(parsed(body)).some((message) => member(message, 'jsonrpc') !== undefined)
  }

  /** The streams on which the peer said when to come back. */
  readonly retries: Set<string> = new Set()

  /** Events that are no messages: those with an id and no data, and those of other types. */
  readonly events: {
    readonly stream: string
    readonly type: string
    readonly data: string
    readonly id: string | undefined
  }[] = []

  private noteEvent(stream: string, type: string, data: string, id: string | undefined): void {
    if (this.events.length < 1_000) this.events.push({ stream, type, data: ownText(data.slice(0, 200)), id })
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
