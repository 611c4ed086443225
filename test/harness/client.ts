import { idText, type JsonObject, type RequestId } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { methodRow } from '../../src/protocol/methods.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { openConnection, type AnyApp, type Connection, type Transport } from './connection.ts'
import type { Entry } from './transcript.ts'
import { WireError } from './wire-error.ts'

/** Answers a request from the server; a thrown WireError is sent unchanged. */
export type Answer = (params: JsonObject) => JsonObject | Promise<JsonObject>

export interface OpenOptions {
  readonly transport: Transport
  readonly revision: Revision
  readonly capabilities?: JsonObject
  readonly clientInfo?: JsonObject
  readonly answers?: Readonly<Record<string, Answer>>
  /** False leaves the handshake to the test. */
  readonly handshake?: boolean
}

export interface RequestOptions {
  readonly id?: RequestId
  readonly meta?: JsonObject
  readonly signal?: AbortSignal
  /** False returns a result that asks for input instead of answering it. */
  readonly rounds?: boolean
  /** Capabilities to declare instead of the client's, at revisions where each request declares them. */
  readonly capabilities?: JsonObject
}

/** A notification from the server. */
export interface Notice {
  readonly method: string
  readonly params: JsonObject
  /** The id of the request whose stream delivered it, on transports with one stream per request. */
  readonly carrier: string | undefined
}

const MAX_ROUNDS = 10
export const CLIENT_INFO: JsonObject = { name: 'scenario', version: '1.2.3' }

/** Connects a client and does the handshake, if the revision has one. */
export async function open(app: AnyApp, options: OpenOptions): Promise<Client> {
  const client = new Client(options)
  await client.connect(app)
  if (options.handshake !== false) await client.handshake()
  return client
}

interface Waiting {
  resolve(message: JsonObject): void
  reject(error: Error): void
}

/** A minimal client that sees everything a server does, at every revision. */
export class Client {
  readonly revision: Revision
  readonly capabilities: JsonObject
  readonly clientInfo: JsonObject
  /** The result of `initialize`. */
  opening: JsonObject = {}
  /** Every notification, in the order of arrival. */
  readonly notices: Notice[] = []
  /** Every request from the server, in the order of arrival. */
  readonly questions: { readonly method: string; readonly params: JsonObject }[] = []
  /** Every text sent or received. */
  readonly transcript: Entry[] = []
  /** The number of rounds of the last request. */
  rounds = 0
  readonly #transport: Transport
  readonly #answers: Map<string, Answer>
  readonly #waiting = new Map<string, Waiting>()
  readonly #listeners = new Set<() => void>()
  #raw: Waiting[] = []
  #answersRaw = false
  #connection: Connection | undefined
  #next = 1

  constructor(options: OpenOptions) {
    this.revision = options.revision
    this.#transport = options.transport
    this.capabilities = options.capabilities ?? {}
    this.clientInfo = options.clientInfo ?? CLIENT_INFO
    this.#answers = new Map(Object.entries(options.answers ?? {}))
  }

  /** Whether the revision has a handshake and sessions. */
  get hasSession(): boolean {
    return this.revision !== '2026-07-28'
  }

  async connect(app: AnyApp): Promise<void> {
    const receive = (text: string, carrier: string | undefined): void => this.#receive(text, carrier)
    this.#connection = await openConnection(app, this.#transport, { revision: this.revision, receive })
  }

  async handshake(): Promise<void> {
    if (!this.hasSession) return
    const { revision: protocolVersion, capabilities, clientInfo } = this
    this.opening = await this.request('initialize', { protocolVersion, capabilities, clientInfo })
    await this.notify('notifications/initialized')
  }

