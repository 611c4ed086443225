import { spawn, type ChildProcess } from 'node:child_process'
import { Deferred } from '../../base/deferred.ts'
import { ownProgram } from '../own-program.ts'
import type { SourceFile } from '../source-file.ts'
import type { CallEvent } from './events.ts'
import { isResponse, messagesIn, type Message } from './json-rpc.ts'
import {
  fromMessage,
  RELAYED_VARIABLE,
  toMessage,
  type Digests,
  type ParentMessage,
  type WorkerMessage,
} from './messages.ts'
import type { ShownError } from './shown-error.ts'
import { splitLines } from './split-lines.ts'

/** What a program does, for its relay. */
export interface ProgramEvents {
  /** A line with messages for the client. */
  onMessages(program: RelayedProgram, line: string, messages: readonly Message[]): void
  /** A line that is not a message. */
  onPollution(line: string): void
  onCall(call: CallEvent): void
  onEnd(program: RelayedProgram, how: string): void
}

/** A program that ended before it served, or took too long. */
export class NotStarted extends Error {
  readonly shown: ShownError | undefined

  constructor(message: string, shown?: ShownError) {
    super(message)
    this.shown = shown
  }
}

/** How long a program has to end after its input has, and after a signal. */
const [LEAVE_MS, TERM_MS] = [3_000, 3_000]

/** A request of the client that a program has not answered. */
export interface Running {
  readonly id: unknown
  readonly method: string
  readonly params: Message['params']
  /** How the client wrote it; only for those that go on in the next program. */
  readonly line: string | undefined
}

/** One process that runs the program of the user over stdio. */
export class RelayedProgram {
  /** The requests of the client that it has, by key. */
  readonly running: Map<string, Running> = new Map()
  /** The streams of the program before that it has not acknowledged. The client has got that already. */
  readonly #moved = new Set<string>()
  readonly #acknowledged = new Deferred<void>()
  /** Which of the programs it is, counted from 1. */
  readonly number: number
  /** Resolves when it serves. */
  readonly ready: Promise<Digests>
  readonly #child: ChildProcess
  readonly #events: ProgramEvents
  readonly #ready = new Deferred<Digests>()
  readonly #ended = new Deferred<void>()
  /** The requests of the relay itself. */
  readonly #asked = new Map<string, Deferred<Message>>()
  /** How many requests of each method are those of the relay, and not shown. */
  readonly #hidden = new Map<string, number>()
  #error: ShownError | undefined
  #isOver = false

  constructor(number: number, file: SourceFile, cwd: string, events: ProgramEvents) {
    this.number = number
    this.#events = events
    this.ready = this.#ready.promise
    this.ready.catch(() => undefined)
    const [command, ...args] = ownProgram()
    const word = file.name === undefined ? file.path : `${file.path}:${file.name}`
    this.#child = spawn(command, [...args, 'dev', '--stdio', word], {
      cwd,
      env: { ...process.env, [RELAYED_VARIABLE]: '1' },
      stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    splitLines(this.#child.stdout as NodeJS.ReadableStream, (line) => this.#onLine(line))
    this.#child.stdin?.on('error', () => undefined)
    this.#child.on('message', (message) => this.#onMessage(fromMessage<WorkerMessage>(message)))
    this.#child.on('error', (error) => this.#onEnd(error.message))
    this.#child.on('close', (code, signal) =>
      this.#onEnd(signal === null ? `with code ${String(code)}` : `by ${signal}`),
    )
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Sends a line. Answers whether it may get more at once. */
  send(line: string): boolean {
    return this.#isOver || this.#child.stdin?.write(`${line}\n`) !== false
  }

  /** Waits until it can take more. */
  whenDrained(then: () => void): void {
    this.#child.stdin?.once('drain', then)
    void this.ended.then(then)
  }

  /** Sends a request of the relay itself. */
  ask(method: string, params: Message['params']): Promise<Message> {
    const id = `pierhead-dev-${this.#asked.size + 1}`
    const asked = new Deferred<Message>()
    this.#asked.set(id, asked)
    this.#hidden.set(method, (this.#hidden.get(method) ?? 0) + 1)
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }))
    return Promise.race([
      asked.promise,
      this.ended.then(() => {
        throw new NotStarted('the program ended')
      }),
    ])
  }

  /** Continues a stream of the program before. */
  move(key: string, line: string): void {
    this.#moved.add(key)
    this.send(line)
  }

  /** Answers whether a stream that it acknowledges, or ends, is one of the program before. */
  acknowledge(key: string): boolean {
    const isMoved = this.#moved.delete(key)
    if (this.#moved.size === 0) this.#acknowledged.resolve()
    return isMoved
  }

  /** Resolves when all streams of the program before go on here. */
  async whenMoved(): Promise<void> {
    if (this.#moved.size > 0) await Promise.race([this.#acknowledged.promise, this.ended])
  }

  tell(message: ParentMessage): void {
    if (this.#child.connected) this.#child.send(toMessage(message), () => undefined)
  }

  /** Lets it finish by itself, and ends it if it does not. */
  async leave(): Promise<void> {
    this.#child.stdin?.end()
    const timers = [
      setTimeout(() => this.#child.kill('SIGTERM'), LEAVE_MS),
      setTimeout(() => this.kill(), LEAVE_MS + TERM_MS),
    ]
    await this.ended
    for (const timer of timers) clearTimeout(timer)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #onLine(line: string): void {
    const messages = messagesIn(line)
    if (messages === undefined) return this.#onPollution(line)
    const [first] = messages
    const asked =
      first !== undefined && isResponse(first) && typeof first.id === 'string'
        ? this.#asked.get(first.id)
        : undefined
    if (asked === undefined) this.#events.onMessages(this, line, messages)
    else asked.resolve(first as Message)
  }

  /** Output without a line end stands before the next message, which must not be lost. */
  #onPollution(line: string): void {
    const at = line.indexOf('{"jsonrpc"')
    const rest = line.slice(Math.max(0, at))
    const isMessage = at > 0 && messagesIn(rest) !== undefined
    this.#events.onPollution(isMessage ? line.slice(0, at) : line)
    if (isMessage) this.#onLine(rest)
  }

  #onMessage(message: WorkerMessage | undefined): void {
    switch (message?.kind) {
      case 'call':
        return this.#onCall(message.call)
      case 'failed':
        this.#error = message.error
        return
      case 'listening':
      case 'stream':
      case 'streams':
        return
      case 'ready':
        return this.#ready.resolve(message.digests)
      case undefined:
    }
  }

  #onCall(call: CallEvent): void {
    const hidden = this.#hidden.get(call.method) ?? 0
    if (hidden === 0) return this.#events.onCall(call)
    this.#hidden.set(call.method, hidden - 1)
  }

  #onEnd(how: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ready.reject(new NotStarted(how, this.#error))
    this.#ended.resolve()
    this.#events.onEnd(this, how)
  }
}
