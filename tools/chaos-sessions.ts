// What the clients of a chaos test saw of their sessions. It shares no code with the server.
import type { AddFault } from './chaos-checker.ts'
import type { Incidents, LostCall } from './chaos-incidents.ts'
import { ListChanges, type Listener } from './chaos-lists.ts'
import type { SessionLine, TimedLine } from './chaos-log.ts'

/** The stream of a session, among those of calls. */
const OF_SESSION = 'session'
/** How many calls may end without a result: this part of all, and a few. Each needs a reason, too. */
const LOST_PART = 0.1
const LOST_MOST = 10

interface Stream {
  readonly marker: string
  readonly steps: number
  readonly asks: number
  readonly isOurs: boolean
  readonly began: number
  /** The nodes that got the call. */
  readonly nodes: Set<string>
  /** The progress that comes next. */
  next: number
  asked: number
  /** What the ids of all events begin with, these ids, and the number in the last. */
  name: string | undefined
  readonly ids: Set<string>
  last: number
  /** Whether its response was among the events. */
  hasResponse: boolean
  isEnded: boolean
}

/** A call that ended without a result: with an error of a kind, or without an answer. */
interface Ended extends LostCall {
  readonly where: string
  readonly kind: string | undefined
}

interface Client {
  readonly streams: Map<string, Stream>
  openedAt: number
  /** When its handshake was over, and from when on it must hear of everything: see `#heardFirst`. */
  readyAt: number
  hearsFrom: number
  /** How often it may have opened the stream of its session without an event to go on from. */
  begins: number
  isDrained: boolean
  /** The value that the session must have, and those that it may have because no answer came. */
  value: number
  readonly possible: Set<number>
  /** The id of the last request to keep a value, and of the last one to change something. */
  keepId: string
  touchId: string
  /** Changes of its own resource: when they were sent, how many were answered, and how many it heard of. */
  readonly touches: number[]
  touched: number
  updates: number
  /** What it heard of those, and of lists. */
  readonly heard: Listener['heard'][number][]
}

type Line<Event extends SessionLine['event']> = Extract<SessionLine, { readonly event: Event }> & TimedLine

/** Follows what clients log, line by line. */
export class SessionHistory {
  readonly #incidents: Incidents
  readonly #add: AddFault
  readonly #clients = new Map<number, Client>()
  /** The client of each value that was kept. */
  readonly #owners = new Map<number, number>()
  readonly #lost: Ended[] = []
  readonly #counts = { answered: 0, failedCalls: 0, abandoned: 0, events: 0, resumptions: 0 }
  readonly #lists = new ListChanges()

  constructor(incidents: Incidents, add: AddFault) {
    this.#incidents = incidents
    this.#add = add
  }

  /** Takes a line into account. */
  see(line: SessionLine & TimedLine): void {
    const client = this.#clientOf(line.client)
    switch (line.event) {
      case 'opened':
        client.openedAt = line.at
        break
      case 'ready':
        client.readyAt = line.at
        break
      case 'listens':
        client.begins++
        break
      case 'denied':
        client.begins--
        break
      case 'gone':
        this.#add('lost session', `client ${line.client}`)
        break
      case 'refused':
        this.#add('refused', `client ${line.client}: ${line.error}`)
        break
      case 'called':
        client.streams.set(line.call, newStream(line))
        break
      case 'served':
        client.streams.get(line.call)?.nodes.add(line.node)
        break
      case 'asked':
        this.#asked(client, line)
        break
      case 'resumed':
        this.#counts.resumptions++
        break
      case 'received':
        this.#received(client, line)
        break
      case 'answered':
      case 'failed':
      case 'abandoned':
        this.#ended(client, line)
        break
      case 'keep':
      case 'kept':
        this.#kept(client, line)
        break
      case 'touch':
      case 'touched':
        this.#touched(client, line)
        break
      case 'drained':
        client.isDrained = true
    }
  }

