import { relative } from 'node:path'
import { doubledMs, pause } from '../../base/backoff.ts'
import { throttle } from '../../base/throttle.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { Conversation } from './conversation.ts'
import { changedLists, type Digests } from './messages.ts'
import { Reloads, type DevOptions } from './reloads.ts'
import { RelayedMessages } from './relayed-messages.ts'
import { NotStarted, RelayedProgram } from './relayed-program.ts'
import { endedEarly, notInTime, type ShownError } from './shown-error.ts'
import { splitLines } from './split-lines.ts'

/** How long requests may run in an old program. */
const DRAIN_MS = 60_000
/** The pauses before a program that crashed is started again, and how long one must run to count as sound. */
const PAUSES = { firstMs: 100, maxMs: 30_000 }
const STABLE_MS = 10_000

/** Serves over stdio: the client talks to this process, which passes its messages on to the newest program. */
export async function relayWithReloads(options: DevOptions): Promise<ExitCode> {
  const relay = new Relay(options)
  try {
    await relay.run()
    return EXIT.ok
  } finally {
    await relay.close()
  }
}

class Relay {
  readonly #options: DevOptions
  readonly #reloads: Reloads
  readonly #conversation = new Conversation()
  readonly #messages: RelayedMessages
  readonly #programs = new Set<RelayedProgram>()
  #digests: Digests | undefined
  #count = 0
  /** How often in a row a program ended soon after it began to serve. */
  #crashes = 0
  #since = 0
  #hasServed = false
  readonly #closing = new AbortController()
  readonly #killAll = (): void => {
    this.#reloads.stopTypes()
    for (const program of this.#programs) program.kill()
  }

  readonly #onPollution: (text: string) => void

  constructor(options: DevOptions) {
    const { io, log } = options
    this.#onPollution = throttle((text, more) =>
      log.add({ event: 'stdout', text: text.slice(0, 2_000), ...(more > 0 && { more }) }),
    )
    this.#options = options
    this.#reloads = new Reloads(options, {
      start: () => this.#start(),
      failed: (error) =>
        log.add({ event: 'failed', ...explained(error), isServed: this.#messages.current !== undefined }),
      isClosing: () => this.#closing.signal.aborted,
    })
    this.#messages = new RelayedMessages(io, this.#conversation)
    process.on('exit', this.#killAll)
  }

  /** Serves until the client has left, or somebody ends this process. */
  async run(): Promise<void> {
    const { io } = this.#options
    const ended = new Promise<void>((resolve) => {
      io.signal.addEventListener('abort', () => resolve())
      io.stdin.on('end', resolve)
      io.stdin.on('error', () => resolve())
    })
    splitLines(io.stdin, (line) => this.#messages.fromClient(line))
    await this.#reloads.begin()
    await ended
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#reloads.close()
    await Promise.all([...this.#programs].map((program) => program.leave()))
  }

  async #start(): Promise<void> {
    const program = this.#spawn()
    try {
      await this.#replaceBy(program)
    } catch (error) {
      program.kill()
      throw error
    }
  }

  #spawn(): RelayedProgram {
    const { file, io, log } = this.#options
    const program = new RelayedProgram(++this.#count, file, io.cwd, {
      onMessages: (...args) => this.#messages.fromProgram(...args),
      onPollution: this.#onPollution,
      onCall: (call) => log.add(call),
      onEnd: (ended, how) => void this.#onEnd(ended, how),
    })
    this.#programs.add(program)
    return program
  }

  /** Waits until a program serves, tells it what the client has said, and lets it go on in place of the one before. */
  async #replaceBy(program: RelayedProgram): Promise<void> {
    const { log, file, io } = this.#options
    const digests = await this.#inTime(program.ready)
    for (const message of await this.#inTime(this.#conversation.repeat(program)))
      log.add({ event: 'warning', message })
    const changed = changedLists(this.#digests, digests)
    this.#digests = digests
    this.#since = performance.now()
    const before = this.#messages.switchTo(program)
    if (before !== undefined) void this.#retire(before)
    await this.#inTime(program.whenMoved())
    if (changed.length > 0) program.tell({ kind: 'changed', lists: changed })
    if (this.#hasServed) return log.add({ event: 'reloaded', changed })
    this.#hasServed = true
    log.add({ event: 'listening', file: relative(io.cwd, file.path) || file.path })
  }

  /** Ends an old program when it has answered its requests. */
  async #retire(program: RelayedProgram): Promise<void> {
    const late = AbortSignal.timeout(DRAIN_MS)
    await this.#messages.drained(program, AbortSignal.any([late, this.#closing.signal]))
    this.#messages.giveUp(program, 'the server was reloaded, and did not finish this request in time')
    await program.leave()
  }

  async #onEnd(program: RelayedProgram, how: string): Promise<void> {
    this.#programs.delete(program)
    const isCurrent = this.#messages.current === program
    this.#messages.giveUp(program, `the server program ended ${how} during this request`)
    if (!isCurrent || this.#closing.signal.aborted) return
    this.#messages.lose()
    if (performance.now() - this.#since >= STABLE_MS) this.#crashes = 0
    const ms = doubledMs(this.#crashes++, PAUSES)
    const message = `the program ended ${how}; it starts again in ${ms} ms`
    this.#options.log.add({ event: 'warning', message })
    await pause(ms, this.#closing.signal)
    if (this.#messages.current === undefined && !this.#closing.signal.aborted) await this.#reloads.reload([])
  }

  async #inTime<Value>(value: Promise<Value>): Promise<Value> {
    const { startMs } = this.#options
    const done = new AbortController()
    const late = pause(startMs, done.signal).then(() => {
      if (done.signal.aborted) return value
      throw new NotStarted('', notInTime(startMs))
    })
    return Promise.race([value, late]).finally(() => done.abort())
  }
}

function explained(thrown: unknown): ShownError {
  if (thrown instanceof NotStarted && thrown.shown !== undefined) return thrown.shown
  return endedEarly((thrown as Error).message)
}
