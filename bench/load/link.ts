import { connect } from 'node:net'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { FIRST_ID, INITIALIZED, initializeText } from '../messages.ts'
import { Checker, SERIES, type Series } from './exchange.ts'
import type { Framing } from './framing.ts'

/** The bytes below a link. */
export interface Wire {
  write(bytes: Buffer): void
  close(): void
}

/** Who hears of what comes over a wire. */
export interface Ears {
  onBytes: (bytes: Buffer) => void
  onFail: (error: Error) => void
}

const READ_BYTES = 64 * 1024
const GREETING_MS = 10_000
const NOTHING = Buffer.alloc(0)

/** A connection of the load generator on which a protocol was opened: sends a series and checks what is answered. */
export class Link {
  /** Called with the index of each answer, as it comes. */
  onAnswer: (index: number) => void = () => {}
  /** Called when all that came at once was taken, with the number of answers in it. */
  onAnswers: (count: number) => void = () => {}
  onFail: (error: Error) => void = () => {}
  /** How many requests are open. */
  open = 0
  readonly #series: Series
  readonly #framing: Framing
  readonly #checker: Checker
  readonly #wire: Wire
  #next: number
  #rest = NOTHING

  constructor(wire: Wire, ears: Ears, options: { series: Series; framing: Framing; first: number }) {
    this.#wire = wire
    this.#series = options.series
    this.#framing = options.framing
    this.#checker = new Checker(options.series.sent)
    this.#next = options.first % SERIES
    ears.onBytes = (bytes) => this.#read(bytes)
    ears.onFail = (error) => this.onFail(error)
  }

  /** Writes the next requests of the series in one piece, or two where it begins anew; gives the index of the first. */
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
      return this.onFail(error as Error)
    }
    // What is lent is read into again.
    this.#rest = at === all.length ? NOTHING : Buffer.from(all.subarray(at))
    if (count > 0) this.onAnswers(count)
  }
}

/** Connects to a port, after the words of an upgrade where there are any; resolves when these were answered. */
export function openSocket(
  port: number,
  upgrade?: string,
): Promise<{ readonly wire: Wire; readonly ears: Ears }> {
  return new Promise((done, fail) => {
    const ears: Ears = { onBytes: () => {}, onFail: fail }
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback(size: number, bytes: Uint8Array): boolean {
        ears.onBytes((bytes as Buffer).subarray(0, size))
        return true
      },
    }
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    const wire: Wire = { write: (bytes) => void socket.write(bytes), close: () => socket.destroy() }
    socket.on('error', (error) => ears.onFail(error))
    socket.on('close', () => ears.onFail(new Error('the server closed a connection')))
    socket.on('connect', () => {
      if (upgrade === undefined) return done({ wire, ears })
      socket.write(upgrade)
      ears.onBytes = (bytes) => {
        const said = bytes.toString('latin1')
        if (said.startsWith('HTTP/1.1 101') && said.endsWith('\r\n\r\n')) done({ wire, ears })
        else fail(new Error(`no upgrade: ${said}`))
      }
    })
  })
}

/** The child process at the other end of its pipes. */
export type Child = ChildProcessByStdio<Writable, Readable, null>

/** Starts a program and speaks with it over its pipes. */
export function openPipes(
  file: string,
  options: string,
): { readonly wire: Wire; readonly ears: Ears; readonly child: Child } {
  const child = spawn(process.execPath, [file, options], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ears: Ears = { onBytes: () => {}, onFail: () => {} }
  child.stdout.on('data', (bytes: Buffer) => ears.onBytes(bytes))
  child.on('exit', () => ears.onFail(new Error('the server ended')))
  child.stdin.on('error', () => ears.onFail(new Error('the server does not read')))
  return {
    wire: { write: (bytes) => void child.stdin.write(bytes), close: () => child.stdin.end() },
    ears,
    child,
  }
}

/** Opens a 2025 session over a wire that carries messages both ways. */
export function greet(
  { wire, ears }: { readonly wire: Wire; readonly ears: Ears },
  framing: Framing,
): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('initialize was not answered')), GREETING_MS)
    let said = NOTHING
    ears.onFail = fail
    ears.onBytes = (bytes) => {
      said = Buffer.concat([said, bytes])
      if (framing.next(said, 0) === undefined) return
      clearTimeout(timer)
      wire.write(framing.seal(INITIALIZED))
      done()
    }
    wire.write(framing.seal(initializeText(FIRST_ID - 1)))
  })
}
