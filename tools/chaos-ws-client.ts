// A client of the chaos test whose session is a WebSocket.
import type { SessionLine } from './chaos-log.ts'
import {
  CAPABILITIES,
  described,
  kindOf,
  pause,
  REVISION,
  textOf,
  tokenOf,
  type Message,
} from './chaos-messages.ts'
import type { Said, SessionWorld } from './chaos-session-client.ts'
import { WsWire } from './chaos-ws-wire.ts'

/** Errors after which the client may try again: nobody knows whether the request ran. */
const PASSING: readonly string[] = ['node_lost', 'store_unreachable']
const RETRY_MS = 200
const DROP_PART = 0.6
/** How long a client waits for the notification of its own change. */
const HEARING_MS = 90_000
/** How long a stream says nothing before it is taken to be at its end, if that does not show in another way. */
const QUIET_MS = 5000
const MOST_STEPS = 20
/** No client keeps so many values. */
const VALUES = 1_000_000

/** One client. It does one thing at a time. */
export class WsSessionClient {
  readonly #number: number
  readonly #world: SessionWorld
  #wire: WsWire
  #calls = 0
  #value = 0
  #isSubscribed = false
  #touched = 0
  #sent = 0
  #updates = 0
  /** How many messages that belong to no call have arrived, and when the last one did. */
  #heard = 0
  #heardAt = 0
  readonly #waiting = new Map<string, (response: Message) => void>()
  /** How many events of each call have arrived. */
  readonly #events = new Map<string, number>()
  isGone = false

  constructor(number: number, world: SessionWorld) {
    this.#number = number
    this.#world = world
    this.#wire = this.#newWire()
  }

