import { Deferred } from '../base/deferred.ts'
import type { BusMessage } from '../rpc/change-bus.ts'
import { keyOf, type SentChange } from '../rpc/changes.ts'
import { ChangeHistory, NOTHING_KNOWN, type PastChanges } from './change-history.ts'
import { CHANGE_CLASSES, classOf, type ChangeClass } from './change-log.ts'
import { checkShared } from './check-shared.ts'
import { Forwarded } from './forwarded.ts'
import { Offers } from './offers.ts'
import { askerOf, QUESTIONS } from './question-ids.ts'
import { Rarely } from './rarely.ts'
import { readMessage, writeMessage, type NodeMessage, type Revocation, type SentMessage } from './messages.ts'
import type { NodeListener, NodeOptions, NodeStores } from './node-options.ts'
import type { KnownChange } from './recent-changes.ts'
import { publishRevocation, Revocations } from './revocations.ts'
import { Steps } from './steps.ts'
import { Suspects } from './suspects.ts'

/** A node is taken for dead after this many beats. */
const BEATS = 3
/** A beat that failed is repeated after this part of the time between two, or others could look twice once the store is back, and see none. */
const AGAIN = 1 / 5
/** How many messages from before its start a node reads, and how many it reads again for one session. The bus does not keep more. */
const MOST_READ = 10_000
const PAGE = 500
/** How many changes wait while the store is away. Beyond that, everything has changed. */
const MOST_WAITING = 1000
const ALL = 'all'
/** How often a node says so at most: sessions that watch something have much to do then. */
const ALL_MS = 500

/** This process among those that serve the same clients: it is known to the others, and exchanges messages with them. */
export class Node {
  /** Tells its messages from those of all other processes, also of one that gets its number. */
  readonly #id: string = crypto.randomUUID()
  #number: number
  /** The numbers that it had before, which the registry has lost. */
  readonly #formerNumbers = new Set<number>()
  /** Whether the registry may have lost this node: it lost its data, or the node said nothing for a day. */
  #isUnknown = false
  #isBeating = false
  #hasLeft = false
  /** Whether no other node goes on when this one ends. */
  isLast = false
  readonly stores: NodeStores
  /** Counts what callers send to other nodes through this one. */
  readonly forwarded: Forwarded = new Forwarded()
  /** The nodes that seem dead. */
  readonly suspects: Suspects
  readonly #options: NodeOptions
  readonly #listeners = new Set<NodeListener>()
  /** Long answers to questions of other nodes. */
  readonly offers: Offers = new Offers(this, this.#listeners)
  readonly #history: ChangeHistory
  #position = 0
  /** The position of the newest message when the node started; resolves once it has read up to there. */
  #startedAt = 0
  readonly #started = new Deferred<void>()
  /** What makes another message superfluous, for each change that waits to be published. Other messages do not count: clients cause them. */
  readonly #waiting = new Set<unknown>()
  #marks = 0
  readonly #steps: Steps
  readonly #revocations: Revocations
  #timer: ReturnType<typeof setInterval> | undefined
  #again: ReturnType<typeof setTimeout> | undefined
  #unsubscribe: (() => void) | undefined
  readonly #all = new Rarely(ALL_MS, () => this.#sendAll())
  #questions = 0
  #streams = 0

  private constructor(number: number, options: NodeOptions) {
    this.#number = number
    this.stores = options.stores
    this.#options = options
    this.suspects = new Suspects(options.beatMs)
    this.#listeners.add(this.offers)
    if (options.listener !== undefined) this.#listeners.add(options.listener)
    const { stores, server } = options
    this.#history = new ChangeHistory(stores, server)
    this.#revocations = new Revocations(stores.events, server, (sent) => this.#tell(sent, 0))
    this.#steps = new Steps((error) =>
      options.report('error', 'a message to other nodes was lost', { error }),
    )
  }

  /** Joins the nodes of a server. Throws if there are others with which it does not share every kind of store. */
  static async join(options: NodeOptions): Promise<Node> {
    const { server, inMemory, stores, beatMs } = options
    const { number, others } = await stores.nodes.join({ server, inMemory }, beatMs * BEATS)
    const node = new Node(number, options)
    try {
      checkShared(server, inMemory, others)
      await node.#begin()
    } catch (error) {
      await node.leave()
      throw error
    }
    return node
  }

  /** Its number, which no other living node has. It changes if the registry of nodes does not know this one any more. */
  get number(): number {
    return this.#number
  }

  /** The name of the server. */
  get server(): string {
    return this.#options.server
  }

  /** How often it says that it is alive. */
  get beatMs(): number {
    return this.#options.beatMs
  }

