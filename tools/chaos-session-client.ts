// A client with a session of the chaos test, which speaks JSON-RPC over HTTP itself.
import type { ChaosLine, SessionLine } from './chaos-log.ts'
import {
  CAPABILITIES,
  described,
  kindOf,
  parsed,
  pause,
  REVISION,
  textOf,
  tokenOf,
  type Message,
} from './chaos-messages.ts'
import { exchange, openStream, type Asked, type OpenStream, type StreamEvent } from './chaos-wire.ts'

/** What a client needs besides its number. */
export interface SessionWorld {
  readonly url: string
  readonly apiKey: string
  readonly random: () => number
  readonly log: (line: ChaosLine) => void
  /** Whether to stop waiting: something is badly wrong. */
  readonly isOver: () => boolean
}

/** The line of a client, without its number. */
export type Said = SessionLine extends infer Line
  ? Line extends SessionLine
    ? Omit<Line, 'client'>
    : never
  : never

/** Statuses that mean: try again. */
const LATER: readonly number[] = [429, 502, 503, 504]
/** The status that means: nothing follows, so do not try again. */
const OVER = 204
/** Statuses with which nothing was done. */
const UNTOUCHED: readonly number[] = [429, 503]
const RETRY_MS = 200
/** The part of streams whose connection the client breaks. */
const DROP_PART = 0.6
/** How long a client waits for the notification of its own change. */
const HEARING_MS = 90_000
/** How long a stream says nothing before it is taken to be at its end, if that does not show in another way. */
const QUIET_MS = 5000
const MOST_STEPS = 20
/** The part of JSON requests whose connection the client breaks, and when it does so at the latest. */
const POST_DROP_PART = 0.15
const POST_DROP_MS = 40
/** How long clients read on after a response, in case that something follows, and the part of the calls after which they also ask for that. */
const AFTER_RESPONSE_MS = 500
const ASK_AGAIN_PART = 0.2
/** No client keeps so many values. */
const VALUES = 1_000_000

/** One client. It does one thing at a time. */
export class SessionClient {
  readonly #number: number
  readonly #world: SessionWorld
  #session = ''
  #calls = 0
  #value = 0
  #isSubscribed = false
  /** The last event of the stream of the session. */
  #lastEvent: string | undefined
  #sent = 0
  #touched = 0
  #updates = 0
  #lists = 0
  #heardAt = 0
  #onUpdate: () => void = () => undefined
  isGone = false

  constructor(number: number, world: SessionWorld) {
    this.#number = number
    this.#world = world
  }

