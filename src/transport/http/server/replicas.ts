import { delayOf, pause } from '../../../base/backoff.ts'
import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_ACCEPT, NODE_STOPPING } from '../../../errors/http.ts'
import { AT_ONCE } from '../../../errors/retry-after.ts'
import { dropAnswer } from '../../../nodes/offers.ts'
import type { NodeMessage } from '../../../nodes/messages.ts'
import type { Node } from '../../../nodes/node.ts'
import type { AllChanged, NodeListener } from '../../../nodes/node-options.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { LATEST } from '../../../protocol/revisions.ts'
import { ownerOf, shuttingDown } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import { COUNTED_FOR, OWNER, SERVER, TRANSPORT, type SessionContents } from '../../../rpc/session-fields.ts'
import type { Session } from '../../../rpc/session.ts'
import type { StoredSession } from '../../../rpc/session-store.ts'
import { within } from '../../io/timer.ts'
import type { Endpoint } from './endpoint.ts'
import { EventStream } from './event-stream.ts'
import { readAccept } from './negotiate.ts'
import { callerOf, type Headers, type HttpIn, type HttpOut } from './parts.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { Replica, type ReplicaParts } from './replica.ts'
import { ANSWER_MS, answerTaken } from './send-answer.ts'
import type { HttpSession } from './sessions.ts'
import { ownFields, SessionUses } from './session-uses.ts'
import type { SharedSession } from './shared-part.ts'
import { StoredStreams } from './stored-streams.ts'

/** How a server shares its sessions with other nodes. */
export interface Sharing {
  readonly node: Node
  readonly contents: SessionContents
}

/** The longest time for which stores keep an unused session. */
export const LONGEST_IDLE_MS: number = 30 * 86_400_000
/** The pauses before a long answer is read again. */
const RETRY = { firstMs: 20, maxMs: 2000 }
const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Lets an endpoint serve the sessions of all nodes: it asks the store before each request, and tells the others what it changed. */
export class Replicas implements NodeListener {
  readonly #node: Node
  readonly #limits: Limits
  readonly #service: Service
  readonly #parts: ReplicaParts
  readonly #streams: StoredStreams
  readonly #uses: SessionUses
  #endpoint!: Endpoint
  #unlisten: () => void = () => undefined