  /** The position up to which this node passes nothing on any more: of the last message that it has seen, or of the newest one when it started. */
  get position(): number {
    return Math.max(this.#position, this.#startedAt)
  }

  /** An id for a question that no other node uses. */
  nextQuestion(): number {
    return this.number * QUESTIONS + ++this.#questions
  }

  /** Whether another node may have asked the question with this id. */
  isForeign(id: unknown): boolean {
    return Number.isSafeInteger(id) && (id as number) > QUESTIONS && askerOf(id as number) !== this.number
  }

  /** Whether this node may have asked the question with this id, perhaps under an earlier number. */
  mayHaveAsked(id: unknown): boolean {
    return !this.isForeign(id) || this.#formerNumbers.has(askerOf(id as number))
  }

  /** A name for a stream that no other node uses. */
  nextStream(): string {
    return `r${this.number}x${(++this.#streams).toString(36)}`
  }

  /** Calls the listener with messages from now on. Returns a function that ends this. */
  listen(listener: NodeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Publishes a message. Resolves once it is certain that all nodes get it. */
  async publish(message: NodeMessage): Promise<void> {
    await this.stores.changes.publish(this.#write(message))
  }

  /** Publishes a message in the background, and again until it succeeds. While it waits, others with the same key are superfluous. */
  send(message: NodeMessage, key?: unknown): void {
    if (key !== undefined && this.#waiting.has(key)) return
    const text = this.#write(message, ++this.#marks)
    if (key !== undefined) this.#waiting.add(key)
    // The bus can have it only after this position; undefined if it cannot have it yet.
    let after: number | undefined
    this.#steps.add(async () => {
      // From here on, another such message is news.
      if (after === undefined) this.#waiting.delete(key)
      else if (await this.#isPublished(text, after)) return
      after ??= this.position
      await this.stores.changes.publish(text)
    })
  }

  /** Publishes a change in the background; throws if it cannot be written as JSON. */
  sendChange(change: SentChange): void {
    const isFew = this.#waiting.size < MOST_WAITING || classOf(change) === 'lists'
    if (isFew && !(this.#waiting.has(ALL) && classOf(change) === 'updates'))
      return this.send({ kind: 'changed', change }, keyOf(change))
    if (this.#waiting.has(ALL)) return
    this.#waiting.add(ALL)
    this.#all.request()
  }

  #sendAll(): void {
    // The next one may be sent only after this one.
    this.#waiting.delete(ALL)
    this.send({ kind: 'all_changed', lost: 'updates' }, ALL)
    this.#steps.add(() => this.#all.done())
  }

  /** Publishes a revocation in the background, and keeps it for nodes that start later. */
  sendRevocation(message: Revocation): Promise<void> {
    const text = this.#write(message)
    this.#steps.add(() => publishRevocation(this.stores, this.server, text))
    return this.#steps.reached()
  }

  /** Tells all nodes in the background that another one is dead, whose lease may not be over. */
  declareDead(number: number): void {
    this.#steps.add(() => this.stores.nodes.leave(number))
    this.send({ kind: 'died', node: number })
  }

  /** The changes after a position, up to another one that is on the bus. */
  async changesAfter(after: number, upTo: number): Promise<PastChanges> {
    await this.#started.promise
    const found = upTo <= this.#position ? await this.#history.find(after, upTo) : NOTHING_KNOWN
    if (found.lost.length === 0 || upTo - after > MOST_READ || this.#history.isUnknown(after, upTo))
      return found
    const changes = await this.#readAgain(after, upTo)
    return changes === undefined ? found : { changes, lost: [] }
  }

  /** Whether the node may have to ask the store for the changes after a position. */
  hasForgotten(position: number): boolean {
    return !this.#history.hasAllAfter(position) || this.#position < this.#startedAt
  }

  /** Resolves when everything is published that was sent in the background until now. */
  announced(): Promise<void> {
    this.#all.flush()
    return this.#steps.reached()
  }

  /** Resolves when everything sent in the background is published. */
  sent(): Promise<void> {
    this.#all.flush()
    return this.#steps.done()
  }

  /** Ends the membership. */
  async leave(): Promise<void> {
    this.#hasLeft = true
    clearInterval(this.#timer)
    clearTimeout(this.#again)
    this.#all.stop()
    this.#started.resolve()
    this.#steps.stop()
    this.offers.stop()
    this.#unsubscribe?.()
    this.#listeners.clear()
    try {
      await this.stores.nodes.leave(this.number)
    } catch {
      // The others notice it without a message.
    }
  }

  async #begin(): Promise<void> {
    const { changes } = this.stores
    this.#startedAt = await changes.position()
    const from = Math.max(0, this.#startedAt - MOST_READ)
    this.#history.start(from)
    this.#moveTo(from)
    this.#unsubscribe = await changes.subscribe(
      this.#position,
      (message) => this.#take(message),
      (newest) => this.#takeGap(newest),
    )
    await this.#revocations.read()
    this.#timer = setInterval(() => void this.#beat(), this.#options.beatMs)
    this.#timer.unref?.()
  }

  async #beat(): Promise<void> {
    // One at a time, since two could both join again.
    if (this.#isBeating) return
    this.#isBeating = true
    clearTimeout(this.#again)
    const { nodes } = this.stores
    try {
      const wasAlive = await nodes.beat(this.number, this.#options.beatMs * BEATS)
      this.suspects.reached()
      if (!wasAlive && !(await nodes.isAlive(this.number))) this.#isUnknown = true
      if (this.#isUnknown && !this.#hasLeft) await this.#rejoin()
      if (this.#revocations.areMissed) await this.#revocations.read()
      for (const listener of this.#listeners) this.#call(() => listener.onBeat?.())
    } catch {
      // The next one may succeed.
      if (!this.#hasLeft) this.#again = setTimeout(() => void this.#beat(), AGAIN * this.#options.beatMs)
      this.#again?.unref?.()
    } finally {
      this.#isBeating = false
    }
  }

  /** Joins with another number. */
  async #rejoin(): Promise<void> {
    const { server, inMemory, beatMs, report } = this.#options
    const { number, others } = await this.stores.nodes.join({ server, inMemory }, beatMs * BEATS)
    if (this.#hasLeft) return this.stores.nodes.leave(number)
    this.#isUnknown = false
    const former = this.#number
    this.#formerNumbers.add(former)
    this.#number = number
    report('warning', 'the store had lost this node, which has joined again', { number })
    const known = others.filter((other) => other.number !== former)
    this.#call(() => checkShared(server, inMemory, known))
  }

  /** Reads the changes between two positions on the bus; undefined if that does not have all of them. */
  async #readAgain(after: number, upTo: number): Promise<readonly KnownChange[] | undefined> {
    const found: KnownChange[] = []
    for (let at = after; at < upTo;) {
      const page = await this.stores.changes.read(at, PAGE)
      const last = page?.at(-1)
      if (page === undefined || last === undefined) return undefined
      for (const one of page) {
        const message = this.#read(one)?.message
        if (message?.kind === 'all_changed') return undefined
        if (message?.kind === 'changed') found.push({ position: one.position, change: message.change })
      }
      at = last.position
    }
    return found.filter(({ position }) => position <= upTo)
  }

  #write(message: NodeMessage, mark?: number): string {
    return writeMessage({ server: this.server, sender: this.#id, message, mark })
  }

  /** Whether the bus has a message after a position. If its answer was lost, nobody else knows. */
  async #isPublished(text: string, after: number): Promise<boolean> {
    for (let at = after; ;) {
      const page = await this.stores.changes.read(at, PAGE)
      const last = page?.at(-1)
      // Without the messages of that time, a change that is announced twice is better than one that is not.
      if (page === undefined || last === undefined) return false
      if (page.some((one) => one.text === text)) return true
      at = last.position
    }
  }

  /** Reads a message; undefined if it is not for the nodes of this server. */
  #read({ text }: BusMessage): ReturnType<typeof readMessage> {
    const sent = readMessage(text)
    return sent?.server === this.server ? sent : undefined
  }

  #take(received: BusMessage): void {
    const { position } = received
    const sent = this.#read(received)
    const message = sent?.message
    if (message?.kind === 'changed') this.#history.add({ position, change: message.change })
    this.#moveTo(position)
    if (position >= this.#startedAt) this.#history.heard(position)
    if (sent === undefined || message === undefined) return
    if (message.kind === 'all_changed') {
      const lost: readonly ChangeClass[] = message.lost === 'updates' ? ['updates'] : CHANGE_CLASSES
      this.#history.beginUnknown(position, lost)
      return this.#tellAllChanged(position, lost, false)
    }
    // Of the time before its start, a node needs to know only what stays true.
    const isPast = position <= this.#startedAt
    if (message.kind === 'died') this.suspects.confirm(message.node)
    else if (message.kind === 'revoked' ? this.#revocations.isKnown(message) : isPast) return
    this.#tell(sent, isPast ? 0 : position)
  }

  #tell(sent: SentMessage | undefined, position: number): void {
    if (sent === undefined) return
    const { message, sender } = sent
    const isOwn = sender === this.#id
    for (const listener of this.#listeners) this.#call(() => listener.onMessage(message, isOwn, position))
  }

  #takeGap(newest: number): void {
    if (newest <= this.#position) this.#takeLoss(newest)
    this.#history.beginAfter(newest)
    this.#moveTo(newest)
    this.#tellAllChanged(newest, CHANGE_CLASSES, true)
    // If they cannot be read now, the next beat tries again.
    this.#revocations.read().catch(() => undefined)
  }

  /** Positions only come again if the bus has lost its data. So all messages from now on are new, and the number of this node may be given to another. */
  #takeLoss(newest: number): void {
    this.#startedAt = -1
    this.#isUnknown = true
    this.#history.restart(newest)
    void this.#beat()
  }

  #tellAllChanged(newest: number, lost: readonly ChangeClass[], hasMissed: boolean): void {
    if (newest <= this.#startedAt) return
    for (const listener of this.#listeners) this.#call(() => listener.onAllChanged(newest, lost, hasMissed))
  }

  #moveTo(position: number): void {
    this.#position = position
    if (position >= this.#startedAt) this.#started.resolve()
  }

  #call(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#options.report('error', 'a message of another node could not be used', { error })
    }
  }
}
