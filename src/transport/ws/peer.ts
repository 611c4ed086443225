import type { Socket } from 'node:net'
import { beginTurn, inNextTurn, isTurnOver } from '../../base/turn.ts'
import { mcpError, type McpError } from '../../errors/error.ts'
import { TOO_LARGE } from '../../errors/wire.ts'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type RequestSource } from '../../rpc/call.ts'
import type { LeaseEnd } from '../../rpc/leases.ts'
import type { Service } from '../../rpc/service.ts'
import { Connection } from '../io/connection.ts'
import { budgetsOf } from '../io/budgets.ts'
import { ReadBudget, senderOf } from '../io/read-budget.ts'
import { WriteBudget, type Outlet } from '../io/write-budget.ts'
import { afterMs, within } from '../io/timer.ts'
import { CLOSE, REFUSALS, type Refusal } from './close-codes.ts'
import type { ServerSocket } from './server-socket.ts'
import type { Carrier, ResumableSession, SharedPart } from './session.ts'

export interface PeerOptions {
  readonly service: Service
  readonly limits: Limits
  readonly socket: ServerSocket
  /** The bytes below the WebSocket. */
  readonly stream: Socket
  /** The caller and its address, if known. */
  readonly source: RequestSource
  /** The session that outlives the connection, if the client can resume. */
  readonly session: ResumableSession | undefined
}

/** Messages written in the same turn are sent together, up to this size. */
const BATCH_BYTES = 65_536
/** The bytes of a client's control frame besides its payload. */
const CONTROL_BYTES = 6
/** The memory that a fragment takes besides its payload. */
const FRAGMENT_BYTES = 256
/** How long a client has to complete the closing handshake. */
const CLOSE_MS = 2000
/** Stands for a message that was answered unread; no text in UTF-8 is the same. */
const SHED = '\ud800'

/** Serves one client on a WebSocket, one message per frame. Reading pauses while the client does not read, and while messages wait for their turn. */
export class Peer implements Carrier {
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>
  readonly #service: Service
  readonly #limits: Limits
  readonly #socket: ServerSocket
  readonly #stream: Socket
  readonly #session: ResumableSession | undefined
  readonly #connection: Connection
  readonly #reading: ReadBudget
  readonly #sending: WriteBudget
  /** Messages that arrived while reading was paused. */
  #inbox: (string | undefined)[] | undefined
  #paused = false
  /** Whether the messages in the inbox wait until others had a turn. */
  #isWaiting = false
  #corked = false
  #heard = true
  #heardAt = 0
  #pingedAt = 0
  #begunAt = 0
  #hasExpired = false
  /** Messages that other nodes do not know of yet, and their length. */
  #unnoted: string[] = []
  #unnotedChars = 0
  #isNoting = false
  /** The payload of the last unanswered ping that has one: it may ask whether messages arrived, so they are noted first. */
  #pinged: Buffer | undefined
  /** Whether there is an unanswered ping without a payload. */
  #isPinged = false
  #answersSoon = false
  #isGone = false
  /** The counted fragments of the unfinished message. */
  #fragments = 0

