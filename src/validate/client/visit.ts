import { Deferred } from '../../base/deferred.ts'
import type { Revision } from '../../protocol/revisions.ts'
import { bytesOf, entryBytes, headerBytes, type Memory } from '../memory.ts'
import { isRequest, isResponse, member, messagesIn, parsed, type Message } from '../message.ts'
import type { Transport } from '../rule.ts'
import { PROTOCOL_VERSION } from '../session.ts'
import { Trace, type Entry } from '../trace.ts'

/** An HTTP request of the client. */
export interface HttpSeen {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<{ [name: string]: string }>
}

/** Something that the client sent: a line, a frame or an HTTP request. */
export interface Seen {
  /** Its place in the trace. */
  readonly at: number
  /** When it came, in milliseconds since the visit began. */
  readonly ms: number
  readonly text: string
  /** The parsed text; undefined if it is not JSON. */
  readonly value: unknown
  /** The messages in it: none if it is not one, several in a batch. */
  readonly messages: readonly Message[]
  /** The connection or HTTP request that it came on. */
  readonly stream: string
  readonly http?: HttpSeen | undefined
}

/** A message of the client, and how it came. */
export interface Heard {
  readonly message: Message
  readonly seen: Seen
}

/** A request of our server, and the responses of the client. */
export interface Asked {
  readonly id: string | number
  readonly method: string
  readonly params?: Message | undefined
  readonly at: number
  readonly answers: readonly Heard[]
}

/** A result of 2026-07-28 with questions: the client answers them when it repeats the request. */
export interface Round {
  /** The request that got it. */
  readonly request: Message
  readonly questions: Readonly<{ [key: string]: Message }>
  readonly state: string | undefined
  readonly at: number
}

/** When our server sent a response: its place in the trace, and the time. */
interface SentReply {
  readonly at: number
  readonly ms: number
}

/** What happened besides messages. `end` is the end of the input of a program. */
export type Happening = 'open' | 'end' | 'SIGTERM' | 'SIGINT' | 'closed'

const GREETINGS: ReadonlySet<unknown> = new Set(['initialize', 'server/discover', 'ping'])

/** The most that a client may send in one visit. */
const MOST_BYTES = 16_000_000
const MOST_MESSAGES = 1_000
/** The most bytes that a visit keeps: a value can take many times the memory of its text. */
const MOST_KEPT = 32_000_000
/** How many times more memory than its text a scenario may need for a form or a JSON text that it reads. */
const READ_FACTOR = 20

export interface VisitOptions {
  readonly scenario: string
  readonly revision: Revision
  readonly transport: Transport
  /** How long to wait for the answer to a request of our server. */
  readonly askMs: number
  /** Counts what all visits keep. Default: counts this one alone. */
  readonly memory?: Memory | undefined
}

/** One run of the client against one scenario: everything that it sent, and what our server sent. */
export class Visit {
  readonly scenario: string
  readonly revision: Revision
  readonly transport: Transport
  readonly trace: Trace
  readonly seen: Seen[] = []
  readonly asked: Asked[] = []
  readonly rounds: Round[] = []
  /** The address of our server, over HTTP. */
  url = ''
  /** A web site beside our server, if the scenario has one, and the requests that it got. */
  site = ''
  readonly fetched: { readonly path: string; readonly http: HttpSeen; readonly at: number }[] = []
  /** The last `initialize` of the client. */
  greeting: Heard | undefined
  readonly happened: { readonly what: Happening; readonly stream: string; readonly at: number }[] = []
  /** What the scenario notes for its rules, such as the time at which it closed a stream. */
  readonly notes: Map<string, unknown> = new Map()
  /** Text after the last line, if a connection ended within one. */
  rest = ''
  /** Whether the client ended by itself; otherwise the validator ended it. */
  hasLeft = false
  /** How the client ended, for people. */
  ending = ''
  /** How many connections are open. */
  openCount = 0
  /** When the client or our server last sent something. */
  lastMs = 0
  readonly #askMs: number
  readonly #began = performance.now()
  readonly #waiting = new Map<string | number, Deferred<Message>>()
  readonly #full = new Deferred<void>()
  /** The responses that our server sent, by their ids and in their order. */
  readonly #replies = new Map<unknown, SentReply[]>()
  readonly #askedById = new Map<unknown, Asked>()
  #bytes = 0
  #kept = 0
  #messages = 0
  #isFull = false
  #lacksRoom = false

