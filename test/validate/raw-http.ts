import { request } from 'node:http'
import { encodedHeader } from '../../src/validate/header-value.ts'
import { SseParser, type SseEvent } from '../../src/validate/events.ts'
import { isRequest, member, parsed, type Message } from '../../src/validate/message.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { RawLogin } from './raw-login.ts'
import { isQuirk, textsOf, type LinkOptions, type RawLink } from './raw-links.ts'

/** A reply that the client must react to. */
export class HttpRefusal extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: string) {
    super(`HTTP ${status}`)
    this.status = status
    this.body = parsed(body)
  }
}

/** A stream that ended before the response. */
export class LostStream extends Error {}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
}

/** Streamable HTTP of the raw client. */
export class RawHttp implements RawLink {
  readonly #options: LinkOptions
  readonly #revision: Revision
  readonly #stop = new AbortController()
  readonly #login: RawLogin
  session: string | undefined
  /** Whether the handshake is over, so that the version is a header. */
  isGreeted = false
  /** The headers for the arguments of a call. */
  paramHeaders: (message: Message) => Readonly<Record<string, string>> = () => ({})

  constructor(options: LinkOptions, revision: Revision) {
    this.#options = options
    this.#revision = revision
    this.#login = new RawLogin(String(options.address.url), revision, options.fault)
  }