  /** Opens the session, however long it takes. */
  async open(): Promise<void> {
    const clientInfo = { name: 'chaos', version: '1.0.0' }
    const params = { protocolVersion: REVISION, capabilities: CAPABILITIES, clientInfo }
    while (!this.#world.isOver()) {
      const reply = await exchange(this.#asked('POST', { id: 0, method: 'initialize', params }))
      if (reply?.status === 200 && reply.session !== undefined) {
        this.#session = reply.session
        this.#log({ event: 'opened' })
        if (await this.#insist({ method: 'notifications/initialized' })) this.#log({ event: 'ready' })
        return
      }
      if (reply !== undefined && !LATER.includes(reply.status))
        this.#log({ event: 'refused', error: `${reply.status} ${reply.text}` })
      await pause(RETRY_MS)
    }
  }

  /** Does something that sessions are for. */
  async visit(): Promise<void> {
    const acts = [() => this.#count(), () => this.#ask(), () => this.#keep(), () => this.#touch('updated')]
    const act = acts[Math.floor(this.#world.random() * acts.length)]
    if (!this.isGone) await act?.()
  }

  /** Changes a list that every client has. */
  async relist(): Promise<void> {
    if (!this.isGone) await this.#touch('listed')
  }

  /** Reads the stream of the session up to a change that the client makes now. It waits while other clients hear of theirs, too; `heardAt` says when the last one did. */
  async drain(heardAt: () => number): Promise<void> {
    if (!this.isGone && (await this.#touch('updated', heardAt))) this.#log({ event: 'drained' })
  }

  #count(): Promise<void> {
    const steps = 1 + Math.floor(this.#world.random() * MOST_STEPS)
    const ms = Math.floor(this.#world.random() * 60)
    return this.#call('count', { steps, ms }, steps)
  }

  #ask(): Promise<void> {
    return this.#call('ask', {}, 0)
  }

  async #keep(): Promise<void> {
    const value = this.#number * VALUES + ++this.#value
    const id = `${++this.#calls}`
    this.#log({ event: 'keep', id, value })
    const reply = await this.#post(id, 'tools/call', { name: 'keep', arguments: { value } })
    const text = textOf(reply)
    if (text !== undefined) this.#log({ event: 'kept', id: idOf(reply), value, last: Number(text) })
  }

  /** Changes something, and waits on the stream of the session until that is announced. False if it never is. */
  async #touch(what: 'updated' | 'listed', heardAt: () => number = () => 0): Promise<boolean> {
    const { isOver } = this.#world
    if (!this.#isSubscribed) {
      const params = { uri: `note://${this.#number}` }
      this.#isSubscribed = await this.#insist({ method: 'resources/subscribe', params })
    }
    const began = performance.now()
    const isLate = (): boolean => performance.now() > Math.max(began, heardAt()) + HEARING_MS
    const [updates, lists] = [this.#updates, this.#lists]
    let isHeard = false
    const reading = this.#readSession(() => isHeard || this.isGone || isOver() || isLate())
    const name = what === 'updated' ? 'touch' : 'relist'
    // Events before the first id that the client has seen cannot be resumed from.
    while (this.#lastEvent === undefined && !this.isGone && !isOver() && !isLate()) await pause(25)
    let isAnswered = false
    while (!isAnswered && !this.isGone && !isOver()) {
      if (what === 'updated') this.#sent++
      const id = `${++this.#calls}`
      this.#log({ event: 'touch', id, what })
      const reply = await this.#post(id, 'tools/call', { name, arguments: { marker: `${this.#number}` } })
      const text = textOf(reply)
      isAnswered = text !== undefined
      if (text !== undefined) this.#log({ event: 'touched', id: idOf(reply), what, text })
      else await pause(RETRY_MS)
    }
    if (what === 'updated' && isAnswered) this.#touched++
    const isDone = (): boolean =>
      what === 'updated' ? this.#updates > updates && this.#updates >= this.#touched : this.#lists > lists
    while (!isDone() && !this.isGone && !isOver() && !isLate())
      await Promise.race([new Promise<void>((resolve) => (this.#onUpdate = resolve)), pause(500)])
    // A change without an answer may be announced instead of the last one, which then follows.
    while (this.#sent > this.#touched && performance.now() < this.#heardAt + QUIET_MS && !isLate())
      await pause(100)
    const done = isAnswered && isDone()
    isHeard = true
    this.#onUpdate()
    await reading
    return done
  }

  /** Reads the stream of the session, over one connection after the other. */
  async #readSession(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const after = this.#lastEvent
      if (after !== undefined) this.#log({ event: 'resumed', call: 'session', after })
      const stream = await this.#get(after, (event) => this.#onSessionEvent(event))
      if (stream === undefined) {
        await pause(RETRY_MS)
        continue
      }
      let isEnded = false
      void stream.ended.then(() => (isEnded = true))
      const dropAt =
        this.#world.random() < DROP_PART ? performance.now() + this.#world.random() * 2000 : Infinity
      while (!isEnded && !isEnough() && performance.now() < dropAt) await pause(25)
      stream.drop()
      await stream.ended
    }
  }

  #onSessionEvent({ id, data }: StreamEvent): void {
    const what = described(data)
    if (id === undefined) return
    this.#lastEvent = id
    this.#heardAt = performance.now()
    this.#log({ event: 'received', call: 'session', id, what, ...tokenOf(data) })
    if (what.startsWith('updated')) this.#updates++
    if (what === 'listed') this.#lists++
    this.#onUpdate()
  }

  /** Calls a tool that streams, and goes on elsewhere when the connection breaks, or breaks it. */
  async #call(name: string, args: object, steps: number): Promise<void> {
    const id = `${this.#number}-${++this.#calls}`
    const marker = `m${id}`
    const _meta = { progressToken: id }
    const params = { name, arguments: { marker, ...args }, _meta }
    const log = (said: Said): void => this.#log(said)
    let last: string | undefined
    let isOver = false
    let count = 0
    log({ event: 'called', call: id, marker, steps, asks: name === 'ask' ? 1 : 0 })
    const onEvent = ({ id: eventId, data }: StreamEvent): void => {
      count++
      if (eventId !== undefined)
        log({ event: 'received', call: id, id: (last = eventId), what: described(data), ...tokenOf(data) })
      if (data === '') return
      const message = JSON.parse(data) as Message
      if (message['method'] === 'elicitation/create') void this.#answer(id, message)
      else if ('id' in message) {
        isOver = true
        this.#logResponse(id, message)
      }
    }
    let stream = await this.#begin(id, this.#asked('POST', { id, method: 'tools/call', params }), onEvent)
    while (stream !== undefined) {
      const wanted = this.#world.random() < DROP_PART ? count + 1 + Math.floor(this.#world.random() * 6) : 1e9
      let isEnded = false
      void stream.ended.then(() => (isEnded = true))
      while (!isEnded && !isOver && count < wanted) await pause(5)
      // Nothing may follow the response.
      if (isOver) await Promise.race([stream.ended, pause(AFTER_RESPONSE_MS)])
      stream.drop()
      await stream.ended
      if (isOver && last !== undefined && this.#world.random() < ASK_AGAIN_PART)
        await this.#readOn(id, last, onEvent)
      if (isOver || this.isGone) return
      stream = last === undefined ? undefined : await this.#resume(id, () => last as string, onEvent)
    }
    if (!isOver) log({ event: 'abandoned', call: id })
  }

  /** Sends a call, again while the server says that it does not take it now. */
  async #begin(
    call: string,
    asked: Asked,
    onEvent: (event: StreamEvent) => void,
  ): Promise<OpenStream | undefined> {
    while (!this.#world.isOver()) {
      const stream = await openStream(asked, onEvent)
      if (stream?.node !== undefined) this.#log({ event: 'served', call, node: stream.node })
      if (!this.#isRefused(stream)) return stream
      if (stream === undefined || !UNTOUCHED.includes(stream.status)) return undefined
      await pause(RETRY_MS)
    }
    return undefined
  }

  /** Asks for what follows the response to a call: there is nothing. */
  async #readOn(call: string, after: string, onEvent: (event: StreamEvent) => void): Promise<void> {
    this.#log({ event: 'resumed', call, after })
    const asked = this.#asked('GET')
    const headers = { ...asked.headers, accept: 'text/event-stream', 'last-event-id': after }
    const stream = await openStream({ ...asked, headers }, onEvent)
    if (stream === undefined) return
    if (stream.status !== OVER) this.#isRefused(stream)
    await Promise.race([stream.ended, pause(AFTER_RESPONSE_MS)])
    stream.drop()
  }

  async #resume(
    call: string,
    last: () => string,
    onEvent: (event: StreamEvent) => void,
  ): Promise<OpenStream | undefined> {
    while (!this.#world.isOver() && !this.isGone) {
      const after = last()
      this.#log({ event: 'resumed', call, after })
      const stream = await this.#get(after, onEvent)
      if (stream !== undefined) return stream.status === OVER ? undefined : stream
      await pause(RETRY_MS)
    }
    return undefined
  }

  /** Opens a stream with GET; undefined if it must be tried again. */
  async #get(
    after: string | undefined,
    onEvent: (event: StreamEvent) => void,
  ): Promise<OpenStream | undefined> {
    const asked = this.#asked('GET')
    const more = after === undefined ? {} : { 'last-event-id': after }
    const headers = { ...asked.headers, accept: 'text/event-stream', ...more }
    if (after === undefined) this.#log({ event: 'listens' })
    const stream = await openStream({ ...asked, headers }, onEvent)
    if (after === undefined && stream !== undefined && stream.status !== 200) this.#log({ event: 'denied' })
    if (stream?.status === OVER) this.#log({ event: 'refused', error: `nothing follows ${after}` })
    return stream?.status !== OVER && this.#isRefused(stream) ? undefined : stream
  }

  /** Whether there is no stream. Logs why, unless it may be tried again. */
  #isRefused(stream: OpenStream | undefined): boolean {
    if (stream?.status === 200) return false
    stream?.drop()
    const status = stream?.status ?? 0
    if (status === 404) this.#lose()
    // Another connection still has the stream of the session.
    else if (status !== 0 && status !== 409 && !LATER.includes(status))
      this.#log({ event: 'refused', error: `status ${status}` })
    return true
  }

  /** Answers a question, which may arrive at any node. */
  async #answer(call: string, { id, params }: Message): Promise<void> {
    const marker = String((params as Message)['message'])
    this.#log({ event: 'asked', call, marker })
    const result = { action: 'accept', content: { marker: `m${call}` } }
    await this.#insist({ id: id as string, result })
  }

  #logResponse(call: string, message: Message): void {
    const { error } = message as { readonly error?: { readonly data?: Message; readonly message: string } }
    const text = textOf(message)
    const id = idOf(message)
    if (text !== undefined) this.#log({ event: 'answered', call, id, text })
    else this.#log({ event: 'failed', call, id, kind: kindOf(error ?? { message: JSON.stringify(message) }) })
  }

  /** Sends a request, and answers the response; undefined if there is none. */
  async #post(id: string, method: string, params: object): Promise<Message | undefined> {
    const reply = await exchange(this.#dropping(this.#asked('POST', { id, method, params })))
    if (reply?.status === 404) this.#lose()
    if (reply === undefined || LATER.includes(reply.status) || this.isGone) return undefined
    const message = parsed(reply.text)
    if (message?.['result'] !== undefined) return message
    this.#log({ event: 'refused', error: `${reply.status} ${reply.text}` })
    return undefined
  }

  /** Sends a message until it is accepted. */
  async #insist(message: object): Promise<boolean> {
    while (!this.#world.isOver() && !this.isGone) {
      // A request that got no answer may still run.
      const fresh = 'params' in message ? { ...message, id: ++this.#calls } : message
      const reply = await exchange(this.#dropping(this.#asked('POST', fresh)))
      if (reply?.status === 404) this.#lose()
      else if (reply !== undefined && reply.status < 300) return true
      else if (reply !== undefined && !LATER.includes(reply.status))
        this.#log({ event: 'refused', error: `${reply.status} ${reply.text}` })
      await pause(RETRY_MS)
    }
    return false
  }

  #lose(): void {
    if (!this.isGone) this.#log({ event: 'gone' })
    this.isGone = true
  }

  /** A request of which some connections break. */
  #dropping(asked: Asked): Asked {
    const { random, log } = this.#world
    if (random() >= POST_DROP_PART) return asked
    return {
      ...asked,
      dropMs: random() * POST_DROP_MS,
      onDropped: () => log({ event: 'dropped', what: 'post' }),
    }
  }

  #asked(method: Asked['method'], message?: object): Asked {
    const { url, apiKey } = this.#world
    const ofSession =
      this.#session === '' ? {} : { 'mcp-session-id': this.#session, 'mcp-protocol-version': REVISION }
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...ofSession,
    }
    if (message === undefined) return { url, method, headers }
    return { url, method, headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) }
  }

  #log(said: Said): void {
    this.#world.log({ client: this.#number, ...said } as SessionLine)
  }
}

function idOf(message: Message | undefined): string {
  return String(message?.['id'])
}