  constructor({ node, contents }: Sharing, service: Service, limits: Limits) {
    this.#node = node
    this.#limits = limits
    this.#service = service
    const { streamEvents: events, streamBytes: bytes } = limits
    const idleMs = Math.min(limits.sessionIdleMs, LONGEST_IDLE_MS)
    const onError = (error: unknown): void => service.report('error', 'the store failed', { error })
    const room = { events, bytes, idleMs: 2 * idleMs }
    this.#streams = new StoredStreams({ node, room, idleMs, maxUnread: bytes, onError })
    const { notices, stored, forwarded, strays } = budgetsOf(service, limits)
    this.#parts = {
      node,
      contents,
      maxSessions: limits.sessions,
      idleMs,
      room,
      budget: notices,
      stored,
      forwarded,
      strays,
      isAwaited: true,
      // Whole numbers, as in the table of sessions.
      now: () => Math.floor(performance.now()),
      onError,
      onProlonged: (session) => this.#streams.prolong(session),
      onEnded: (id) => this.#ended(id),
    }
    this.#uses = new SessionUses((id, owner) => {
      const known = this.#endpoint.sessions.find(id)?.shared as Replica | undefined
      return node.stores.sessions.use(id, known?.version, idleMs, known ? undefined : ownFields(node, owner))
    })
  }

  /** The error of requests while the node stops: other nodes go on with its sessions, so clients keep theirs, unless all end. */
  readonly closingError = (): McpError =>
    this.#node.isLast ? shuttingDown() : mcpError(NODE_STOPPING, {}, AT_ONCE)

  /** Gives a session the part that all nodes share. */
  readonly share = (session: HttpSession): SharedSession => new Replica(session, this.#parts)

  /** Begins to serve the sessions of other nodes at an endpoint. */
  begin(endpoint: Endpoint): void {
    this.#endpoint = endpoint
    this.#unlisten = this.#node.listen(this)
  }

  /** Answers a request with what all nodes know of its session, and only when they can know what it changed. */
  async answer(request: HttpIn): Promise<HttpOut> {
    const id = request.header('mcp-session-id')
    if (id !== undefined && SESSION_ID.test(id) && request.header('mcp-protocol-version') !== LATEST) {
      try {
        await this.#use(id, request)
      } catch (error) {
        request.problem = notRun(error)
      }
    }
    try {
      const out = await this.#endpoint.answer(request, true)
      await this.#finish(request, out)
      return out
    } catch (thrown) {
      const headers = request.cors ?? this.#endpoint.guard.cors(request)
      return this.#endpoint.fail(undefined, thrown, undefined, headers)
    }
  }

  /** The reply to GET; undefined if the stream to resume is in this process. */
  get(session: HttpSession, request: HttpIn, headers: Headers): Promise<HttpOut> | undefined {
    if (!readAccept(request).events) throw mcpError(BAD_ACCEPT, {})
    const lastEventId = request.header('last-event-id')
    if (lastEventId === undefined) return this.#streams.open(session, headers)
    if (session.holds(lastEventId)) return undefined
    const { write } = budgetsOf(this.#service, this.#limits)
    return this.#streams.resume(session, lastEventId, headers, () => write.check(callerOf(request)))
  }

  onBeat(): void {
    this.#streams.look().catch(() => undefined)
  }

  waitsFor(session: string, question: number): boolean {
    return this.#endpoint.sessions.find(session)?.session.pending.has(question) === true
  }

  onMessage(message: NodeMessage, isOwn: boolean): void {
    if (message.kind === 'died') this.onBeat()
    if (message.kind === 'taken') answerTaken(this.#parts, message.key)
    if (!('session' in message)) return
    const session = this.#endpoint.sessions.find(message.session)
    if (message.kind === 'ended') {
      this.#parts.budget.forget(message.session)
      this.#parts.stored.forget(message.session)
    }
    if (message.kind === 'attached') this.#streams.attached(message.session, isOwn)
    if (session === undefined) return
    if (message.kind === 'cancelled') session.calls.cancel(message.params)
    if (message.kind === 'subscribed') (session.shared as Replica).subscribed(message)
    if (message.kind === 'ended') this.#endpoint.sessions.end(session)
    if (message.kind === 'answered')
      settleHere(this.#node, session.session, message).catch((error) => this.#parts.onError(error))
  }

  onAllChanged(...changed: AllChanged): void {
    for (const { session, shared } of this.#endpoint.sessions)
      session.whenReady(() => (shared as Replica).notices.allChanged(...changed), shared)
  }

  /** Disconnects the clients that read streams from the store, so that they continue at another node. */
  endStreams(): void {
    for (const { shared } of this.#endpoint.sessions) (shared as Replica).endFollowers()
  }

  /** Waits until the store has everything, up to a limit. */
  async close(limitMs: number): Promise<void> {
    this.endStreams()
    const all = [...this.#endpoint.sessions].map(({ shared }) => (shared as Replica).flushed())
    await within(limitMs, (done) => void Promise.all([this.#streams.done(), ...all]).then(done))
    this.#streams.stop()
    this.#unlisten()
  }

  /** Makes sure that this node knows a session as it is in the store, or does not know it. */
  async #use(id: string, request: HttpIn): Promise<void> {
    const owner = ownerOf(request.auth)
    const known = this.#endpoint.sessions.find(id)
    if (known !== undefined && known.owner !== owner) return
    await this.#uses.use(id, owner, (stored) => this.#take(id, stored, request))
  }

  #take(id: string, stored: StoredSession | undefined, request: HttpIn): void | Promise<void> {
    const { sessions } = this.#endpoint
    const session = sessions.find(id)
    // The session of another caller, which the answer is not about.
    if (session !== undefined && session.owner !== ownerOf(request.auth)) return
    if (stored === undefined) {
      if (session !== undefined) sessions.end(session)
    } else if (session !== undefined) {
      ;(session.shared as Replica).refresh(stored, request)
      sessions.touch(session)
    } else if (stored.fields === undefined) return this.#use(id, request)
    else this.#adopt(id, stored, stored.fields, request)
  }

  /** Makes a replica of a session, for its owner only. */
  #adopt(id: string, stored: StoredSession, fields: ReadonlyMap<string, string>, request: HttpIn): void {
    const { sessions, sweeper } = this.#endpoint
    const owner = fields.get(OWNER)
    if (fields.get(SERVER) !== this.#node.server || fields.has(TRANSPORT)) return
    if (owner !== ownerOf(request.auth)) return
    const session = sessions.create(request, { id, owner, countedFor: fields.get(COUNTED_FOR) ?? owner })
    try {
      ;(session.shared as Replica).refresh(stored, request)
      sessions.keep(session)
    } catch (error) {
      session.close()
      throw error
    }
    sweeper.begin()
  }

  async #finish(request: HttpIn, out: HttpOut): Promise<void> {
    const session = request.session as HttpSession | undefined
    if (out.stream instanceof EventStream) await out.stream.recorder?.opened
    if (session === undefined) return
    const settled = (session.shared as Replica).settled()
    if (out.status === 202) await settled
    // A batch may contain answers and notifications beside requests, whose results count.
    else await settled.catch((error: unknown) => this.#parts.onError(error))
    if (request.method === 'DELETE' && out.status === 200) await this.#end(session.id)
  }

  async #end(id: string): Promise<void> {
    await this.#node.stores.sessions.end(id)
    this.#ended(id)
  }

  /** A session has ended in the store. */
  #ended(id: string): void {
    const session = this.#endpoint.sessions.find(id)
    if (session !== undefined) this.#endpoint.sessions.end(session)
    this.#streams.forget(id)
    this.#node.send({ kind: 'ended', session: id })
  }
}

/** Settles a question of this node with an answer that arrived at another one. A long answer is in the cache; if it cannot be had, the question fails. */
export async function settleHere(
  node: Node,
  { pending }: Session,
  { key, answer, id }: NodeMessage & { readonly kind: 'answered' },
): Promise<void> {
  if (!node.mayHaveAsked(id ?? answer?.id)) return
  if (key === undefined) return void (answer !== undefined && pending.settle(answer))
  if (id !== undefined && !pending.has(id)) return
  let text: string | undefined
  try {
    text = await readPatiently(() => node.stores.cache.get(key))
  } finally {
    const lost = { ...(id !== undefined && { id }), error: ANSWER_LOST }
    pending.settle(text === undefined ? lost : (JSON.parse(text) as Message))
    // Nobody waits for that.
    void dropAnswer(node, key)
  }
}

const ANSWER_LOST = { code: -32603, message: 'its answer was lost on the way between two nodes' }

/** Reads a long answer, again while the store is away; undefined if that takes longer than the cache keeps it. */
async function readPatiently(
  read: () => string | undefined | Promise<string | undefined>,
): Promise<string | undefined> {
  const until = performance.now() + ANSWER_MS
  for (let failures = 0; performance.now() < until; failures++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof McpError && error.retryable)) throw error
      await pause(delayOf(failures, RETRY, Math.random))
    }
  }
  return undefined
}

/** The error of a store for a request that has not begun, so that clients may repeat it. */
export function notRun(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  if (!(error instanceof McpError) || error.kind !== 'store_unreachable') return error
  const { message, retryAfterMs } = error
  return new McpError(error.kind, message, { refusal: 'SERVICE_UNAVAILABLE', retryAfterMs, cause: error })
}
