import { mcpError } from '../../../errors/error.ts'
import { SESSION_LIMIT } from '../../../errors/limits.ts'
import { LATER, MUCH_LATER } from '../../../errors/retry-after.ts'
import { OVERLOADED } from '../../../errors/rpc.ts'
import { sizeOf } from '../../../nodes/forwarded.ts'
import type { JsonObject, Message, RequestId } from '../../../protocol/jsonrpc.ts'
import type { RequestSource } from '../../../rpc/call.ts'
import type { Session } from '../../../rpc/session.ts'
import type { EventRoom } from '../../../rpc/event-store.ts'
import {
  COUNTED_FOR,
  OWNER,
  POSITION,
  REVISION,
  SERVER,
  URI,
  type SessionContents,
} from '../../../rpc/session-fields.ts'
import type { FieldChanges, StoredSession } from '../../../rpc/session-store.ts'
import type { NoticeBudget } from '../../io/notice-budget.ts'
import type { StoredBytes } from '../../io/stored-bytes.ts'
import { lostResponse } from './lost-response.ts'
import { NoticeWriter } from './notice-writer.ts'
import { ReplicaFields } from './replica-fields.ts'
import { sendAnswer, type AnswerParts } from './send-answer.ts'
import { FRESH_MS } from './sessions.ts'
import type { SharedSession } from './shared-part.ts'
import type { StreamFollower } from './stream-follower.ts'
import { StreamRecorder } from './stream-recorder.ts'
import { toCancelled, toSubscribed, type Subscribed } from './subscribed.ts'

/** A session as its replica sees it. */
export interface ReplicaSession {
  readonly id: string
  readonly owner: string
  /** The caller or the network whose sessions it is counted with. */
  readonly countedFor: string
  readonly session: Session
  /** Whether it is in use at this node. */
  readonly busy: boolean
  /** Whether this node sends its messages over a connection, and counts what the store keeps of them. */
  readonly isConnected?: boolean
  /** Called before changes are saved: what changes with every message is looked at once for each save. */
  beforeSave?(): void
}

/** The parts of a transport that its replicas use. */
export interface ReplicaParts extends AnswerParts {
  readonly contents: SessionContents
  /** How many sessions the store may have. */
  readonly maxSessions: number
  /** How long an unused session lives. */
  readonly idleMs: number
  readonly room: EventRoom
  /** Counts the notifications that the store keeps. */
  readonly budget: NoticeBudget
  /** Counts the subscriptions that the store keeps. */
  readonly stored: StoredBytes
  /** Whether the request that a message to other nodes belongs to waits for it, and learns of its failure. */
  readonly isAwaited: boolean
  now(): number
  onError(error: unknown): void
  /** Called now and then while the session is in use. */
  onProlonged(session: ReplicaSession): void
  /** Called when the session turns out to have ended, or was evicted for another one. */
  onEnded(session: string): void
}

/** How long nothing is saved for a caller that has sent too much: each attempt looks at all that it would send. */
const REFUSED_MS = 1000

/** What one node knows of a session that all nodes serve. There may be very many, so what most of them do not need is created on first use. */
export class Replica implements SharedSession {
  readonly #parts: ReplicaParts
  readonly #session: ReplicaSession
  readonly #fields = new ReplicaFields()
  #creating: Promise<void> | undefined
  #saving: Promise<void> | undefined
  /** Messages to other nodes that are on their way. */
  #messages: Set<Promise<void>> | undefined
  #notices: NoticeWriter | undefined
  /** The position of the last change that the client need not be notified of, as long as there is no writer. */
  #heard: number | undefined
  #recorders: Set<StreamRecorder> | undefined
  #followers: Set<StreamFollower> | undefined
  /** When the store last noted a use of the session, and when it last prolonged its streams. They begin as numbers, which can then be replaced in place. */
  #usedAt = 0
  #touchedAt = 0
  /** Whether the store knows the client, which is not so before its handshake. */
  #isIntroduced = false
  #isClosed = false
  #refusedUntil = 0

  constructor(session: ReplicaSession, parts: ReplicaParts) {
    this.#session = session
    this.#parts = parts
    this.#usedAt = this.#touchedAt = parts.now()
  }

  /** The version in the store that it has; undefined before the session is there. */
  get version(): number | undefined {
    return this.#fields.version
  }

  /** What the store may not have. */
  get unsaved(): Iterable<readonly [string, string | null]> {
    return this.#fields.unsaved
  }

  get isFollowed(): boolean {
    return this.#followers !== undefined && this.#followers.size > 0
  }

