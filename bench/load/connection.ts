import { connect } from 'node:net'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { FIRST_ID, INITIALIZED, initializeText } from '../messages.ts'
import { Checker, SERIES, type Series } from './exchange.ts'
import type { Framing } from './framing.ts'

/** The byte stream below a connection. */
export interface Wire {
  write(bytes: Buffer): void
  close(): void
}

/** The handlers for incoming bytes and failures of a wire. */
export interface WireHandlers {
  onBytes: (bytes: Buffer) => void
  onFail: (error: Error) => void
}

const READ_BYTES = 64 * 1024
const INITIALIZE_MS = 10_000
const NOTHING = Buffer.alloc(0)

/** An initialized connection of the load generator: sends a series and checks the answers. */
export class Connection {
  /** Called with the index of each answer. */
  onAnswer: (index: number) => void = () => {}
  /** Called after each read with the number of answers in it. */
  onAnswers: (count: number) => void = () => {}
  onFail: (error: Error) => void = () => {}
  /** Why the connection is of no use any more. */
  failed: Error | undefined
  /** The number of open requests. */
  open = 0
  readonly #series: Series
  readonly #framing: Framing
  readonly #checker: Checker
  readonly #wire: Wire
  #next: number
  #rest = NOTHING

  constructor(
    wire: Wire,
    handlers: WireHandlers,
    options: { series: Series; framing: Framing; first: number },
  ) {
    this.#wire = wire
    this.#series = options.series
    this.#framing = options.framing
    this.#checker = new Checker(options.series.sent)
    this.#next = options.first % SERIES
    handlers.onBytes = (bytes) => this.#read(bytes)
    handlers.onFail = (error) => this.#fail(error)
  }

  /** Writes the next requests of the series in one piece, or two if the series wraps; returns the index of the first. */
  send(count: number): number {
    const first = this.#next
    const now = Math.min(count, SERIES - first)
    for (let index = first; index < first + now; index++) this.#checker.expect(index)
    this.open += now
    this.#next = (first + now) % SERIES
    this.#wire.write(this.#series.bytesOf(first, now))
    if (now < count) this.send(count - now)
    return first
  }

  close(): void {
    this.onFail = () => {}
    this.#wire.close()
  }

  #fail(error: Error): void {
    this.failed ??= error
    this.onFail(error)
  }

  #read(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let at = 0
    let count = 0
    try {
      for (let found = this.#framing.next(all, 0); found; found = this.#framing.next(all, at)) {
        const index = this.#checker.take(all, found.from, found.to)
        at = found.end
        count++
        this.open--
        this.onAnswer(index)
      }
    } catch (error) {
      return this.#fail(error as Error)
    }
    // The socket reuses its read buffer, so the rest must be copied.
    this.#rest = at === all.length ? NOTHING : Buffer.from(all.subarray(at))
    if (count > 0) this.onAnswers(count)
  }
}

/** Connects to a port; if an upgrade request is given, resolves when the upgrade is accepted. */
export function openSocket(
  port: number,
  upgrade?: string,
): Promise<{ readonly wire: Wire; readonly handlers: WireHandlers }> {
  return new Promise((done, fail) => {
    const handlers: WireHandlers = { onBytes: () => {}, onFail: fail }
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback(size: number, bytes: Uint8Array): boolean {
        handlers.onBytes((bytes as Buffer).subarray(0, size))
        return true
      },
    }
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    const wire: Wire = { write: (bytes) => void socket.write(bytes), close: () => socket.destroy() }
    socket.on('error', (error) => handlers.onFail(error))
    socket.on('close', () => handlers.onFail(new Error('the server closed a connection')))
    socket.on('connect', () => {
      if (upgrade === undefined) return done({ wire, handlers })
      socket.write(upgrade)
      handlers.onBytes = (bytes) => {
        const answer = bytes.toString('latin1')
        if (answer.startsWith('HTTP/1.1 101') && answer.endsWith('\r\n\r\n')) done({ wire, handlers })
        else fail(new Error(`no upgrade: ${answer}`))
      }
    })
  })
}

/** The child process at the other end of its pipes. */
export type Child = ChildProcessByStdio<Writable, Readable, null>

/** Starts a program and connects to it over pipes. */
export function openPipes(
  file: string,
  options: string,
): { readonly wire: Wire; readonly handlers: WireHandlers; readonly child: Child } {
  const child = spawn(process.execPath, [file, options], { stdio: ['pipe', 'pipe', 'ignore'] })
  const handlers: WireHandlers = { onBytes: () => {}, onFail: () => {} }
  child.stdout.on('data', (bytes: Buffer) => handlers.onBytes(bytes))
  child.on('exit', () => handlers.onFail(new Error('the server exited')))
  child.stdin.on('error', () => handlers.onFail(new Error('the server does not read')))
  return {
    wire: { write: (bytes) => void child.stdin.write(bytes), close: () => child.stdin.end() },
    handlers,
    child,
  }
}

/** Opens a 2025 session over a bidirectional wire. */
export function openSessionOver(
  { wire, handlers }: { readonly wire: Wire; readonly handlers: WireHandlers },
  framing: Framing,
): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('initialize was not answered')), INITIALIZE_MS)
    let received = NOTHING
    handlers.onFail = fail
    handlers.onBytes = (bytes) => {
      received = Buffer.concat([received, bytes])
      if (framing.next(received, 0) === undefined) return
      clearTimeout(timer)
      wire.write(framing.encode(INITIALIZED))
      done()
    }
    wire.write(framing.encode(initializeText(FIRST_ID - 1)))
  })
}