  constructor({ service, limits, socket, stream, source, session }: PeerOptions) {
    this.#service = service
    this.#limits = limits
    this.#socket = socket
    this.#stream = stream
    const { read, write } = budgetsOf(service, limits)
    this.#reading = new ReadBudget(read, limits.wsBytes, {
      caller: () => senderOf(source, this),
      pause: () => socket.pause(),
      resume: () => this.#read(),
      reject: (error) => this.#refuse(error),
    })
    this.#session = session
    this.#connection =
      session?.connection ??
      new Connection({
        service,
        limits,
        source,
        send: (text) => this.send(text),
        isBehind: () => this.isBehind,
        onInvalid: () => this.refuse('invalid'),
        evict: () => this.refuse('evicted'),
      })
    this.#sending = new WriteBudget({
      pool: write,
      caller: source.auth === undefined ? this.#connection : ownerOf(source.auth),
      outlet: () => stream as Outlet,
      patienceMs: limits.bodyMs,
      abort: () => this.#abort('slow_reader'),
    })
    const release = service.leases.holdFor(source, (why) => this.#expire(why))
    this.gone = new Promise((resolve) => {
      socket.once('close', () => {
        release()
        this.#isGone = true
        this.#reading.end()
        this.#sending.set(0)
        if (session === undefined) this.#connection.close()
        else this.#lose(session)
        this.#inbox = undefined
        resolve()
      })
    })
    // Count bytes before they are parsed, so that a complete message resets the count.
    stream.prependListener('data', (chunk: Uint8Array) => this.#count(chunk.length))
    // Text arrives as one buffer and is known to be UTF-8.
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
    socket.on('ping', (data) => {
      this.#control(data)
      this.#takePing(data)
    })
    socket.on('pong', (data) => {
      this.#control(data)
      session?.learn(this, data.toString())
    })
    // The library closes connections that violate the protocol with the right code.
    socket.on('error', () => undefined)
    socket.onOversize = () => this.#connection.reject(mcpError(TOO_LARGE, { limit: limits.wsBytes }))
  }

  get isBehind(): boolean {
    return this.#stream.writableLength > this.#limits.streamBytes
  }

  /** Pings a silent client, and aborts the connection of one that does not respond. */
  check(now: number): void {
    const { pingMs, pongMs, bodyMs } = this.#limits
    // While reading is paused, the write budget detects a dead client.
    if (this.#heard || this.#isHeldUp) {
      this.#heard = false
      this.#heardAt = now
      this.#pingedAt = 0
    }
    if (this.#isHeldUp || this.#reading.size === 0) this.#begunAt = 0
    else if (this.#begunAt === 0) this.#begunAt = now
    else if (now - this.#begunAt > bodyMs) return this.#abort('slow_sender')
    if (this.#pingedAt !== 0) {
      if (now - this.#pingedAt >= pongMs) this.#abort('peer_lost')
    } else if (now - this.#heardAt >= pingMs) {
      this.#pingedAt = now
      this.#socket.ping()
    }
    if (this.#session !== undefined) this.#session.ask()
  }

  send(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#answersSoon) this.#answerPings()
    const { writableLength } = this.#stream
    if (writableLength > this.#limits.connectionBytes) return this.#abort('slow_reader')
    if (!this.#corked) {
      this.#corked = true
      this.#stream.cork()
      queueMicrotask(() => this.#flush())
    }
    // Buffer bytes, not text: the length of a string is not its size in memory.
    const waits = this.#paused || text.length > BATCH_BYTES
    this.#socket.send(waits ? Buffer.from(text) : text, { binary: false })
    if (this.#paused) this.#sending.set(this.#stream.writableLength)
    if (writableLength + text.length > BATCH_BYTES) this.#flush()
  }

  ask(payload: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping(payload)
  }

  /** Gives up the session to another connection. The close code keeps a client that is still there from reconnecting. */
  replace(): void {
    this.#receiveInbox()
    this.#socket.close(CLOSE.replaced, 'the session was resumed over another connection')
    if (this.#stream.writableLength > BATCH_BYTES) this.abort()
  }

  refuse(why: Refusal): void {
    this.#socket.close(...REFUSALS[why])
  }

  abort(): void {
    this.#socket.terminate()
  }

  /** Answers running requests, then closes the connection. If other nodes serve the session, its client goes on there at once. */
  async close(): Promise<void> {
    const moves = this.#session?.shared?.handOver(this) === true
    if (!moves) await this.#connection.drain(this.#limits.drainMs)
    this.#receiveInbox()
    this.#flush()
    if (moves) this.#socket.close(CLOSE.moved, 'the session goes on at another node')
    else this.#socket.close(CLOSE.goingAway, 'the server is shutting down')
    await within(CLOSE_MS, (gone) => void this.gone.then(gone))
    this.#socket.terminate()
    await this.gone
  }

  #count(bytes: number): void {
    this.#heard = true
    if (!beginTurn(this.#connection.calls.size) && !this.#isWaiting) this.#wait()
    // Input after the close frame is discarded.
    if (this.#socket.readyState !== this.#socket.OPEN) return this.#reading.end()
    const problem = this.#reading.take(bytes + this.#newFragments() * FRAGMENT_BYTES)
    // The frame reader already rejects messages that are too large.
    if (problem !== undefined && problem.kind !== 'too_large') this.#refuse(problem)
  }

  /** Rejects the message that is being read. The rest of it cannot be skipped, so the connection is closed. */
  #refuse(error: McpError): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#connection.reject(error)
    this.#socket.close(CLOSE.tryLater, 'the server is reading too much at once')
    this.#socket.pause()
    afterMs(CLOSE_MS, () => this.#socket.terminate())
  }

  /** The fragments of an unfinished message that came since the last call. The library keeps each as an object. */
  #newFragments(): number {
    const before = this.#fragments
    this.#fragments = this.#socket.fragments
    return Math.max(0, this.#fragments - before)
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    this.#reading.end()
    this.#fragments = 0
    this.#begunAt = 0
    if (this.#socket.isOver) return
    if (!isBinary && this.#session?.count(this) === false) return
    const isShed = !isBinary && this.#connection.sheds(bytes.length, () => bytes.toString('utf8', 0, 512))
    const text = isBinary ? undefined : isShed ? SHED : bytes.toString('utf8')
    if (this.#session?.shared === undefined || text === undefined) return this.#handle(text)
    this.#unnoted.push(text)
    this.#unnotedChars += text.length
    if (this.#unnotedChars > BATCH_BYTES) this.#socket.pause()
    void this.#note(this.#session.shared)
  }

  /** Notes messages for other nodes, and then handles them. Those that arrive meanwhile are noted together. */
  async #note(shared: SharedPart): Promise<void> {
    if (this.#isNoting) return
    this.#isNoting = true
    while (this.#unnoted.length > 0) {
      const [texts, chars] = [this.#unnoted, this.#unnotedChars]
      this.#unnoted = []
      if (!(await shared.note(this, texts))) break
      this.#unnotedChars -= chars
      for (const text of texts) this.#handle(text)
      // What did not arrive before the end of the connection is sent again over the next one.
      if (this.#socket.isOver || this.#isGone) break
      this.#read()
    }
    this.#isNoting = false
    this.#answerPings()
  }

  /** Only the latest of the pings that arrive together is answered: they are small, and there may be thousands. */
  #takePing(payload: Buffer): void {
    if (payload.length > 0) this.#pinged = payload
    else this.#isPinged = true
    if (this.#answersSoon) return
    this.#answersSoon = true
    queueMicrotask(() => this.#answerPings())
  }

  /** A ping with a count asks whether messages arrived. Those that are not noted may still be lost with this node. */
  #answerPings(): void {
    this.#answersSoon = false
    const payload = this.#isNoting ? undefined : this.#pinged
    if (payload !== undefined) this.#pinged = undefined
    const answers = [...(payload === undefined ? [] : [payload]), ...(this.#isPinged ? [''] : [])]
    this.#isPinged = false
    if (this.#socket.readyState === this.#socket.OPEN) for (const answer of answers) this.#socket.pong(answer)
  }

  /** Whether reading is paused for other reasons than the client. */
  get #isHeldUp(): boolean {
    return this.#paused || this.#isWaiting || this.#unnotedChars > BATCH_BYTES
  }

  #handle(text: string | undefined): void {
    // The client does not send again what is noted, so it is handled in any case.
    if (this.#isGone || this.#socket.isOver) this.#receive(text)
    else if (this.#paused || this.#isWaiting) (this.#inbox ??= []).push(text)
    else {
      this.#receive(text)
      if (isTurnOver(this.#connection.calls.size)) this.#wait()
    }
  }

  /** Receives a message unless it was answered, or closes the connection of a client that sent bytes, after the messages before them. */
  #receive(text: string | undefined): void {
    if (text === undefined) this.#socket.close(CLOSE.notText, 'send text frames')
    else if (text !== SHED) this.#connection.receive(text)
  }

  /** Pauses reading until others had a turn. */
  #wait(): void {
    this.#isWaiting = true
    this.#socket.pause()
    inNextTurn(() => {
      this.#isWaiting = false
      this.#takeInbox()
    })
  }

  /** Counts a control frame. Reading pauses when a client sends pings without reading the pongs. */
  #control(payload: Uint8Array): void {
    this.#reading.give(payload.length + CONTROL_BYTES)
    if (this.#stream.writableLength > BATCH_BYTES) this.#pause()
  }

  #flush(): void {
    if (this.#corked) {
      this.#corked = false
      this.#stream.uncork()
    }
    if (this.#stream.writableLength > BATCH_BYTES) this.#pause()
  }

  /** Pauses reading until the client has read what was written. */
  #pause(): void {
    if (this.#paused || !this.#stream.writableNeedDrain) return
    this.#paused = true
    this.#sending.set(this.#stream.writableLength)
    this.#socket.pause()
    this.#stream.once('drain', () => this.#resume())
  }

  #resume(): void {
    this.#paused = false
    this.#sending.set(0)
    this.#takeInbox()
  }

  /** Takes the messages that arrived while reading was paused, until there is a reason to pause again. */
  #takeInbox(): void {
    const waiting = this.#inbox ?? []
    let at = 0
    this.#inbox = undefined
    beginTurn(this.#connection.calls.size)
    while (at < waiting.length && !this.#paused && !this.#isWaiting && !this.#socket.isOver) {
      this.#receive(waiting[at++])
      if (isTurnOver(this.#connection.calls.size) && at < waiting.length) this.#wait()
    }
    if (at < waiting.length) this.#inbox = [...waiting.slice(at), ...(this.#inbox ?? [])]
    this.#read()
  }

  /** Resumes reading unless there is another reason to pause. */
  #read(): void {
    if (!this.#isHeldUp && !this.#reading.isWaiting) this.#socket.resume()
  }

  /** The connection is lost, but the client may resume the session. */
  #lose(session: ResumableSession): void {
    const { isOver } = this.#socket
    if (!isOver) this.#receiveInbox()
    session.detach(this, isOver && !this.#hasExpired)
  }

  /** Closes the connection, since the credentials that opened it are no longer good. With new ones the client may resume. */
  #expire(why: LeaseEnd): void {
    this.#hasExpired = why === 'expired'
    // They arrived while the token was good, and the client counts on them if it resumes.
    if (why === 'expired') this.#receiveInbox()
    this.refuse(why)
    // A client that does not answer must not gain time.
    if (why === 'revoked' && this.#session !== undefined) this.#session.end()
    else if (why === 'revoked') this.#connection.close()
    afterMs(CLOSE_MS, () => this.#socket.terminate())
  }

  /** Processes counted messages, even though their responses must wait for another connection. */
  #receiveInbox(): void {
    const waiting = this.#inbox
    this.#inbox = undefined
    for (const text of waiting ?? []) if (!this.#socket.isOver) this.#receive(text)
  }

  #abort(why: 'slow_reader' | 'slow_sender' | 'peer_lost'): void {
    this.#service.observers.count(why)
    this.#socket.terminate()
  }
}
