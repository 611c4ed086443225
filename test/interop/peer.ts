import type { StreamableHTTPReconnectionOptions } from '@modelcontextprotocol/client'
import type { Revision } from 'pierhead'

export type Json = Readonly<Record<string, unknown>>
export type ListKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

/** How a client reaches the server: which official client, on what, speaking which revision. */
export interface Way {
  readonly client: 'v1' | 'v2'
  readonly revision: Revision
  /** The URL of the server; without one the client starts it as a child. */
  readonly url?: string
  /** Goes between the client and the network. */
  readonly fetch?: typeof fetch
  readonly reconnectMs?: number
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly meta?: Json
  onprogress?(progress: Json): void
}

export interface Page {
  readonly items: readonly Json[]
  readonly nextCursor: string | undefined
}

/** What the user and the model of a client say when they are asked; each check sets what it needs. */
export interface Answers {
  elicit(params: Json): Json
  sample(params: Json): Json
}

/** An official client that is connected, in the words of the checks. */
export interface Peer {
  readonly revision: string | undefined
  readonly server: { readonly info: unknown; readonly capabilities: unknown; readonly instructions: unknown }
  readonly wire: Wire
  readonly heard: Heard
  readonly answers: Answers
  /** What the client complained about. */
  readonly errors: Error[]
  page(kind: ListKind, cursor?: string): Promise<Page>
  /** Every page, in the way that the client itself walks them. */
  all(kind: ListKind): Promise<readonly Json[]>
  call(name: string, args?: Json, options?: CallOptions): Promise<Json>
  read(uri: string): Promise<Json>
  prompt(name: string, args?: Readonly<Record<string, string>>): Promise<Json>
  complete(params: { ref: Json; argument: { name: string; value: string }; context?: Json }): Promise<Json>
  request(method: string, params?: Json): Promise<Json>
  /** Hears of changes of one resource and of all lists, until the function it gives is called. */
  watch(uri: string): Promise<() => Promise<void>>
  sessionId(): string | undefined
  /** Ends the session where there is one, and the connection. */
  close(): Promise<void>
}

/** A message as it travelled. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: Json
}

interface Transport {
  send(message: never, options?: never): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
}

/** Everything that a transport sent and received. */
export class Wire {
  readonly sent: Message[] = []
  readonly received: Message[] = []

  /** Listens in on what goes out; `change` may rewrite a message on its way. */
  tapSend(transport: Transport, change: (message: Message) => Message = (message) => message): void {
    const send = transport.send.bind(transport) as (message: Message, options?: unknown) => Promise<void>
    transport.send = async (message: Message, options?: unknown): Promise<void> => {
      this.sent.push(message)
      return send(change(message), options)
    }
  }

  /** Listens in on what comes in, whoever takes it. */
  tapReceive(transport: Transport): void {
    let receive: ((message: Message, extra?: unknown) => void) | undefined
    const tapped = (message: Message, extra?: unknown): void => {
      this.received.push(message)
      receive?.(message, extra)
    }
    Object.defineProperty(transport, 'onmessage', {
      get: () => (receive === undefined ? undefined : tapped),
      set: (taker: typeof receive) => {
        receive = taker
      },
    })
  }

  /** The answer to the latest request of a method. */
  answer(method: string): Message | undefined {
    const { id } = this.request(method)
    return this.received.find((one) => one.id === id && one.method === undefined)
  }

  /** The latest request of a method. */
  request(method: string): Message {
    const message = this.sent.findLast((one) => one.method === method && one.id !== undefined)
    if (message === undefined) throw new Error(`no ${method} was sent`)
    return message
  }
}

/** Notifications that reached the client, to be waited for one by one. */
export class Heard {
  readonly #kept: Message[] = []
  #arrived: () => void = () => undefined

  push(message: Message): void {
    this.#kept.push(message)
    this.#arrived()
  }

  /** Takes the earliest notification of a method, waiting for it if need be. */
  async next(method: string): Promise<Json> {
    for (;;) {
      const index = this.#kept.findIndex((one) => one.method === method)
      if (index >= 0) return this.#kept.splice(index, 1)[0]?.params ?? {}
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }

  /** Takes all notifications of a method that have arrived. */
  take(method: string): Json[] {
    const taken = this.#kept.filter((one) => one.method === method)
    this.#kept.splice(0, this.#kept.length, ...this.#kept.filter((one) => one.method !== method))
    return taken.map(({ params }) => params ?? {})
  }
}

/** Who the clients say they are, and what they can do. */
export const ABOUT = { name: 'official', version: '9.9.9', title: 'Official client' } as const
export const ROOTS: readonly { uri: string; name: string }[] = [
  { uri: 'file:///home/me/project', name: 'Project' },
  { uri: 'file:///tmp/b%20c', name: 'Other' },
]
export const SERVER_COMMAND: { command: string; args: string[]; stderr: 'inherit' } = {
  command: process.execPath,
  args: ['--import', 'tsx', '--conditions=pierhead-source', new URL('./server.ts', import.meta.url).pathname],
  stderr: 'inherit',
}

/** How long an HTTP client waits before it comes back, unless the server tells it. */
export function reconnection({ reconnectMs = 10 }: Way): StreamableHTTPReconnectionOptions {
  return {
    initialReconnectionDelay: reconnectMs,
    maxReconnectionDelay: reconnectMs,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 2,
  }
}

/** Answers that refuse, for checks in which nobody is asked. */
export function refusingAnswers(): Answers {
  const refuse = (): never => {
    throw new Error('nobody expected this question')
  }
  return { elicit: refuse, sample: refuse }
}
