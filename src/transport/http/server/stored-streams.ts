import { mcpError } from '../../../errors/error.ts'
import { STREAM_EXISTS, UNKNOWN_EVENT } from '../../../errors/http.ts'
import type { Node } from '../../../nodes/node.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventHead, EventRoom } from '../../../rpc/event-store.ts'
import { isPrimed, lastEventId, readEventId } from './event-stream.ts'
import { toStream } from './exchange.ts'
import { messageEvent } from '../../../wire/sse.ts'
import type { Headers, HttpOut, Sink } from './parts.ts'
import { responseIn } from './lost-response.ts'
import { pagesOf } from './recent-pages.ts'
import type { Replica, ReplicaSession } from './replica.ts'
import { STANDALONE, type HttpSession } from './sessions.ts'
import { StreamFollower, type FollowerOptions } from './stream-follower.ts'
import { Turns } from './turns.ts'

export interface StreamParts {
  readonly node: Node
  readonly room: EventRoom
  readonly idleMs: number
  /** A client that leaves more bytes unread is disconnected. */
  readonly maxUnread: number
  onError(error: unknown): void
}

/** The stream of a session that is open at this node. */
interface Claim {
  follower: StreamFollower | undefined
  /** Whether all nodes know it, so that a later one replaces it. */
  isKnown: boolean
  /** Whether the client has opened the stream at another node. */
  isReplaced: boolean
  /** The last event that the client has seen, once the store says that the stream is open here. */
  noted: number | undefined
}

/** The streams of requests, by the names that nodes give them. */
const REQUEST_STREAM = /^r\d+x/
/** How many clients of this node may read one stream at the same time. One that resumes may not know yet that its last connection is lost. */
const MOST_FOLLOWERS = 8