  get followers(): Set<StreamFollower> {
    return (this.#followers ??= new Set())
  }

  /** The writer of its notifications. A new session needs no changes from before. */
  get notices(): NoticeWriter {
    return (this.#notices ??= this.#newNotices(this.#heard ?? this.#parts.node.position))
  }

  /** Takes over what the store knows; throws if there is no room for it. `source` is a request of the owner. */
  refresh(stored: StoredSession, source: RequestSource): void {
    this.#usedAt = this.#parts.now()
    this.#touchSometimes()
    const isNew = this.version === undefined
    const news = this.#fields.newsIn(stored)
    if (news === undefined) return
    const { session } = this.#session
    const { contents } = this.#parts
    const named = stored.changes ?? stored.fields
    const position = named?.get(POSITION) ?? (news.fields && '0')
    if (isNew) [this.#heard, this.#notices] = [Number(position), undefined]
    else if (!session.ready && typeof position === 'string') this.#begin(Number(position))
    this.#unheard(() => {
      if (news.fields === undefined) contents.change(session, news.changes, source)
      else contents.restore(session, news.fields, source)
    })
    this.#fields.reached(stored.version, news)
    this.#isIntroduced ||= named?.has(REVISION) === true
    if (isNew) this.#catchUp()
  }

  /** Throws if the store keeps too many subscriptions of the caller. */
  change(field: string, value: string | null): void {
    if (field.startsWith(URI)) this.#countUri(field, value !== null)
    this.#fields.set(field, value)
    // A request that waits for it learns of a failure; the next one tries again.
    queueMicrotask(() => void this.saved()?.catch(() => undefined))
  }

  /** Watches the resources that the client named at another node, unless the version that this one has is later. */
  subscribed({ added, removed, version }: Subscribed): void {
    const news = this.#fields.newsOf(added, removed, version)
    if (news !== undefined) this.#take(news)
  }

  /** Adds the session to the store before its handshake, with fields of its transport. */
  create(own: ReadonlyMap<string, string>): Promise<void> {
    return (this.#creating ??= this.#create(own))
  }

  saved(): Promise<void> | undefined {
    const { session } = this.#session
    if (this.version === undefined)
      return session.opened ? (this.#creating ??= this.#create()) : this.#creating
    if (session.opened && !this.#isIntroduced) this.#introduce()
    if (this.#saving === undefined) this.#session.beforeSave?.()
    if (!this.#fields.isUnsaved && this.#saving === undefined) return undefined
    if (this.#saving === undefined && this.#parts.now() < this.#refusedUntil)
      return Promise.reject(mcpError(OVERLOADED, {}, LATER))
    return (this.#saving ??= this.#save())
  }

  /** How many messages to other nodes have not arrived, or failed and are awaited. */
  get unsettled(): number {
    return this.#messages?.size ?? 0
  }

  /** Resolves once the store and the other nodes have everything; rejects if some of it could not be sent. */
  async settled(): Promise<void> {
    const messages = [...(this.#messages ?? [])]
    try {
      await Promise.all([this.saved(), ...messages])
    } finally {
      for (const one of messages) this.#messages?.delete(one)
    }
  }

  nextQuestion(): number {
    return this.#parts.node.nextQuestion()
  }

  newStream(id: RequestId | readonly RequestId[] | undefined): ReturnType<SharedSession['newStream']> {
    const { node, room, onError } = this.#parts
    const name = node.nextStream()
    const recorder: StreamRecorder = new StreamRecorder({
      events: node.stores.events,
      session: this.#session.id,
      name,
      writer: `${node.number} ${lostResponse(id, this.#session.session.dialect)}`,
      room,
      onError,
      onDone: () => this.#recorders?.delete(recorder),
    })
    ;(this.#recorders ??= new Set()).add(recorder)
    return { name, recorder }
  }

  notify(text: string, position: number | undefined): void {
    if (position !== -1) this.notices.add(text, position)
  }

  settle(answer: Message): void {
    const { node } = this.#parts
    if (node.isForeign(answer.id)) this.#send(() => sendAnswer(this.#parts, this.#session, answer))
  }

  cancel(params: JsonObject): void {
    const message = toCancelled(this.#session.id, params)
    if (message === undefined) return
    this.#send(async () => {
      this.#count(sizeOf(JSON.stringify(message)))
      await this.#parts.node.publish(message)
    })
  }

  sweep(): void {
    const { now, idleMs } = this.#parts
    if (!this.#session.busy || now() - this.#usedAt < idleMs / 3) return
    this.#usedAt = now()
    this.#touchSometimes()
    for (const recorder of this.#recorders ?? []) recorder.touch()
    this.#parts.onProlonged(this.#session)
    this.#prolong().catch(() => undefined)
  }

  keepAlive(): void {
    for (const follower of this.#followers ?? []) follower.keepAlive()
  }

  /** Disconnects the clients that read its streams from the store. */
  endFollowers(): void {
    for (const follower of this.#followers ?? []) follower.end()
  }

  /** Resolves when the store has all events of the session. */
  async flushed(): Promise<void> {
    const recorded = [...(this.#recorders ?? [])].map((recorder) => recorder.done())
    await Promise.all([this.#notices?.done(), ...recorded])
  }

  close(): void {
    this.#isClosed = true
    this.endFollowers()
    for (const recorder of this.#recorders ?? []) recorder.stop()
    this.#notices?.stop()
  }

  /** Takes over what others have changed. */
  #take(changes: FieldChanges): void {
    const { session, owner } = this.#session
    if (changes.size > 0) this.#unheard(() => this.#parts.contents.change(session, changes, owner))
  }

  /** Changes the session to what others know already, which is not saved again. */
  #unheard(act: () => void): void {
    const { session } = this.#session
    session.keeper = undefined
    try {
      act()
    } finally {
      session.keeper = this
    }
  }

  /** The client need not be notified of changes up to a position. */
  #begin(position: number): void {
    this.#heard = Math.max(this.#heard ?? this.#parts.node.position, position)
    this.#notices?.begin(position)
  }

  #newNotices(after: number): NoticeWriter {
    const { session, countedFor } = this.#session
    const { node, contents, room, budget, onError } = this.#parts
    const onMoved = (position: number): void => this.change(POSITION, String(position))
    const isCounted = (): boolean => this.#session.isConnected !== true
    const parts = { node, contents, room, budget, onError, session, countedFor }
    const writer = new NoticeWriter({ ...parts, isCounted, after, onMoved })
    if (this.#isClosed) writer.stop()
    return writer
  }

  /** Tells the store of the client, once its handshake is over. */
  #introduce(): void {
    const { node, contents } = this.#parts
    this.#isIntroduced = true
    for (const [name, value] of contents.fieldsOf(this.#session.session)) this.#fields.set(name, value)
    this.#fields.set(POSITION, String(node.position))
    this.#begin(node.position)
  }

  /** Adds everything that has changed, once the client is ready. Until then, only the first change of each kind waits, and the client may get ready at another node. */
  #catchUp(): void {
    this.#session.session.whenReady(() => {
      const { position } = this.#parts.node
      if (this.#notices !== undefined || position !== this.#heard) this.notices.catchUp(position)
    }, this)
  }

  async #create(more: ReadonlyMap<string, string> = new Map()): Promise<void> {
    const { node, contents, maxSessions, idleMs, onEnded } = this.#parts
    const { id, countedFor, owner, session } = this.#session
    this.#isIntroduced = session.opened
    ;[this.#heard, this.#notices] = [node.position, undefined]
    this.#catchUp()
    const own: readonly (readonly [string, string])[] = [
      [SERVER, node.server],
      [OWNER, owner],
      [COUNTED_FOR, countedFor],
      [POSITION, String(node.position)],
    ]
    const introduced = session.opened ? contents.fieldsOf(session) : []
    const fields = new Map([...introduced, ...own, ...more, ...this.#fields.create()])
    const room = { sessions: maxSessions, freshMs: FRESH_MS }
    const created = await node.stores.sessions.create({ id, countedFor, fields, idleMs }, room)
    if (created === 'full') throw mcpError(SESSION_LIMIT, { limit: maxSessions }, MUCH_LATER)
    this.#fields.created()
    if (typeof created === 'object') onEnded(created.evicted)
  }

  async #save(): Promise<void> {
    const { node, onEnded } = this.#parts
    let leaving: FieldChanges = new Map()
    try {
      while (this.#fields.isUnsaved && !this.#isClosed) {
        leaving = this.#fields.leave()
        const subscribed = toSubscribed(this.#session.id, leaving)
        // Before the store has them, since a caller that sends too many must not.
        if (subscribed !== undefined) await this.#countSoon(sizeOf(JSON.stringify(subscribed)))
        const version = await node.stores.sessions.change(this.#session.id, leaving)
        if (version === undefined) return onEnded(this.#session.id)
        this.#take(this.#fields.arrived(version))
        if (subscribed !== undefined) await node.publish({ ...subscribed, version })
        leaving = new Map()
        this.#session.beforeSave?.()
      }
    } catch (error) {
      this.#fields.failed(leaving)
      throw error
    } finally {
      this.#saving = undefined
    }
  }

  async #prolong(): Promise<void> {
    const { node, idleMs, onEnded } = this.#parts
    const { id } = this.#session
    const stored = await node.stores.sessions.use(id, this.version, idleMs)
    if (stored === undefined) onEnded(id)
  }

  /** The streams of a session live as long as the session, although not every use is noted with them. */
  #touchSometimes(): void {
    const { now, idleMs } = this.#parts
    if (now() - this.#touchedAt < idleMs / 3) return
    this.#touchedAt = now()
    this.#parts.stored.touch({ session: this.#session.id, idleMs })
    this.notices.touch()
  }

  #countUri(field: string, isAdded: boolean): void {
    const { stored, idleMs } = this.#parts
    const { id: session, countedFor: caller } = this.#session
    if (isAdded) stored.take({ session, caller, idleMs }, field)
    else stored.free(session, field)
  }

  #send(send: () => Promise<void>): void {
    const sending = send()
    ;(this.#messages ??= new Set()).add(sending)
    const forget = (): void => void this.#messages?.delete(sending)
    sending.then(forget, this.#parts.isAwaited ? () => undefined : forget)
  }

  /** Counts what the caller sends to other nodes; throws if that is too much, since all of them would read it. */
  #count(size: number): void {
    if (this.#parts.node.forwarded.take(this.#session.countedFor, size)) return
    throw mcpError(OVERLOADED, {}, LATER)
  }

  /** The same for a save, which must not fail before it is under way. */
  async #countSoon(size: number): Promise<void> {
    this.#refusedUntil = this.#parts.now() + REFUSED_MS
    this.#count(size)
    this.#refusedUntil = 0
  }
}