  constructor({ scenario, revision, transport, askMs, memory }: VisitOptions) {
    this.trace = new Trace(memory)
    this.scenario = scenario
    this.revision = revision
    this.transport = transport
    this.#askMs = askMs
  }

  get isModern(): boolean {
    return this.revision === '2026-07-28'
  }

  /** Milliseconds since the visit began. */
  get ms(): number {
    return performance.now() - this.#began
  }

  /** Settles when the client has sent too much. */
  get full(): Promise<void> {
    return this.#full.promise
  }

  /** Whether it ended because all visits together keep too much, so that it shows nothing about the client. */
  get lacksRoom(): boolean {
    return this.#lacksRoom
  }

  /** Counts bytes that came from the client, before they are kept. Returns whether they are to be read. */
  receive(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes > MOST_BYTES) this.#fill()
    return !this.#isFull
  }

  /** Counts bytes that are kept until all rules are checked. Returns whether there is room for them. */
  #keep(bytes: number): boolean {
    if (this.#isFull) return false
    this.#kept += bytes
    if (this.#kept > MOST_KEPT) this.#fill()
    else if (!this.trace.memory.hold(bytes)) {
      this.#lacksRoom = true
      this.#fill()
    }
    return !this.#isFull
  }

  #fill(): void {
    this.#isFull = true
    this.#full.resolve()
  }

  /** Notes what the client sent. Returns undefined if it is too much. */
  take(text: string, stream: string, http?: HttpSeen): Seen | undefined {
    if (this.#isFull) return undefined
    const value = text === '' ? undefined : parsed(text)
    this.#messages += Array.isArray(value) ? Math.max(1, value.length) : 1
    if (this.#messages > MOST_MESSAGES) this.#fill()
    const shown = http === undefined ? text : `${http.method} ${http.path}\n\n${text}`.trim()
    const read = http !== undefined && value === undefined ? text.length * READ_FACTOR : 0
    const bytes = bytesOf(text, value, MOST_KEPT + 1) + read + headerBytes(http?.headers ?? {})
    if (!this.#keep(bytes + entryBytes(shown, http?.headers))) return undefined
    this.lastMs = this.ms
    const at = this.trace.add({
      from: 'peer',
      stream,
      text: shown,
      ...(http !== undefined && { http: { headers: http.headers } }),
    })
    const messages = messagesIn(value)
    const seen: Seen = { at, ms: this.lastMs, text, value, messages, stream, ...(http && { http }) }
    this.seen.push(seen)
    for (const message of messages) {
      if (isResponse(message)) this.#answered(message, seen)
      if (isRequest(message) && message['method'] === 'initialize') this.greeting = { message, seen }
    }
    return seen
  }

  /** Notes a request to the site, and returns its place in the trace; undefined if it is too much. */
  fetch({ method, path, headers }: HttpSeen, text: string, stream: string): number | undefined {
    const shown = `${method} ${this.site}${path}\n\n${text}`.trim()
    const bytes = text.length * READ_FACTOR + headerBytes(headers)
    if (!this.#keep(bytes + entryBytes(shown, headers))) return undefined
    this.lastMs = this.ms
    return this.trace.add({ from: 'peer', stream, text: shown, http: { headers } })
  }

  /** Notes what our server sends, and returns its place in the trace. */
  give(text: string, stream: string, http?: Entry['http']): number {
    this.lastMs = this.ms
    this.#keep(entryBytes(text, http?.headers))
    return this.trace.add({ from: 'validator', stream, text, ...(http && { http }) })
  }

  /** Notes something that is not a message, on a connection. */
  note(what: Happening, stream: string): void {
    this.lastMs = this.ms
    if (what === 'open') this.openCount++
    if (what === 'closed') this.openCount--
    if (this.happened.length < 100)
      this.happened.push({
        what,
        stream,
        at: this.trace.add({ from: 'peer', stream, text: `(${what})` }),
      })
  }

  /** Notes a request of our server, and waits for its response. */
  async ask(id: string | number, method: string, params?: Message): Promise<Message | undefined> {
    const asked: Asked = { id, method, params, at: this.trace.mark, answers: [] }
    this.asked.push(asked)
    if (!this.#askedById.has(id)) this.#askedById.set(id, asked)
    const waiting = new Deferred<Message>()
    this.#waiting.set(id, waiting)
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<undefined>(
      (resolve) => (timer = setTimeout(() => resolve(undefined), this.#askMs)),
    )
    const answer = await Promise.race([waiting.promise, late])
    clearTimeout(timer)
    return answer
  }

  #answered(message: Message, seen: Seen): void {
    const { id } = message
    if (typeof id !== 'string' && typeof id !== 'number') return
    const asked = this.#askedById.get(id)
    ;(asked?.answers as Heard[] | undefined)?.push({ message, seen })
    this.#waiting.get(id)?.resolve(message)
  }

  /** Notes a response that our server sends now. */
  replied(id: unknown): void {
    const reply = { at: this.trace.mark, ms: this.ms }
    const others = this.#replies.get(id)
    if (others === undefined) this.#replies.set(id, [reply])
    else others.push(reply)
  }

  /** The first response with an id that our server sent after a place of the trace. */
  replyTo(id: unknown, from: number): SentReply | undefined {
    return this.#replies.get(id)?.find(({ at }) => at > from)
  }

  /** Every message of the client. */
  get heard(): readonly Heard[] {
    return this.seen.flatMap((seen) => seen.messages.map((message) => ({ message, seen })))
  }

  /** The requests of the client, or those for one method. */
  requests(method?: string): readonly Heard[] {
    return this.heard.filter(
      ({ message }) => isRequest(message) && (method === undefined || message['method'] === method),
    )
  }

  /** The requests that belong to the revision: a client may first try another one. */
  ownRequests(method?: string): readonly Heard[] {
    return this.requests(method).filter(({ message }) =>
      this.isModern ? message['method'] !== 'initialize' : !isProbe(message),
    )
  }

  /** How many requests the client sent after the first reply; 0 if it did not go on. */
  get steps(): number {
    const requests = this.ownRequests()
    const greetings = requests.filter(({ message }) => GREETINGS.has(message['method']))
    const later = requests.length - greetings.length
    // At 2026-07-28 any request can be the first one.
    return this.isModern && greetings.length === 0 ? Math.max(0, later - 1) : later
  }

  /** The places of the first request with a method that our server answered, and of its response; undefined if there is none. */
  exchange(method: string): { readonly from: number; readonly to: number } | undefined {
    for (const { message, seen } of this.ownRequests(method)) {
      const reply = this.replyTo(message['id'], seen.at)
      if (reply !== undefined) return { from: seen.at, to: reply.at }
    }
    return undefined
  }

  /** The HTTP requests with a method. */
  http(method: string): readonly (Seen & { readonly http: HttpSeen })[] {
    return this.seen.flatMap((seen) => (seen.http?.method === method ? [{ ...seen, http: seen.http }] : []))
  }

  /** Whether the client accepted the revision of the server: it went on after the greeting. */
  get isSpoken(): boolean {
    if (this.isModern) return this.ownRequests().length > 0
    const { greeting } = this
    if (greeting === undefined) return false
    return (
      member(greeting.message, 'params', 'protocolVersion') === this.revision ||
      this.heard.some(
        ({ message, seen }) =>
          seen.at > greeting.seen.at && message['method'] !== 'initialize' && message['method'] !== undefined,
      )
    )
  }

  /** The entries of the trace around something, for reports. */
  around(at: number): readonly Entry[] {
    return this.trace.between(Math.max(0, at - 4), at + 2, 6)
  }
}

/** Whether a request is of 2026-07-28: clients try it before they greet an older server. */
export function isProbe(message: Message): boolean {
  return member(message, 'params', '_meta', PROTOCOL_VERSION) !== undefined
}
