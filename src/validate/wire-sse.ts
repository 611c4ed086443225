import { Deferred } from '../base/deferred.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'
import { httpCall } from './http-call.ts'
import { messagesIn, parsed } from './message.ts'
import type { HttpWireOptions } from './wire-http.ts'
import { ownText } from './own-text.ts'
import { Wire, type HttpReply, type SendOptions } from './wire.ts'

/** The stream of HTTP+SSE does not begin with the address for messages. */
export class NoEndpointError extends Error {}

/** HTTP+SSE of 2024-11-05: one stream of events from the server, and a POST for each message to it. */
export class SseWire extends Wire {
  readonly transport = 'sse'
  /** The events in the order in which they came, messages included. */
  readonly events: { readonly type: string; readonly data: string; readonly isMessage: boolean }[] = []
  readonly #options: HttpWireOptions
  /** Where messages are sent to, once the server has named it. */
  endpoint: URL | undefined
  #stream: HttpReply | undefined

  private constructor(options: HttpWireOptions) {
    super(options.trace)
    // In small letters, so that a check can replace or remove them.
    const headers = Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value])
    this.#options = { ...options, headers: Object.fromEntries(headers) as HttpWireOptions['headers'] }
  }

  /** Opens the stream, and waits until the server names the place for messages. Throws if it does not. */
  static async open(options: HttpWireOptions): Promise<SseWire> {
    const wire = new SseWire(options)
    const named = new Deferred<void>()
    const { url, headers, trace, ms } = wire.#options
    wire.#stream = await httpCall(
      url,
      {
        method: 'GET',
        headers: { accept: 'text/event-stream', ...headers },
        ms,
        onEvent: (event, stream) => {
          wire.#event(event.type, event.data, stream)
          named.resolve()
        },
      },
      trace,
    )
    if (!wire.#stream.isStream) {
      throw new Error(`GET is answered with ${wire.#stream.status}, not with a stream of events`)
    }
    void wire.#stream.ended.then(() => {
      wire.end('the peer ended the stream')
      named.resolve()
    })
    const timer = setTimeout(() => named.resolve(), ms)
    await named.promise
    clearTimeout(timer)
    if (wire.endpoint === undefined) {
      await wire.close()
      const isNamed = wire.events[0]?.type === 'endpoint'
      throw new NoEndpointError(
        isNamed
          ? 'the address for messages is at another origin than the stream'
          : 'the first event of the stream is not "endpoint"',
      )
    }
    return wire
  }

  override get hasOddMessages(): boolean {
    return super.hasOddMessages || this.events.some((event) => event.type !== 'message' && event.isMessage)
  }

  #event(type: string, data: string, stream: string): void {
    if (this.events.length < 1_000)
      this.events.push({ type, data: ownText(data.slice(0, 200)), isMessage: isMessage(data) })
    if (type === 'message') {
      this.take(data, stream)
      return
    }
    this.trace.add({ from: 'peer', stream, text: `event: ${type}, data: ${data}` })
    // Only the origin of the stream may get messages, which may have credentials.
    const url = type === 'endpoint' ? parsedUrl(data, this.#options.url) : undefined
    if (url?.origin === this.#options.url.origin) this.endpoint ??= url
  }

  async send(text: string, { headers = {} }: SendOptions = {}): Promise<HttpReply> {
    this.give(text)
    return this.#post(text, headers)
  }

  async sendBytes(bytes: Uint8Array): Promise<HttpReply> {
    return this.#post(bytes, {})
  }

  async #post(
    body: string | Uint8Array,
    headers: Readonly<{ [name: string]: string | undefined }>,
  ): Promise<HttpReply> {
    if (this.endpoint === undefined) throw new Error('the server has named no place for messages')
    const own = Object.entries(this.#options.headers)
    const given = Object.entries({
      'content-type': 'application/json',
      // In small letters, so that a check can replace or remove them.
      ...Object.fromEntries(own.map(([name, value]) => [name.toLowerCase(), value])),
      ...headers,
    }).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const reply = await httpCall(
      this.endpoint,
      { method: 'POST', headers: Object.fromEntries(given), body, ms: this.#options.ms },
      this.trace,
    )
    this.count(reply.body.length)
    return reply
  }

  async close(): Promise<void> {
    this.#stream?.close()
    this.end('closed by the validator')
  }
}

/** Whether a text is a message, whatever the type of its event is. */
function isMessage(data: string): boolean {
  return messagesIn(parsed(data)).some((message) => Object.hasOwn(message, 'jsonrpc'))
}

function parsedUrl(text: string, base: URL): URL | undefined {
  return isUrl(text, base.href) ? parseUrl(text, base) : undefined
}
