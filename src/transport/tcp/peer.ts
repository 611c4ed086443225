import type { Socket } from 'node:net'
import { mcpError } from '../../errors/error.ts'
import { BAD_MESSAGE } from '../../errors/wire.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { budgetsOf } from '../io/budgets.ts'
import { ReadBudget } from '../io/read-budget.ts'
import { WriteBudget, type Outlet } from '../io/write-budget.ts'
import type { Framing } from '../lines/framing.ts'
import { mismatchOf } from './framings.ts'
import { LineServer } from '../lines/server.ts'
import { linger } from './linger.ts'

export interface PeerOptions {
  readonly service: Service
  readonly limits: Limits
  /** Who connected, where TLS tells. */
  readonly auth: Auth | undefined
  readonly framing: Framing
}

/** How long a client has to take what was written and to close its side. */
const LEAVE_MS = 2000

/** One client on a socket. */
export class Peer {
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>
  readonly #socket: Socket
  readonly #service: Service
  readonly #limits: Limits
  readonly #framing: Framing
  readonly #server: LineServer
  readonly #reading: ReadBudget
  readonly #sending: WriteBudget
  #isBehind = false
  #leaving: Promise<void> | undefined
  /** Whether the client sends nothing more. */
  #hasEnded = false
  /** Whether anything went either way since the last look, and when that was known. */
  #wasActive = true
  #activeAt = 0
  /** When the unfinished line was first seen, and how many lines had come before it. */
  #insideAt = 0
  #before = 0

  constructor(socket: Socket, { service, limits, auth, framing }: PeerOptions) {
    this.#socket = socket
    this.#service = service
    this.#limits = limits
    this.#framing = framing
    const { read, write } = budgetsOf(service, limits)
    this.#reading = new ReadBudget(read, limits.tcpBytes, {
      pause: () => socket.pause(),
      resume: () => this.#read(),
    })
    this.#sending = new WriteBudget({
      pool: write,
      outlet: () => socket as Outlet,
      patienceMs: limits.bodyMs,
      abort: () => this.#cut(),
    })
    socket.once('data', (chunk: Uint8Array) => this.#greet(chunk))
    this.#server = new LineServer({
      service,
      limits,
      source: { auth },
      maxBytes: limits.tcpBytes,
      framing,
      input: socket,
      output: socket,
      write: (text) => this.#write(text),
      resume: () => this.#read(),
    })
    this.gone = new Promise((resolve) => socket.once('close', () => resolve(this.#end())))
    socket.on('data', () => this.#count())
    socket.on('drain', () => this.#caughtUp())
    socket.once('end', () => this.#finish())
    // What broke is of no use to anybody; the connection closes after it.
    socket.on('error', () => undefined)
  }

  /** Looks after the connection: cuts off one that is not used, or on which a message does not get on. */
  check(now: number): void {
    const { bodyMs, idleMs, sessionIdleMs } = this.#limits
    const { lines, connection, count } = this.#server
    if (this.#wasActive || connection.isBusy || this.#isBehind) {
      this.#wasActive = false
      this.#activeAt = now
    }
    if (this.#hasEnded) this.#probe()
    if (this.#leaving !== undefined || this.#hasEnded) return
    // Whoever sent nothing yet has not so much as said hello.
    if (now - this.#activeAt > (count === 0 ? idleMs : sessionIdleMs)) {
      this.#service.observers.count('session_expired')
      return this.#part()
    }
    if (!lines.isInside || this.#isBehind) this.#insideAt = 0
    else if (this.#insideAt === 0 || this.#before !== count) {
      this.#insideAt = now
      this.#before = count
    } else if (now - this.#insideAt > bodyMs) {
      connection.refuse(this.#reading.late())
      this.#part()
    }
  }

  /** Answers what is running and leaves. */
  leave(): Promise<void> {
    return (this.#leaving ??= this.#leave())
  }

  async #leave(): Promise<void> {
    const { connection } = this.#server
    await connection.drain(this.#limits.drainMs)
    connection.close()
    this.#server.flush()
    await linger(this.#socket, LEAVE_MS)
    await this.gone
  }

  /** Refuses a client whose first byte says that it cuts messages otherwise. */
  #greet(chunk: Uint8Array): void {
    const reason = mismatchOf(this.#framing, chunk)
    if (reason === undefined) return
    this.#server.connection.refuse(mcpError(BAD_MESSAGE, { reason }))
    this.#part()
  }

  /** Counts what is held after each piece that came. */
  #count(): void {
    this.#wasActive = true
    const { lines } = this.#server
    if (lines.buffered === this.#reading.size) return
    const problem = this.#reading.hold(lines.buffered)
    // A line that is too large was noticed where lines are read; here it is all of them together.
    if (problem === undefined || problem.kind === 'too_large') return
    this.#reading.end()
    lines.discard()
    this.#server.connection.refuse(problem)
  }

  /** The client sends nothing more, but may still read: what it asked for is answered. */
  #finish(): void {
    const { connection } = this.#server
    this.#hasEnded = true
    this.#server.end()
    this.#reading.end()
    this.#probe()
    void connection.drain(Number.POSITIVE_INFINITY).then(() => this.leave())
  }

  /** An empty message means nothing to a client; the system of one that is gone refuses it, which the next one shows. */
  #probe(): void {
    if (this.#server.connection.isBusy && this.#socket.writable) this.#socket.write(this.#framing.emptyFrame)
  }

  #write(text: string): boolean {
    this.#wasActive = true
    const { connectionBytes } = this.#limits
    if (!this.#socket.writable) return true
    if (this.#socket.writableLength > connectionBytes) {
      this.#cut()
      return true
    }
    if (this.#socket.write(text, this.#framing.encoding)) return true
    this.#sending.set(this.#socket.writableLength)
    this.#isBehind = true
    return false
  }

  #caughtUp(): void {
    this.#sending.set(0)
    this.#isBehind = false
    this.#read()
  }

  /** Reads on, unless there is another reason to wait. */
  #read(): void {
    if (!this.#isBehind && !this.#reading.isWaiting) this.#socket.resume()
  }

  /** Drops a client that does not keep up. */
  #cut(): void {
    this.#service.observers.count('slow_reader')
    this.#socket.destroy()
  }

  /** Closes a connection that is of no use; what was written still leaves. */
  #part(): void {
    this.#server.flush()
    this.#leaving ??= linger(this.#socket, LEAVE_MS)
  }

  #end(): void {
    this.#reading.end()
    this.#sending.set(0)
    this.#server.connection.close()
  }
}