/** Sends clients the events of their sessions that are in the store: of the stream of a session, and of requests that another node runs. */
export class StoredStreams {
  readonly #parts: StreamParts
  readonly #claims = new Map<string, Claim>()
  readonly #steps: Steps
  /** The latest note about each session that waits for the store: a client that opens its stream again and again must not keep others waiting. */
  readonly #notes = new Map<string, string>()
  /** The streams of requests that clients of this node read. */
  readonly #followed = new Set<StreamFollower>()
  /** Streams may be large, so a session reads one page at a time, and counts it before the next. */
  readonly #reads = new Turns()

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.#steps = new Steps((error) => parts.onError(error))
  }

  /** Opens the stream of a session. It begins after the last event that any node has sent. */
  open(session: HttpSession, headers: Headers): Promise<HttpOut> {
    if (this.#claims.has(session.id)) throw mcpError(STREAM_EXISTS, {})
    return this.#standalone(session, undefined, headers)
  }

  /** Continues a stream after an event. `check` throws if the caller has left too much unread. */
  async resume(
    session: HttpSession,
    eventId: string,
    headers: Headers,
    check: () => void = () => undefined,
  ): Promise<HttpOut> {
    const { events } = this.#parts.node.stores
    const place = readEventId(eventId)
    if (place === undefined) throw mcpError(UNKNOWN_EVENT, {})
    const { name, seq, isLast } = place
    const head = await this.#reads.run(session.id, () => {
      check()
      return events.head(session.id, name)
    })
    const isOfRequest = REQUEST_STREAM.test(name)
    if (head === undefined && !isOfRequest) throw mcpError(UNKNOWN_EVENT, {})
    // Tells the client not to reconnect: nothing follows.
    if (head === undefined || (isLast && isOfRequest)) return { status: 204, headers }
    if (head.isOver && seq >= head.next - 1) return this.#end(session, { name, seq }, head, headers)
    if (seq + 1 < head.first) throw mcpError(UNKNOWN_EVENT, {})
    if (name === STANDALONE) {
      this.#replace(session.id)
      return this.#standalone(session, seq, headers)
    }
    return toStream(this.#follow(session, name, seq, { mayBegin: () => passes(check) }), headers)
  }

  /** Notices that a node has opened the stream of a session: its client reads it only once. */
  attached(session: string, isOwn: boolean): void {
    const claim = this.#claims.get(session)
    if (claim === undefined) return
    if (isOwn) claim.isKnown = true
    else if (claim.isKnown) this.#replace(session)
  }

  /** Says that the stream of a session is still open here. */
  prolong({ id }: ReplicaSession): void {
    const follower = this.#claims.get(id)?.follower
    if (follower !== undefined) this.#note(id, this.#parts.node.number, follower.sent)
  }

  /** Ends the streams of requests whose nodes are dead. One look at a node does for all its streams. */
  async look(): Promise<void> {
    const followed = [...this.#followed].map((follower) => [nodeOf(follower.writer), follower] as const)
    for (const number of new Set(followed.map(([one]) => one)))
      if (number > 0 && (await this.#isDead(number))) {
        const lost = followed.flatMap(([one, follower]) => (one === number ? [follower] : []))
        await Promise.allSettled(lost.map((follower) => this.#endLost(follower)))
      }
  }

  /** Forgets the streams of an ended session, in the background. */
  forget(session: string): void {
    const { cache, events } = this.#parts.node.stores
    this.#steps.add(() => events.forget(session))
    this.#steps.add(() => cache.delete(keyOf(session)))
  }

  /** Resolves when all nodes can know which streams are open. */
  done(): Promise<void> {
    return this.#steps.done()
  }

  stop(): void {
    this.#steps.stop()
  }

  #replace(session: string): void {
    const claim = this.#claims.get(session)
    if (claim === undefined) return
    claim.isReplaced = true
    this.#claims.delete(session)
    claim.follower?.end()
  }

  async #standalone(session: HttpSession, resumed: number | undefined, headers: Headers): Promise<HttpOut> {
    const { node, room } = this.#parts
    const { id } = session
    const claim: Claim = { follower: undefined, isKnown: false, isReplaced: false, noted: undefined }
    this.#claims.set(id, claim)
    try {
      const after = await this.#claim(id, claim, resumed)
      const { notices } = session.shared as Replica
      await notices.open()
      if (isPrimed(session.session.dialect))
        await node.stores.events.append(id, STANDALONE, { text: '' }, room)
      if (claim.isReplaced) throw mcpError(STREAM_EXISTS, {})
      claim.follower = this.#follow(session, STANDALONE, after, {
        onDetached: (sent) => this.#release(id, claim, sent),
      })
      return toStream(claim.follower, headers)
    } catch (error) {
      if (this.#claims.get(id) === claim) this.#claims.delete(id)
      // Otherwise the client could not open the stream at another node as long as this one lives.
      if (claim.noted !== undefined && !claim.isReplaced) this.#note(id, 0, claim.noted)
      throw error
    }
  }

  /** Claims the stream of a session for this node; answers the last event that the client has seen. */
  async #claim(session: string, claim: Claim, resumed: number | undefined): Promise<number> {
    const { node, idleMs } = this.#parts
    const { cache, nodes } = node.stores
    const key = keyOf(session)
    if (await cache.add(key, `${node.number} ${resumed ?? -1}`, idleMs)) {
      claim.isKnown = true
      return (claim.noted = resumed ?? -1)
    }
    const [holder = 0, sent = -1] = ((await cache.get(key)) ?? '').split(' ').map(Number)
    const isElsewhere = holder !== 0 && holder !== node.number
    if (resumed === undefined && isElsewhere && (await nodes.isAlive(holder)))
      throw mcpError(STREAM_EXISTS, {})
    const after = resumed ?? sent
    await cache.set(key, `${node.number} ${after}`, idleMs)
    claim.noted = after
    await node.publish({ kind: 'attached', session })
    return after
  }

  #release(session: string, claim: Claim, sent: number): void {
    if (this.#claims.get(session) === claim) this.#claims.delete(session)
    if (!claim.isReplaced) this.#note(session, 0, sent)
  }

  /** Notes in the background which node has the stream of a session open (0 for none), and what it has sent. */
  #note(session: string, node: number, sent: number): void {
    const { cache } = this.#parts.node.stores
    const isWaiting = this.#notes.has(session)
    this.#notes.set(session, `${node} ${sent}`)
    if (isWaiting) return
    let text: string | undefined
    this.#steps.add(async () => {
      text = this.#notes.get(session) ?? text
      this.#notes.delete(session)
      if (text !== undefined) await cache.set(keyOf(session), text, this.#parts.idleMs)
    })
  }

  #follow(
    session: HttpSession,
    name: string,
    after: number,
    { mayBegin, onDetached }: Pick<Partial<FollowerOptions>, 'mayBegin' | 'onDetached'>,
  ): StreamFollower {
    const { node, maxUnread, onError } = this.#parts
    const { followers } = session.shared as Replica
    const follower: StreamFollower = new StreamFollower({
      events: node.stores.events,
      pages: pagesOf(node),
      caller: session.countedFor,
      session: session.id,
      name,
      after,
      maxUnread,
      isLossy: name === STANDALONE,
      inTurn: (act) => this.#reads.run(session.id, act),
      ...(mayBegin !== undefined && { mayBegin }),
      onError,
      onWriter: () => this.#endIfLost(follower),
      onAttached: () => {
        endOldest(followers, name)
        followers.add(follower)
        if (name !== STANDALONE) this.#followed.add(follower)
      },
      onDetached: (sent) => {
        followers.delete(follower)
        this.#followed.delete(follower)
        onDetached?.(sent)
      },
    })
    return follower
  }

  /**
   * The end of a stream after an event, which is the last one that the store has, or one that it never had: the node may have died
   * before. Such a client has not got the response, which says so.
   */
  async #end(
    { id: session, countedFor: caller }: HttpSession,
    { name, seq }: { readonly name: string; readonly seq: number },
    { writer, next }: EventHead,
    headers: Headers,
  ): Promise<HttpOut> {
    const response = responseIn(writer)
    if (response === '') return { status: 204, headers }
    if (seq < next) {
      const place = { session, stream: name, after: seq - 1 }
      const resuming = { caller, isWanted: () => true }
      const read = await this.#reads.run(session, () => pagesOf(this.#parts.node).read(place, resuming))
      if ((read?.page?.events[0]?.text ?? response) !== response) return { status: 204, headers }
    }
    const event = messageEvent(response, lastEventId(name, seq + 1))
    const attach = (sink: Sink): void => {
      sink.write(event)
      sink.end()
    }
    return toStream({ attach }, headers)
  }

  /** Ends the stream of a request if its node is known to be dead. */
  #endIfLost(follower: StreamFollower): void {
    const number = nodeOf(follower.writer)
    if (!this.#followed.has(follower) || !this.#parts.node.suspects.isConfirmed(number)) return
    void this.#isDead(number)
      .then((isDead) => (isDead ? this.#endLost(follower) : undefined))
      .catch(() => undefined)
  }

  async #isDead(number: number): Promise<boolean> {
    const { stores, suspects } = this.#parts.node
    return suspects.isDead(number, await stores.nodes.isAlive(number))
  }

  /** Ends the stream of a request whose node is dead. */
  async #endLost({ session, name, writer }: StreamFollower): Promise<void> {
    const { node, room } = this.#parts
    const { events } = node.stores
    const response = responseIn(writer)
    // Nobody can answer the request, so its stream ends without a response.
    if (response === '') await events.forget(session, name)
    else await events.append(session, name, { text: response, isLast: true }, room)
  }
}

/** The node that writes a stream; 0 if that is not known. */
function nodeOf(writer: string): number {
  return Number(writer.slice(0, Math.max(0, writer.indexOf(' '))))
}

function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Makes room for another reader of a stream: a client reads it only once, so the oldest connection is most likely lost. */
function endOldest(followers: ReadonlySet<StreamFollower>, name: string): void {
  const same = [...followers].filter((one) => one.name === name)
  if (same.length >= MOST_FOLLOWERS) same[0]?.end()
}

function keyOf(session: string): string {
  return `stream:${session}`
}
