// What the clients of a chaos test saw of their sessions. It shares no code with the server.
import type { AddFault } from './chaos-checker.ts'
import { ListChanges, type Listener } from './chaos-lists.ts'
import type { FaultLine, SessionLine, TimedLine } from './chaos-log.ts'

/** The stream of a session, among those of calls. */
const OF_SESSION = 'session'
/** The errors with which a call may end, and after which faults. */
const EXPLAINED: ReadonlyMap<string, readonly FaultLine['kind'][]> = new Map([
  ['node_lost', ['kill', 'stop']],
  ['store_unreachable', ['redis', 'postgres']],
])
/** How long after a fault a call may end so. */
const AFTERMATH_MS = 60_000

interface Stream {
  readonly marker: string
  readonly steps: number
  readonly began: number
  /** The progress that comes next. */
  next: number
  /** The ids of all events, and the number in the last. */
  readonly ids: Set<string>
  last: number
  isEnded: boolean
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
  readonly #faults: readonly (FaultLine & TimedLine)[]
  readonly #add: AddFault
  readonly #clients = new Map<number, Client>()
  readonly #counts = { answered: 0, failedCalls: 0, abandoned: 0, events: 0, resumptions: 0 }
  readonly #lists = new ListChanges()

  constructor(faults: readonly (FaultLine & TimedLine)[], add: AddFault) {
    this.#faults = faults
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
        client.streams.set(line.call, newStream(line.marker, line.steps, line.at))
        break
      case 'asked':
        if (line.marker !== client.streams.get(line.call)?.marker)
          this.#add('wrong client', `client ${line.client} was asked ${line.marker} in ${line.call}`)
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
      touches: [],
      touched: 0,
      updates: 0,
      heard: [],
    }
    this.#clients.set(number, client)
    return client
  }

  #received(client: Client, line: Line<'received'>): void {
    this.#counts.events++
    const { call, id, what } = line
    const where = `client ${line.client}, ${call}: ${what || 'nothing'} (${id})`
    let stream = client.streams.get(call)
    if (stream === undefined && call === OF_SESSION)
      client.streams.set(call, (stream = newStream('', 0, line.at)))
    if (stream === undefined) return this.#add('wrong client', where)
    if (call === OF_SESSION && client.hearsFrom === Infinity) this.#heardFirst(client, line.at)
    const number = Number(/(\d+)$/.exec(id)?.[1])
    if (stream.ids.has(id)) this.#add('duplicated event', where)
    else if (!(number > stream.last)) this.#add('reordered event', where)
    else if (stream.last >= 0 && number > stream.last + 1)
      this.#add('lost event', `${where} came after number ${stream.last}`)
    stream.ids.add(id)
    if (number > stream.last) stream.last = number
    const [kind, value = ''] = what.split(' ')
    if (kind === 'progress') this.#progressed(stream, Number(value), where)
    if (kind === 'listed') client.heard.push({ what: kind, at: line.at })
    if (kind === 'updated') {
      client.updates++
      client.heard.push({ what: kind, at: line.at })
      if (value !== `note://${line.client}`) this.#add('wrong client', where)
    }
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
    if (line.event === 'abandoned') this.#counts.abandoned++
    else if (line.event === 'failed') {
      this.#counts.failedCalls++
      const reasons = EXPLAINED.get(line.kind) ?? []
      const isExplained = this.#faults.some(
        ({ kind, at }) => reasons.includes(kind) && at <= line.at && at >= stream.began - AFTERMATH_MS,
      )
      if (!isExplained) this.#add('wrong failure', `${where}: ${line.kind}`)
    } else {
      this.#counts.answered++
      if (line.text.split(' ').some((marker) => marker !== stream.marker))
        this.#add('wrong client', `${where}: ${line.text}`)
      if (stream.next <= stream.steps)
        this.#add('lost event', `${where} ended after ${stream.next - 1} of ${stream.steps}`)
    }
  }

  #kept(client: Client, line: Line<'keep' | 'kept'>): void {
    if (line.event === 'keep') return void client.possible.add(line.value)
    const { value, last } = line
    client.possible.delete(value)
    if (last !== client.value && !client.possible.has(last))
      this.#add('lost value', `client ${line.client} had ${client.value}, and the server ${last}`)
    client.value = value
  }

  #touched(client: Client, { client: number, event, what, at }: Line<'touch' | 'touched'>): void {
    if (what === 'listed') this.#lists[event === 'touch' ? 'sent' : 'answered'](number, at)
    else if (event === 'touch') client.touches.push(at)
    else client.touched++
  }
}

function newStream(marker: string, steps: number, began: number): Stream {
  return { marker, steps, began, next: 1, ids: new Set(), last: -1, isEnded: false }
}
