import type { Running } from '../../src/app/listen/listen.ts'
import type { ListenOptions } from '../../src/app/options.ts'
import { idText, type JsonObject, type RequestId } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { encodeHeaderValue } from '../../src/wire/header-value.ts'
import { createEventReader } from '../../src/wire/sse-reader.ts'
import type { AnyApp, Connection, ConnectionOptions, Receive } from './connection.ts'
import { testSocket, testTls } from './sockets.ts'

const MAX_EVENT = 64 * 1024 * 1024
const NAMES: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** A group of transports with a common listener. */
export type Listening = 'web' | 'sockets' | 'tls'

const listeners = new Map<AnyApp, Map<Listening, Promise<Running>>>()
const closing: Promise<void>[] = []

/** The listener of a server, shared by all clients. */
export function listenerOf(app: AnyApp, group: Listening = 'web'): Promise<Running> {
  const own = listeners.get(app) ?? new Map<Listening, Promise<Running>>()
  listeners.set(app, own)
  let running = own.get(group)
  if (running === undefined) own.set(group, (running = app.listen(optionsOf(group))))
  return running
}

function optionsOf(group: Listening): ListenOptions {
  if (group === 'web') return { http: { port: 0, sse: true }, ws: true }
  return group === 'tls' ? { tcp: { port: 0, tls: testTls() } } : { tcp: { port: 0 }, unix: testSocket() }
}

/** Starts to close the listeners of a server. */
export function closeListener(app: AnyApp): void {
  const own = listeners.get(app) ?? new Map<Listening, Promise<Running>>()
  listeners.delete(app)
  for (const running of own.values()) closing.push(running.then((server) => server.close()))
}

/** Closes every listener. */
export async function closeListeners(): Promise<void> {
  for (const app of listeners.keys()) closeListener(app)
  await Promise.all(closing)
}

/** A client over HTTP: one POST per text; answers arrive as bodies or event streams. */
export async function openHttp(app: AnyApp, options: ConnectionOptions): Promise<Connection> {
  const { url } = await listenerOf(app)
  return new HttpConnection(url as string, options)
}

/** The parts of a message that the headers repeat. */
interface Outgoing {
  readonly id?: RequestId
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

class HttpConnection implements Connection {
  readonly #url: string
  readonly #revision: ConnectionOptions['revision']
  readonly #receive: Receive
  readonly #open = new Map<string, AbortController>()
  readonly #all = new AbortController()
  #session: string | undefined
  #agreed: string | undefined
  #watching = false

  constructor(url: string, { revision, receive }: ConnectionOptions) {
    this.#url = url
    this.#revision = revision
    this.#receive = receive
  }

  async send(text: string): Promise<void> {
    const message = read(text)
    const carrier =
      message?.id === undefined || message.method === undefined ? undefined : exactId(text, message.id)
    const abort = new AbortController()
    if (carrier !== undefined) this.#open.set(carrier, abort)
    const signal = AbortSignal.any([abort.signal, this.#all.signal])
    const post = { method: 'POST', headers: this.#headers(message), body: text, signal }
    // The server may just have closed a connection that was opened ahead of time and never used.
    const response = await fetch(this.#url, post).catch((error: unknown) => {
      if (signal.aborted || !isClosedUnused(error)) throw error
      return fetch(this.#url, post)
    })
    const session = response.headers.get('mcp-session-id')
    if (session !== null) [this.#session, this.#agreed] = [session, this.#revision]
    this.#takeAll(response, carrier, signal)
  }

  async watch(): Promise<void> {
    if (this.#watching || this.#revision === '2026-07-28') return
    this.#watching = true
    const headers = { ...this.#headers(undefined), accept: 'text/event-stream' }
    const response = await fetch(this.#url, { headers, signal: this.#all.signal })
    if (response.status !== 200) throw new Error(`GET was answered with ${response.status}`)
    this.#takeAll(response, undefined, this.#all.signal)
  }

  abandon(id: string): boolean {
    if (this.#revision !== '2026-07-28') return false
    this.#open.get(id)?.abort()
    return true
  }

  async close(): Promise<void> {
    if (this.#session !== undefined)
      await fetch(this.#url, { method: 'DELETE', headers: this.#headers(undefined) })
    this.#all.abort()
  }

  #headers(message: Outgoing | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    if (this.#session !== undefined) headers['mcp-session-id'] = this.#session
    if (this.#revision === '2026-07-28') return { ...headers, ...standardHeaders(message) }
    if (this.#agreed !== undefined && this.#revision >= '2025-06-18')
      headers['mcp-protocol-version'] = this.#agreed
    return headers
  }

  /** A body that breaks off fails the run instead of letting the test wait for it. */
  #takeAll(response: Response, carrier: string | undefined, signal: AbortSignal): void {
    this.#take(response, carrier).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  async #take(response: Response, carrier: string | undefined): Promise<void> {
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream')) {
      const body = await response.text()
      if (body !== '') this.#receive(body, carrier)
      return
    }
    let retryMs = 0
    let resumable = false
    const reader = createEventReader({
      maxBytes: MAX_EVENT,
      onEvent: ({ data }) => (data === '' ? undefined : this.#receive(data, carrier)),
      onRetry: (ms) => {
        retryMs = ms
        resumable = true
      },
      onOversize: () => this.#all.abort(),
    })
    for await (const chunk of response.body ?? []) reader.push(chunk as Uint8Array)
    if (resumable && reader.lastEventId !== undefined)
      await this.#resume(reader.lastEventId, retryMs, carrier)
  }

  /** Resumes a stream that the server closed. */
  async #resume(lastEventId: string, retryMs: number, carrier: string | undefined): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    const headers = { ...this.#headers(undefined), accept: 'text/event-stream', 'last-event-id': lastEventId }
    await this.#take(await fetch(this.#url, { headers, signal: this.#all.signal }), carrier)
  }
}

function isClosedUnused(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: string }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET'
}

function read(text: string): Outgoing | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Outgoing)
      : undefined
  } catch {
    return undefined
  }
}

/** The id exactly as written, since parsing may lose digits of a number. */
function exactId(text: string, id: RequestId): string {
  return /"id":(-?\d+)/.exec(text)?.[1] ?? idText(id)
}

function standardHeaders(message: Outgoing | undefined): Record<string, string> {
  const claimed = (message?.params?.['_meta'] as JsonObject | undefined)?.[META.protocolVersion]
  const version = typeof claimed === 'string' ? claimed : '2026-07-28'
  const headers: Record<string, string> = { 'mcp-protocol-version': version }
  if (typeof message?.method !== 'string') return headers
  headers['mcp-method'] = message.method
  const named = NAMES.get(message.method)
  const name = named === undefined ? undefined : message.params?.[named]
  if (typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name)
  return headers
}