  /** Sends a request and returns its result; an error reply is thrown as a WireError. */
  async request(method: string, params?: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    let result = await this.#once(method, params, options)
    for (
      this.rounds = 1;
      result['resultType'] === 'input_required' && options.rounds !== false;
      this.rounds++
    ) {
      if (this.rounds >= MAX_ROUNDS) throw new Error(`${method} still asks after ${MAX_ROUNDS} rounds`)
      const inputResponses = await this.#fulfil(
        result['inputRequests'] as Readonly<Record<string, JsonObject>>,
      )
      const { requestState } = result
      const state = requestState === undefined ? {} : { requestState }
      result = await this.#once(
        method,
        { ...params, inputResponses, ...state },
        { ...options, id: this.nextId() },
      )
    }
    return result
  }

  /** The result without members that only some revisions add, for comparison across revisions. */
  async get(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const { resultType: _type, _meta, ...rest } = await this.request(method, params, options)
    const { [META.serverInfo]: _server, ...meta } = (_meta ?? {}) as JsonObject
    const { ttlMs: _ttl, cacheScope: _scope, ...plain } = rest
    const result = methodRow(method)?.cached === true ? plain : rest
    return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
  }

  /** Calls a tool. */
  call(name: string, args?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return this.get('tools/call', args === undefined ? { name } : { name, arguments: args }, options)
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#send(
      JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }),
      false,
    )
  }

  /** Sends a raw text and returns the next reply that belongs to no other request. */
  async post(text: string): Promise<unknown> {
    const replied = new Promise<unknown>((resolve, reject) => this.#raw.push({ resolve, reject }))
    await this.#send(text, true)
    return replied
  }

  /** Sends a raw text without expecting a reply. */
  async put(text: string): Promise<void> {
    await this.#send(text, true)
  }

  /** Sets the answer to a request from the server; a raw answer may break the schema. */
  answer(method: string, answer: Answer, form: 'checked' | 'raw' = 'checked'): void {
    this.#answers.set(method, answer)
    this.#answersRaw = form === 'raw'
  }

  /** Subscribes to changes: by a listen request at 2026-07-28, otherwise in the session. Resolves when the server has confirmed. */
  async follow(wanted: {
    readonly lists?: readonly string[]
    readonly uris?: readonly string[]
  }): Promise<() => void> {
    const { lists = [], uris = [] } = wanted
    await this.#connection?.watch()
    if (this.hasSession) {
      for (const uri of uris) await this.request('resources/subscribe', { uri })
      return () => undefined
    }
    const stop = new AbortController()
    const id = this.nextId()
    const notifications = {
      ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
      ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
    }
    this.request('subscriptions/listen', { notifications }, { id, signal: stop.signal }).catch(
      () => undefined,
    )
    await this.until(() => this.acknowledged(id) !== undefined)
    return () => stop.abort()
  }

  /** The part of a listen request that the server accepted. */
  acknowledged(id: RequestId): JsonObject | undefined {
    return this.heard('notifications/subscriptions/acknowledged').find(
      ({ _meta }) => (_meta as JsonObject)[META.subscriptionId] === id,
    )
  }

  /** The params of the notifications of a method so far. */
  heard(method: string): readonly JsonObject[] {
    return this.notices.filter((notice) => notice.method === method).map((notice) => notice.params)
  }

  /** Waits until `count` notifications of a method have arrived. */
  async hear(method: string, count = 1): Promise<readonly JsonObject[]> {
    await this.until(() => this.heard(method).length >= count)
    return this.heard(method)
  }

  /** Waits until a condition is true, checking whenever a text arrives. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return
        this.#listeners.delete(check)
        resolve()
      }
      this.#listeners.add(check)
      check()
    })
  }

  /** Waits until the server has read everything sent so far, with a request that every server answers. */
  async settle(): Promise<void> {
    await this.request(this.hasSession ? 'ping' : 'server/discover')
  }

  async close(): Promise<void> {
    await this.#connection?.close()
  }

  nextId(): number {
    return this.#next++
  }

  /** The text of a request, with the metadata that the revision requires. */
  requestText(id: RequestId, method: string, params?: JsonObject, options: RequestOptions = {}): string {
    const whole = this.#enveloped(params, options)
    const rest = JSON.stringify({ method, ...(whole === undefined ? {} : { params: whole }) })
    return `{"jsonrpc":"2.0","id":${idText(id)},${rest.slice(1)}`
  }

  async #once(method: string, params: JsonObject | undefined, options: RequestOptions): Promise<JsonObject> {
    const id = options.id ?? this.nextId()
    const key = idText(id)
    const { signal } = options
    const replied = new Promise<JsonObject>((resolve, reject) => {
      this.#waiting.set(key, { resolve, reject })
      signal?.addEventListener('abort', () => {
        this.#waiting.delete(key)
        reject(signal.reason as Error)
        if (this.#connection?.abandon(key) === false)
          void this.notify('notifications/cancelled', { requestId: id })
      })
    })
    replied.catch(() => undefined)
    try {
      await this.#send(this.requestText(id, method, params, options), false)
    } catch (error) {
      if (signal?.aborted !== true) throw error
    }
    return replied
  }

  #enveloped(params: JsonObject | undefined, { meta, capabilities }: RequestOptions): JsonObject | undefined {
    if (this.hasSession && meta === undefined) return params
    const envelope = {
      [META.protocolVersion]: this.revision,
      [META.clientCapabilities]: capabilities ?? this.capabilities,
      [META.clientInfo]: this.clientInfo,
    }
    return { ...params, _meta: { ...(this.hasSession ? {} : envelope), ...meta } }
  }

  async #fulfil(asked: Readonly<Record<string, JsonObject>>): Promise<JsonObject> {
    const answered = Object.entries(asked).map(async ([key, question]) => {
      const { method, params } = question as { method: string; params?: JsonObject }
      return [key, await this.#answer(method, params ?? {})] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }

  #answer(method: string, params: JsonObject): JsonObject | Promise<JsonObject> {
    this.questions.push({ method, params })
    const answer = this.#answers.get(method)
    if (answer === undefined)
      throw new WireError({ code: -32601, message: `there is no answer to ${method}` })
    return answer(params)
  }

  async #send(text: string, raw: boolean): Promise<void> {
    this.transcript.push({ from: 'client', text, raw })
    await this.#connection?.send(text)
  }

  #receive(text: string, carrier: string | undefined): void {
    this.transcript.push({ from: 'server', text, raw: false })
    const message = JSON.parse(text) as JsonObject | readonly JsonObject[]
    if (Array.isArray(message)) this.#raw.shift()?.resolve(message as unknown as JsonObject)
    else this.#take(message as JsonObject, text, carrier)
    for (const listener of this.#listeners) listener()
  }

  #take(message: JsonObject, text: string, carrier: string | undefined): void {
    const { method } = message
    if (typeof method === 'string') {
      const params = (message['params'] ?? {}) as JsonObject
      if (message['id'] === undefined) this.notices.push({ method, params, carrier })
      else void this.#reply(message['id'] as number, method, params)
      return
    }
    const key = /^\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*")/.exec(text)?.[1]
    const waiting = key === undefined ? undefined : this.#waiting.get(key)
    if (key === undefined || waiting === undefined) return this.#raw.shift()?.resolve(message)
    this.#waiting.delete(key)
    if ('error' in message) waiting.reject(new WireError(message['error'] as WireError))
    else waiting.resolve(message['result'] as JsonObject)
  }

  async #reply(id: number, method: string, params: JsonObject): Promise<void> {
    try {
      const result = await this.#answer(method, params)
      await this.#send(JSON.stringify({ jsonrpc: '2.0', id, result }), this.#answersRaw)
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown
      const { code, message, data } = thrown
      await this.#send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }), false)
    }
  }
}