  get #isModern(): boolean {
    return this.#revision === '2026-07-28'
  }

  async send(message: Message | readonly Message[]): Promise<void> {
    for (const text of textsOf(message, this.#options.fault)) await this.#post(text)
  }

  #headers(method: string, message: Message | undefined): Readonly<Record<string, string>> {
    const name = NAMED[String(message?.['method'])]
    const value = name === undefined ? undefined : member(message, 'params', name)
    const headers: Record<string, string> = {
      ...(method === 'POST' && {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      }),
      ...(method === 'GET' && { accept: 'text/event-stream' }),
      ...(this.session !== undefined && { 'mcp-session-id': this.session }),
      ...(this.#login.token !== undefined && { authorization: `Bearer ${this.#login.token}` }),
      ...(this.isGreeted && this.#revision >= '2025-06-18' && { 'mcp-protocol-version': this.#revision }),
      ...(this.#isModern && {
        'mcp-protocol-version': this.#revision,
        'mcp-method': String(message?.['method']),
        ...(typeof value === 'string' && { 'mcp-name': encodedHeader(value) }),
        ...(message !== undefined && this.paramHeaders(message)),
      }),
    }
    return this.#options.fault?.headers?.(headers, method, message) ?? headers
  }

  async #post(text: string): Promise<void> {
    const message = parsed(text) as Message | undefined
    const { address, fault, onText } = this.#options
    const reply = await this.#sent(text, message)
    if (isQuirk(fault, 'knows header names in small letters only'))
      await refuseCapitals(String(address.url), text)
    const session = reply.headers.get('mcp-session-id')
    if (session !== null) this.session = session
    if (reply.status >= 400) throw new HttpRefusal(reply.status, await reply.text())
    if (reply.status === 202) return reply.body?.cancel()
    if (!(reply.headers.get('content-type') ?? '').includes('text/event-stream')) {
      const body = await reply.text()
      if (!isQuirk(fault, 'reads only streams')) onText(body)
      return
    }
    const answered = await this.#read(reply, message?.['id'])
    if (!answered.isDone && message !== undefined && isRequest(message)) await this.#lost(answered)
  }

  /** Sends a message, and again after each login that the server asks for. */
  async #sent(body: string, message: Message | undefined): Promise<Response> {
    for (;;) {
      const { token } = this.#login
      const inUrl = token !== undefined && this.#login.has('has the token in the URL')
      const reply = await fetch(
        `${String(this.#options.address.url)}${inUrl ? `?access_token=${token}` : ''}`,
        {
          method: 'POST',
          headers: this.#headers('POST', message),
          body,
          redirect: this.#login.has('follows redirects with the token') ? 'manual' : 'follow',
          signal: this.#stop.signal,
        },
      )
      const place = reply.headers.get('location')
      if (reply.status === 307 && place !== null && this.#login.has('follows redirects with the token'))
        return fetch(place, { method: 'POST', headers: this.#headers('POST', message), body })
      if (this.#login.has('never logs in') || !(await this.#login.after(reply))) return reply
      await reply.body?.cancel()
    }
  }

  /** Reads a stream of events until it ends. */
  async #read(
    reply: Response,
    id: unknown,
  ): Promise<{ isDone: boolean; last: string | undefined; retry: number }> {
    const { fault, onText } = this.#options
    const state: { isDone: boolean; last: string | undefined; retry: number } = {
      isDone: false,
      last: undefined,
      retry: 0,
    }
    const parser = new SseParser((event: SseEvent) => {
      state.last = event.id ?? state.last
      if (event.retry !== undefined) state.retry = Number(event.retry)
      if (event.data === '' || isQuirk(fault, 'reads only JSON')) return
      const message = parsed(event.data) as Message | undefined
      if (message?.['method'] === undefined && (Array.isArray(message) || message?.['id'] === id))
        state.isDone = true
      onText(event.data)
    })
    const decoder = new TextDecoder()
    for await (const chunk of reply.body ?? []) {
      const text = decoder.decode(chunk as Uint8Array, { stream: true })
      if (/^:/m.test(text) && isQuirk(fault, 'breaks on comments')) throw new Error('a comment')
      parser.push(text)
    }
    return state
  }

  /** Opens a stream for messages of the server, and opens it again when it ends. */
  async listen(last?: string): Promise<void> {
    const { address, fault } = this.#options
    const reply = await fetch(String(address.url), {
      headers: { ...this.#headers('GET', undefined), ...(last !== undefined && { 'last-event-id': last }) },
      signal: this.#stop.signal,
    })
    if (reply.status !== 200) return reply.body?.cancel()
    const state = await this.#read(reply, undefined)
    if (state.last === undefined || isQuirk(fault, 'never listens again')) return
    if (!isQuirk(fault, 'listens again at once'))
      await new Promise((resolve) => setTimeout(resolve, state.retry))
    await this.listen(state.last)
  }

  /** Asks for the rest of a stream, where the revision allows it. */
  async #lost({ last, retry }: { last: string | undefined; retry: number }): Promise<void> {
    const { address, fault } = this.#options
    const mayResume = this.#isModern
      ? isQuirk(fault, 'resumes lost requests')
      : !isQuirk(fault, 'never resumes')
    if (last === undefined || !mayResume) throw new LostStream('the stream ended before the response')
    if (!isQuirk(fault, 'resumes at once')) await new Promise((resolve) => setTimeout(resolve, retry))
    const reply = await fetch(String(address.url), {
      headers: { ...this.#headers('GET', undefined), 'last-event-id': last },
      signal: this.#stop.signal,
    })
    if (reply.status !== 200) throw new LostStream('the stream cannot be resumed')
    await this.#read(reply, undefined)
  }

  async close(): Promise<void> {
    if (this.session !== undefined && !this.#isModern && !isQuirk(this.#options.fault, 'never deletes'))
      await fetch(String(this.#options.address.url), {
        method: 'DELETE',
        headers: this.#headers('DELETE', undefined),
      }).then((reply) => reply.body?.cancel())
    this.#stop.abort()
  }
}

/** Sends a message once more, and fails if the reply has no `content-type` in small letters. */
async function refuseCapitals(url: string, body: string): Promise<void> {
  const names = await new Promise<readonly string[]>((resolve, reject) => {
    const call = request(url, { method: 'POST', agent: false }, (reply) => {
      reply.resume()
      resolve(reply.rawHeaders)
    })
    call.on('error', reject)
    call.end(body)
  })
  if (!names.includes('content-type')) throw new Error('there is no content-type')
}

/** HTTP+SSE of the raw client. */
export async function openOlder(options: LinkOptions): Promise<RawLink> {
  const { address, fault, onText, onClose } = options
  const stop = new AbortController()
  const stream = await fetch(String(address.url), {
    headers: { accept: 'text/event-stream' },
    signal: stop.signal,
  })
  let found: (url: URL) => void = () => undefined
  const endpoint = new Promise<URL>((resolve) => (found = resolve))
  const parser = new SseParser(({ type, data }) => {
    if (type === 'endpoint') found(new URL(data, String(address.url)))
    else onText(data)
  })
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of stream.body ?? [])
      parser.push(decoder.decode(chunk as Uint8Array, { stream: true }))
  })()
    .catch(() => undefined)
    .finally(onClose)
  const named = await endpoint
  const url = isQuirk(fault, 'ignores the endpoint') ? new URL(String(address.url)) : named
  return {
    async send(message) {
      for (const body of textsOf(message, fault)) {
        const headers = { 'content-type': 'application/json' }
        await fetch(url, { method: 'POST', headers, body }).then((reply) => reply.body?.cancel())
      }
    },
    async close() {
      stop.abort()
    },
  }
}