  /** Reports what is missing at the end, and answers the sums. */
  end(): typeof this.counts {
    for (const call of this.#lost) this.#explain(call)
    const most = LOST_MOST + LOST_PART * this.counts.calls
    if (this.#lost.length > most)
      this.#add('too many lost calls', `${this.#lost.length} of ${this.counts.calls}`)
    for (const [number, client] of this.#clients) {
      const where = `client ${number}`
      for (const [call, { isEnded }] of client.streams)
        if (!isEnded && call !== OF_SESSION) this.#add('no answer', `${where}: ${call}`)
      if (client.openedAt === Infinity) continue
      if (!client.isDrained) {
        this.#add('no answer', `${where} could not read its stream to the end`)
        continue
      }
      if (client.updates < client.touched)
        this.#add('lost event', `${where} heard of ${client.updates} of ${client.touched} changes`)
      const sent = client.touches.length
      if (client.updates > sent)
        this.#add('duplicated event', `${where} heard of ${client.updates} of ${sent} changes`)
      this.#lists.check(where, client, this.#add)
    }
    return this.counts
  }

  get counts(): {
    readonly sessions: number
    readonly calls: number
    readonly answered: number
    readonly failedCalls: number
    readonly abandoned: number
    readonly events: number
    readonly resumptions: number
  } {
    const all = [...this.#clients.values()]
    const calls = all.reduce((sum, { streams }) => sum + streams.size - Number(streams.has(OF_SESSION)), 0)
    const sessions = all.filter(({ openedAt }) => openedAt < Infinity).length
    return { sessions, calls, ...this.#counts }
  }

  #clientOf(number: number): Client {
    const known = this.#clients.get(number)
    if (known !== undefined) return known
    const client: Client = {
      streams: new Map(),
      openedAt: Infinity,
      readyAt: Infinity,
      hearsFrom: Infinity,
      begins: 0,
      isDrained: false,
      value: 0,
      possible: new Set(),
      keepId: '',
      touchId: '',
      touches: [],
      touched: 0,
      updates: 0,
      heard: [],
    }
    this.#clients.set(number, client)
    return client
  }

  #asked(client: Client, { client: number, call, marker }: Line<'asked'>): void {
    const stream = client.streams.get(call)
    if (stream === undefined || marker !== stream.marker)
      return this.#add('wrong client', `client ${number} was asked ${marker} in ${call}`)
    const most = stream.isOurs && stream.asks > 0 ? stream.asks + 1 : stream.asks
    if (++stream.asked > most)
      this.#add('wrong questions', `client ${number} was asked ${stream.asked} times in ${call}`)
  }

  #received(client: Client, line: Line<'received'>): void {
    this.#counts.events++
    const { call, id, what } = line
    const where = `client ${line.client}, ${call}: ${what || 'nothing'} (${id})`
    let stream = client.streams.get(call)
    if (stream === undefined && call === OF_SESSION)
      client.streams.set(call, (stream = newStream({ marker: '', steps: 0, asks: 0, at: line.at })))
    if (stream === undefined) return this.#add('wrong client', where)
    this.#numbered(client, stream, line, where)
    if (call === OF_SESSION && client.hearsFrom === Infinity) this.#heardFirst(client, line.at)
    if (stream.hasResponse) this.#add('two answers', `${where} came after the response`)
    const [kind, value = ''] = what.split(' ')
    if (kind === 'response') stream.hasResponse = true
    if (kind === 'progress') {
      if (line.token !== call) this.#add('wrong client', `${where} is for ${line.token}`)
      this.#progressed(stream, Number(value), where)
    }
    if (kind === 'listed') client.heard.push({ what: kind, at: line.at })
    if (kind === 'updated') {
      client.updates++
      client.heard.push({ what: kind, at: line.at })
      if (value !== `note://${line.client}`) this.#add('wrong client', where)
    }
  }

  /** Compares the id of an event with those before. */
  #numbered(client: Client, stream: Stream, { id, call }: Line<'received'>, where: string): void {
    const [, name = '', digits] = /^(.*?)(\d+)$/.exec(id) ?? []
    const number = Number(digits)
    if (stream.name === undefined) {
      stream.name = name
      for (const other of client.streams.values())
        if (other !== stream && other.name === name)
          this.#add('wrong stream', `${where} continues another one`)
      // Events over a connection that broke before the client knew an id cannot be asked for.
      const most = call === OF_SESSION && client.begins > 1 ? this.#mostMissed(client) : 0
      if (!(number <= most)) this.#add('lost event', `${where} is the first`)
    } else if (stream.name !== name) this.#add('wrong stream', `${where} came in ${stream.name}`)
    if (stream.ids.has(id)) this.#add('duplicated event', where)
    else if (!(number > stream.last)) this.#add('reordered event', where)
    else if (stream.last >= 0 && number > stream.last + 1)
      this.#add('lost event', `${where} came after number ${stream.last}`)
    stream.ids.add(id)
    if (number > stream.last) stream.last = number
  }

