import type { Socket } from 'node:net'
import { type McpError, mcpError } from '../../errors/error.ts'
import { BAD_MESSAGE } from '../../errors/wire.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { budgetsOf } from '../io/budgets.ts'
import { ReadBudget, senderOf } from '../io/read-budget.ts'
import { WriteBudget, type Outlet } from '../io/write-budget.ts'
import type { Framing } from '../lines/framing.ts'
import { mismatchOf } from './framings.ts'
import { LineServer } from '../lines/server.ts'
import { linger } from './linger.ts'

export interface PeerOptions {
  readonly service: Service
  readonly limits: Limits
  /** The caller, if TLS identified one, or the scopes of all callers. */
  readonly source: RequestSource
  readonly framing: Framing
  /** Called when the connection is closed because the other side does not seem to be an MCP client. */
  onForeign(reason: string): void
}

/** How long a client has to read the last responses and close its side. */
const CLOSE_MS = 2000
/** Text up to this length is cheaper to send as it is. */
const SMALL_CHARS = 65_536

/** Serves one client on a socket. */
export class Peer {
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>
  readonly #socket: Socket
  readonly #service: Service
  readonly #limits: Limits
  readonly #framing: Framing
  readonly #server: LineServer
  readonly #reading: ReadBudget
  readonly #sending: WriteBudget
  #isBehind = false
  #closing: Promise<void> | undefined
  /** Whether the client has ended its side. */
  #hasEnded = false
  /** Whether anything was sent or received since the last check, and when that was last the case. */
  #wasActive = true
  #activeAt = 0
  /** When the unfinished line was first seen, and how many lines had arrived before it. */
  #insideAt = 0
  #before = 0

  constructor(socket: Socket, { service, limits, source, framing, onForeign }: PeerOptions) {
    this.#socket = socket
    this.#service = service
    this.#limits = limits
    this.#framing = framing
    const { read, write } = budgetsOf(service, limits)
    this.#reading = new ReadBudget(read, limits.tcpBytes, {
      caller: () => senderOf(source, this),
      pause: () => socket.pause(),
      resume: () => this.#read(),
      reject: (error) => this.#refuse(error),
    })
    socket.once('data', (chunk: Uint8Array) => this.#checkFraming(chunk))
    this.#server = new LineServer({
      service,
      limits,
      source,
      maxBytes: limits.tcpBytes,
      framing,
      input: socket,
      output: socket,
      write: (text) => this.#write(text),
      resume: () => this.#read(),
      onForeign: (reason) => {
        this.#closeSoon()
        onForeign(reason)
      },
      evict: () => this.#closeSoon(),
    })
    this.#sending = new WriteBudget({
      pool: write,
      caller: this.#server.connection.caller,
      outlet: () => socket as Outlet,
      patienceMs: limits.bodyMs,
      abort: () => this.#abort(),
    })
    const release = service.leases.hold(source.auth, () => this.#closeSoon())
    this.gone = new Promise((resolve) => socket.once('close', () => resolve(this.#onClose())))
    void this.gone.then(release)
    socket.on('data', () => this.#count())
    socket.on('drain', () => this.#onDrain())
    socket.once('end', () => this.#onEnd())
    // The connection closes after an error, which is all that matters.
    socket.on('error', () => undefined)
  }

  /** Closes the connection if it is idle for too long or a message arrives too slowly. */
  check(now: number): void {
    const { bodyMs, idleMs, sessionIdleMs } = this.#limits
    const { lines, connection, count } = this.#server
    if (this.#wasActive || connection.isBusy || this.#isBehind) {
      this.#wasActive = false
      this.#activeAt = now
    }
    if (this.#hasEnded) this.#probe()
    if (this.#closing !== undefined || this.#hasEnded) return
    // A client that has not sent anything yet times out sooner.
    if (now - this.#activeAt > (count === 0 ? idleMs : sessionIdleMs)) {
      this.#service.observers.count('session_expired')
      return this.#closeSoon()
    }
    if (!lines.isInside || this.#isBehind || this.#server.isWaiting) this.#insideAt = 0
    else if (this.#insideAt === 0 || this.#before !== count) {
      this.#insideAt = now
      this.#before = count
    } else if (now - this.#insideAt > bodyMs) {
      connection.reject(this.#reading.late())
      this.#closeSoon()
    }
  }

  /** Answers running requests, then closes the connection. */
  close(): Promise<void> {
    return (this.#closing ??= this.#drainAndClose())
  }

  async #drainAndClose(): Promise<void> {
    const { connection } = this.#server
    await connection.drain(this.#limits.drainMs)
    connection.close()
    this.#server.flush()
    await linger(this.#socket, CLOSE_MS)
    await this.gone
  }

  /** Rejects a client whose first byte shows a different framing. */
  #checkFraming(chunk: Uint8Array): void {
    const reason = mismatchOf(this.#framing, chunk)
    if (reason === undefined) return
    this.#server.connection.reject(mcpError(BAD_MESSAGE, { reason }))
    this.#closeSoon()
  }

  /** Counts the buffered bytes after each chunk. */
  #count(): void {
    this.#wasActive = true
    const { lines } = this.#server
    if (lines.buffered === this.#reading.size) return
    const problem = this.#reading.hold(lines.buffered)
    // The line reader already rejects lines that are too large; this is about all clients together.
    if (problem !== undefined && problem.kind !== 'too_large') this.#refuse(problem)
  }

  /** Rejects the line that is being read. */
  #refuse(error: McpError): void {
    this.#reading.end()
    this.#server.lines.discard()
    this.#server.connection.reject(error)
  }

  /** The client ended its side but may still be reading, so its requests are answered. */
  #onEnd(): void {
    const { connection } = this.#server
    this.#hasEnded = true
    this.#reading.end()
    this.#server.end(() => {
      this.#probe()
      void connection.drain(Number.POSITIVE_INFINITY).then(() => this.close())
    })
  }

  /** Writes an empty frame. Clients ignore it; if the client is gone, writing fails and the connection closes. */
  #probe(): void {
    if (this.#server.connection.isBusy && this.#socket.writable) this.#socket.write(this.#framing.emptyFrame)
  }

  #write(text: string): boolean {
    this.#wasActive = true
    const { connectionBytes } = this.#limits
    if (!this.#socket.writable) return true
    if (this.#socket.writableLength > connectionBytes) {
      this.#abort()
      return true
    }
    const { encoding } = this.#framing
    // Buffer bytes, not text: the length of a string is not its size in memory.
    const waits = this.#isBehind || text.length > SMALL_CHARS
    if (this.#socket.write(waits ? Buffer.from(text, encoding) : text, encoding)) return true
    this.#sending.set(this.#socket.writableLength)
    this.#isBehind = true
    return false
  }

  #onDrain(): void {
    this.#sending.set(0)
    this.#isBehind = false
    this.#read()
  }

  /** Resumes reading unless there is another reason to pause. */
  #read(): void {
    if (!this.#isBehind && !this.#reading.isWaiting && !this.#server.isWaiting) this.#socket.resume()
  }

  /** Aborts the connection of a client that reads too slowly. */
  #abort(): void {
    this.#service.observers.count('slow_reader')
    this.#socket.destroy()
  }

  /** Closes the connection once everything written has been sent; nothing more is read. */
  #closeSoon(): void {
    this.#server.ignore()
    this.#reading.end()
    this.#server.flush()
    this.#closing ??= linger(this.#socket, CLOSE_MS)
  }

  #onClose(): void {
    this.#reading.end()
    this.#sending.set(0)
    this.#server.ignore()
    this.#server.connection.close()
  }
}
