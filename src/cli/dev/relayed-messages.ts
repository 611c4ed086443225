import { Deferred } from '../../base/deferred.ts'
import { onAbort } from '../../base/on-abort.ts'
import type { Io } from '../io.ts'
import type { Conversation } from './conversation.ts'
import {
  ACKNOWLEDGED,
  CANCELLED,
  isRequest,
  isResponse,
  keyOf,
  LISTEN,
  messagesIn,
  subscriptionOf,
  type Message,
} from './json-rpc.ts'
import type { RelayedProgram } from './relayed-program.ts'

/** The requests whose params the next program must know. */
const REMEMBERED = new Set(['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])
/** How many lines of the client wait for a program. */
const MOST_WAITING = 10_000

/** A question of a program to the client. */
interface Question {
  readonly program: RelayedProgram
  /** The id that the program gave it. */
  readonly id: unknown
}

/** Passes messages between one client and the programs that follow each other. */
export class RelayedMessages {
  readonly #io: Io
  readonly #conversation: Conversation
  #current: RelayedProgram | undefined
  /** Lines of the client while there is no program. */
  #waiting: string[] = []
  /** Streams that lost their program. */
  #streams: string[] = []
  /** Questions to the client, by the id that it knows. */
  readonly #questions = new Map<string, Question>()
  readonly #drained = new Map<RelayedProgram, Deferred<void>>()

  constructor(io: Io, conversation: Conversation) {
    this.#io = io
    this.#conversation = conversation
  }

  /** The program that gets new requests. */
  get current(): RelayedProgram | undefined {
    return this.#current
  }

  /** Gives new requests to another program, and the streams of the one before. Answers that. */
  switchTo(program: RelayedProgram): RelayedProgram | undefined {
    const before = this.#current
    this.#current = program
    for (const [key, { method, line }] of before?.running ?? []) {
      if (method !== LISTEN || line === undefined) continue
      before?.running.delete(key)
      this.#streams.push(line)
    }
    const [streams, lines] = [this.#streams, this.#waiting]
    this.#streams = []
    this.#waiting = []
    for (const line of streams) this.#moveStream(program, line)
    for (const line of lines) this.fromClient(line)
    if (before !== undefined) this.#checkDrained(before)
    return before
  }

  /** There is no program: lines wait for the next one. */
  lose(): void {
    this.#current = undefined
  }

  /** Resolves when a program has answered all its requests, or the signal aborts. */
  async drained(program: RelayedProgram, signal: AbortSignal): Promise<void> {
    const drained = new Deferred<void>()
    this.#drained.set(program, drained)
    const remove = onAbort(signal, () => drained.resolve())
    this.#checkDrained(program)
    await drained.promise
    remove()
    this.#drained.delete(program)
  }

  /** Answers the requests of a program that cannot do so any more. Its streams go on in the next one. */
  giveUp(program: RelayedProgram, reason: string): void {
    for (const [key, { id, method, line }] of program.running) {
      program.running.delete(key)
      if (method === LISTEN && line !== undefined) this.#streams.push(line)
      else this.#toClient(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: reason } }))
    }
    for (const [key, question] of this.#questions)
      if (question.program === program) this.#questions.delete(key)
    this.#checkDrained(program)
  }

  /** Passes on a line of the client. */
  fromClient(line: string): void {
    const messages = messagesIn(line)
    const [first] = messages ?? []
    if (first !== undefined && isResponse(first)) return this.#answerQuestion(line, first)
    if (first?.method === CANCELLED) return this.#cancel(line, first.params?.['requestId'])
    const program = this.#current
    if (program === undefined) {
      if (this.#waiting.length < MOST_WAITING) this.#waiting.push(line)
      return
    }
    for (const message of messages ?? []) {
      if (isRequest(message)) note(program, message, line)
      else if (message.method !== undefined) this.#conversation.notified(message.method)
    }
    this.#send(program, line)
  }

  /** Passes on a line of a program. */
  fromProgram(program: RelayedProgram, line: string, messages: readonly Message[]): void {
    const [first] = messages
    if (first === undefined) return
    if (messages.some(isResponse)) return this.#answer(program, line, messages)
    if (isRequest(first)) return this.#toClient(this.#ask(program, line, first))
    if (first.method === ACKNOWLEDGED && program.acknowledge(keyOf(subscriptionOf(first)))) return
    if (first.method === CANCELLED) {
      const requestId = idFor(program, first.params?.['requestId'])
      return this.#toClient(
        program.number === 1 ? line : JSON.stringify({ ...first, params: { ...first.params, requestId } }),
      )
    }
    this.#toClient(line)
  }

  #moveStream(program: RelayedProgram, line: string): void {
    for (const message of messagesIn(line) ?? []) {
      note(program, message, line)
      program.move(keyOf(message.id), line)
    }
  }

  #answer(program: RelayedProgram, line: string, messages: readonly Message[]): void {
    const known = messages.filter(({ id }) => id === null || program.running.has(keyOf(id)))
    if (known.length === 0) return
    for (const message of known) {
      const running = program.running.get(keyOf(message.id))
      program.running.delete(keyOf(message.id))
      program.acknowledge(keyOf(message.id))
      if (running !== undefined) this.#conversation.answered(running.method, running.params, message)
    }
    this.#toClient(line)
    this.#checkDrained(program)
  }

  /** Notes a question. Programs count theirs alike, so those of later ones get ids of their own. */
  #ask(program: RelayedProgram, line: string, question: Message): string {
    const id = idFor(program, question.id)
    this.#questions.set(keyOf(id), { program, id: question.id })
    return program.number === 1 ? line : JSON.stringify({ ...question, id })
  }

  #answerQuestion(line: string, answer: Message): void {
    const question = this.#questions.get(keyOf(answer.id))
    this.#questions.delete(keyOf(answer.id))
    if (question === undefined) return
    const { program, id } = question
    this.#send(program, program.number === 1 ? line : JSON.stringify({ ...answer, id }))
  }

  /** Tells the program that runs a request. It sends no answer to a cancelled one. */
  #cancel(line: string, id: unknown): void {
    const key = keyOf(id)
    this.#streams = this.#streams.filter(
      (stream) => !messagesIn(stream)?.some((one) => keyOf(one.id) === key),
    )
    const owner = [...this.#drained.keys()].find(({ running }) => running.has(key)) ?? this.#current
    if (owner === undefined) return void this.#waiting.push(line)
    owner.running.delete(key)
    this.#send(owner, line)
    this.#checkDrained(owner)
  }

  #checkDrained(program: RelayedProgram): void {
    if (program.running.size === 0) this.#drained.get(program)?.resolve()
  }

  /** Sends a line to a program; the client waits while that is busy. */
  #send(program: RelayedProgram, line: string): void {
    if (program.send(line)) return
    this.#io.stdin.pause()
    program.whenDrained(() => this.#io.stdin.resume())
  }

  #toClient(line: string): void {
    this.#io.stdout.write(`${line}\n`)
  }
}

/** Notes a request of the client. */
function note(program: RelayedProgram, { id, method = '', params }: Message, line: string): void {
  program.running.set(keyOf(id), {
    id,
    method,
    params: REMEMBERED.has(method) ? params : undefined,
    line: method === LISTEN ? line : undefined,
  })
}

/** The id under which the client knows a question of a program. */
function idFor({ number }: RelayedProgram, id: unknown): unknown {
  return number === 1 ? id : `dev-${number}-${typeof id === 'number' ? 'n' : 's'}-${String(id)}`
}