  /** How many events a client may have missed before its first one: those of its changes, of lists, and one for each connection. */
  #mostMissed({ begins, touches }: Client): number {
    return begins - 1 + touches.length + this.#lists.count
  }

  /**
   * A client that gets its first event over its first connection hears of everything since its handshake. If a connection broke before,
   * the server may have sent events over it, and the client cannot ask for them, because it knows no id.
   */
  #heardFirst(client: Client, at: number): void {
    client.hearsFrom = client.begins === 1 ? client.readyAt : at
  }

  #progressed(stream: Stream, step: number, where: string): void {
    if (step > stream.next) this.#add('lost event', `${where} came instead of ${stream.next}`)
    if (step === stream.next - 1) this.#add('duplicated event', where)
    else if (step < stream.next) this.#add('reordered event', where)
    stream.next = Math.max(stream.next, step + 1)
  }

  #ended(client: Client, line: Line<'answered' | 'failed' | 'abandoned'>): void {
    const where = `client ${line.client}, ${line.call}`
    const stream = client.streams.get(line.call)
    if (stream === undefined) return this.#add('wrong client', where)
    if (stream.isEnded) this.#add('two answers', where)
    stream.isEnded = true
    const { nodes, began } = stream
    const lost = { client: line.client, nodes, began, ended: line.at, where }
    if (line.event === 'abandoned') {
      this.#counts.abandoned++
      this.#lost.push({ ...lost, kind: undefined })
      return
    }
    if (!stream.isOurs && line.id !== line.call) this.#add('wrong id', `${where} got ${line.id}`)
    if (line.event === 'failed') {
      this.#counts.failedCalls++
      this.#lost.push({ ...lost, kind: line.kind })
      return
    }
    this.#counts.answered++
    if (line.text.split(' ').some((marker) => marker !== stream.marker))
      this.#add('wrong client', `${where}: ${line.text}`)
    if (stream.next <= stream.steps)
      this.#add('lost event', `${where} ended after ${stream.next - 1} of ${stream.steps}`)
    if (stream.asked < stream.asks)
      this.#add('wrong questions', `${where} was answered after ${stream.asked} of ${stream.asks} questions`)
  }

  /** Reports a call that ended without a result for no reason. */
  #explain({ where, kind, ...call }: Ended): void {
    if (kind === undefined) {
      if (!this.#incidents.explainsSilence(call)) this.#add('wrong failure', `${where} got no answer`)
      return
    }
    const isExplained =
      (kind === 'node_lost' && this.#incidents.explainsLostNode(call)) ||
      (kind === 'store_unreachable' && this.#incidents.explainsLostStore(call))
    if (!isExplained)
      this.#add('wrong failure', `${where} at ${[...call.nodes].join(' and ') || 'no node'}: ${kind}`)
  }

  #kept(client: Client, line: Line<'keep' | 'kept'>): void {
    const where = `client ${line.client}`
    if (line.event === 'keep') {
      client.keepId = line.id
      if (this.#owners.has(line.value))
        this.#add('unreadable', `${where} keeps the value ${line.value} of another`)
      this.#owners.set(line.value, line.client)
      return void client.possible.add(line.value)
    }
    const { value, last, id } = line
    if (id !== client.keepId) this.#add('wrong id', `${where} got ${id} for ${client.keepId}`)
    client.possible.delete(value)
    const owner = this.#owners.get(last) ?? line.client
    if (owner !== line.client) this.#add('wrong client', `${where} got the value ${last} of client ${owner}`)
    else if (last !== client.value && !client.possible.has(last))
      this.#add('lost value', `${where} had ${client.value}, and the server ${last}`)
    client.value = value
  }

  #touched(client: Client, line: Line<'touch' | 'touched'>): void {
    const { client: number, what, at, id } = line
    if (what === 'listed') this.#lists[line.event === 'touch' ? 'sent' : 'answered'](number, at)
    else if (line.event === 'touch') client.touches.push(at)
    else client.touched++
    if (line.event === 'touch') {
      client.touchId = id
      return
    }
    if (id !== client.touchId) this.#add('wrong id', `client ${number} got ${id} for ${client.touchId}`)
    if (line.text !== String(number)) this.#add('wrong client', `client ${number} got ${line.text}`)
  }
}

function newStream(
  line: Pick<Line<'called'>, 'marker' | 'steps' | 'asks' | 'at'> & { readonly isOurs?: boolean },
): Stream {
  const { marker, steps, asks, at, isOurs = false } = line
  return {
    marker,
    steps,
    asks,
    isOurs,
    began: at,
    nodes: new Set(),
    next: 1,
    asked: 0,
    name: undefined,
    ids: new Set(),
    last: -1,
    hasResponse: false,
    isEnded: false,
  }
}