  /** Opens the session, however long it takes. */
  async open(): Promise<void> {
    const clientInfo = { name: 'chaos', version: '1.0.0' }
    const params = { protocolVersion: REVISION, capabilities: CAPABILITIES, clientInfo }
    while (!this.#world.isOver()) {
      await this.#wire.open()
      const response = await this.#request(this.#newId(), 'initialize', params)
      if (response?.['result'] !== undefined) {
        this.#log({ event: 'opened' })
        this.#log({ event: 'listens' })
        this.#wire.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
        // Whatever is answered later is answered after the handshake.
        while (this.#isUsable && (await this.#request(this.#newId(), 'ping', {}))?.['result'] === undefined)
          await pause(RETRY_MS)
        this.#log({ event: 'ready' })
        return
      }
      // The handshake was lost with its node.
      this.#wire.close()
      this.#wire = this.#newWire()
      this.isGone = false
    }
  }

  /** Does something that sessions are for. */
  async visit(): Promise<void> {
    const acts = [
      () => this.#count(),
      () => this.#call('ask', {}, 0),
      () => this.#keep(),
      () => this.#touch(),
    ]
    const act = acts[Math.floor(this.#world.random() * acts.length)]
    if (!this.isGone) await act?.()
  }

  /** Reads everything up to a change that the client makes now, and ends the session. `heardAt` says when another client last did so. */
  async drain(heardAt: () => number): Promise<void> {
    if (!this.isGone && (await this.#touch(heardAt))) this.#log({ event: 'drained' })
    this.#wire.close()
  }

  get #isUsable(): boolean {
    return !this.isGone && !this.#world.isOver()
  }

  #count(): Promise<void> {
    const steps = 1 + Math.floor(this.#world.random() * MOST_STEPS)
    const ms = Math.floor(this.#world.random() * 60)
    return this.#call('count', { steps, ms }, steps)
  }

  async #keep(): Promise<void> {
    const value = this.#number * VALUES + ++this.#value
    const id = this.#newId()
    this.#log({ event: 'keep', id, value })
    const text = await this.#use(id, 'keep', { value })
    if (text !== undefined) this.#log({ event: 'kept', id, value, last: Number(text) })
  }

  /** Changes a resource, and waits until that is announced. False if it never is. */
  async #touch(heardAt: () => number = () => 0): Promise<boolean> {
    const uri = `note://${this.#number}`
    while (this.#isUsable && !this.#isSubscribed) {
      const response = await this.#request(this.#newId(), 'resources/subscribe', { uri })
      this.#isSubscribed = response?.['result'] !== undefined
    }
    const updates = this.#updates
    let isAnswered = false
    while (this.#isUsable && !isAnswered) {
      this.#sent++
      const id = this.#newId()
      this.#log({ event: 'touch', id, what: 'updated' })
      const text = await this.#use(id, 'touch', { marker: `${this.#number}` })
      isAnswered = text !== undefined
      if (text !== undefined) this.#log({ event: 'touched', id, what: 'updated', text })
    }
    if (isAnswered) this.#touched++
    const began = performance.now()
    const isLate = (): boolean => performance.now() > Math.max(began, heardAt()) + HEARING_MS
    const isDone = (): boolean => this.#updates > updates && this.#updates >= this.#touched
    while (!isDone() && this.#isUsable && !isLate()) await pause(25)
    // A change without an answer may be announced instead of the last one, which then follows.
    while (this.#sent > this.#touched && performance.now() < this.#heardAt + QUIET_MS && !isLate())
      await pause(100)
    return isAnswered && isDone()
  }

  /** Calls a tool that reports progress or asks; some connections break meanwhile. */
  async #call(name: string, args: object, steps: number): Promise<void> {
    const { random } = this.#world
    const id = this.#newId()
    const marker = `m${id}`
    this.#events.set(id, 0)
    this.#log({ event: 'called', call: id, marker, steps, asks: name === 'ask' ? 1 : 0 })
    const params = { name, arguments: { marker, ...args }, _meta: { progressToken: id } }
    let isOver = false
    const answered = this.#request(id, 'tools/call', params).then(() => (isOver = true))
    while (!isOver && random() < DROP_PART) {
      const wanted = this.#wire.received + 1 + Math.floor(random() * 6)
      while (!isOver && this.#isUsable && this.#wire.received < wanted) await pause(5)
      if (!isOver) this.#wire.drop()
    }
    await answered
  }

  /** Calls a tool that answers at once; undefined if nobody knows whether it did anything. */
  async #use(id: string, name: string, args: object): Promise<string | undefined> {
    const response = await this.#request(id, 'tools/call', { name, arguments: args })
    const text = textOf(response)
    if (text === undefined && this.#isUsable) await pause(RETRY_MS)
    return text
  }

  /** Sends a request, and waits for its response; undefined if there will be none. */
  async #request(id: string, method: string, params: object): Promise<Message | undefined> {
    let response: Message | undefined
    this.#waiting.set(id, (one) => (response = one))
    this.#wire.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    while (response === undefined && this.#isUsable) await pause(20)
    this.#waiting.delete(id)
    if (response === undefined || this.#events.has(id)) return response
    const { error } = response as { readonly error?: { readonly data?: Message; readonly message: string } }
    if (error !== undefined && !PASSING.includes(kindOf(error)))
      this.#log({ event: 'refused', error: JSON.stringify(error) })
    return response
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Message
    const { id, method, params } = message as {
      readonly id?: string
      readonly method?: string
      params?: Message
    }
    if (method === 'elicitation/create') this.#answer(message)
    else if (method === 'notifications/progress') this.#received(String(params?.['progressToken']), text)
    else if (method !== undefined) {
      const what = described(text)
      this.#heardAt = performance.now()
      if (what.startsWith('updated')) this.#updates++
      this.#log({ event: 'received', call: 'session', id: `ws_${this.#heard++}`, what })
    } else if (id !== undefined && this.#events.has(id)) this.#logResponse(id, message)
    else if (id === undefined || !this.#waiting.has(id))
      this.#log({ event: 'refused', error: `a response that nobody waits for: ${text}` })
    if (id !== undefined && method === undefined) this.#waiting.get(id)?.(message)
  }

  /** Notes an event of a call, under a number of its own. */
  #received(call: string, text: string): void {
    const count = this.#events.get(call) ?? 0
    this.#events.set(call, count + 1)
    this.#log({ event: 'received', call, id: `${call}_${count}`, what: described(text), ...tokenOf(text) })
  }

  #answer({ id, params }: Message): void {
    const marker = String((params as Message)['message'])
    const call = marker.slice(1)
    this.#log({ event: 'asked', call, marker })
    const result = { action: 'accept', content: { marker } }
    this.#wire.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }

  #logResponse(call: string, message: Message): void {
    const { error } = message as { readonly error?: { readonly data?: Message; readonly message: string } }
    const text = textOf(message)
    const id = String(message['id'])
    if (text !== undefined) this.#log({ event: 'answered', call, id, text })
    else this.#log({ event: 'failed', call, id, kind: kindOf(error ?? { message: JSON.stringify(message) }) })
  }

  #newId(): string {
    return `${this.#number}-${++this.#calls}`
  }

  #newWire(): WsWire {
    const { url, apiKey, isOver } = this.#world
    return new WsWire({
      url: url.replace(/^http/, 'ws'),
      apiKey,
      isOver,
      onMessage: (text) => this.#take(text),
      onSent: (text, node) => {
        const { id: call, method } = JSON.parse(text) as Message
        if (method === 'tools/call' && this.#events.has(String(call)))
          this.#log({ event: 'served', call: String(call), node })
      },
      onResumed: (received) => this.#log({ event: 'resumed', call: 'session', after: `ws_${received}` }),
      onGone: () => {
        this.isGone = true
        this.#log({ event: 'gone' })
      },
      onRefused: (error) => this.#log({ event: 'refused', error }),
    })
  }

  #log(said: Said): void {
    this.#world.log({ client: this.#number, ...said } as SessionLine)
  }
}
