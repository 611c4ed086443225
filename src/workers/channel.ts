import { weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { SOON } from '../errors/retry-after.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import { crowded } from '../store/crowded.ts'
import { errorFrom, errorToData, type ErrorData } from './error-data.ts'

/** One end of a connection between two processes, which keeps the order of messages and copies values as `structuredClone` does. */
export interface Port {
  /** Sends a message; `sent` is called once it has left this process, or never will. */
  send(message: object, sent: () => void): void
  /** Calls `onMessage` with each message of the other process. */
  receive(onMessage: (message: unknown) => void): void
}

/** What the other process may ask for, by name. The answers go back to it; so do errors. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>

/** One call, answer, failure or notice. The number of a call is chosen by its sender. */
type Entry =
  | readonly ['call', number: number, name: string, args: readonly unknown[]]
  | readonly ['answer', number: number, value: unknown]
  | readonly ['failure', number: number, error: ErrorData]
  | readonly ['notice', name: string, args: readonly unknown[]]

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The member that marks our messages among those of the program. */
const MARK = 'pierhead'
/** How many entries one message has at most, so that no process is busy with one for long. */
const MOST_ENTRIES = 500
/** A message with as many bytes takes no further entry. Node cannot read messages of two gigabytes, and a copy of each waits for the other process. */
const MOST_BYTES = 4 << 20
/** How many messages may be on their way out of the process, and how many bytes before another one follows. */
const MOST_LEAVING = 8
const MOST_LEAVING_BYTES = 8 << 20
/** How many calls may wait for an answer. */
const MOST_WAITING = 50_000

/**
 * Calls functions of another process. The entries of one turn of the event loop travel together, and few messages leave at the same time, so
 * that a process that reads slowly gets fewer and larger ones.
 */
export class Channel {
  readonly #port: Port
  readonly #functions: Functions
  readonly #waiting = new Map<number, Waiting>()
  #entries: Entry[] = []
  /** Gives the latest news when they can be sent. */
  readonly #news: () => unknown
  #hasNews = false
  #isScheduled = false
  /** How many messages have not left. */
  #leaving = 0
  /** Their bytes, as estimated. */
  #leavingBytes = 0
  #isClosed = false
  #last = 0

  /** `news` gives what was collected for the other process since it was asked last; undefined if nothing was. */
  constructor(port: Port, functions: Functions, news: () => unknown = () => undefined) {
    this.#port = port
    this.#functions = functions
    this.#news = news
    port.receive((message) => this.#receive(message))
  }

  /** Calls a function of the other process. Rejects if it throws, or if that process is gone. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(unreachable())
      if (this.#waiting.size >= MOST_WAITING)
        return reject(crowded(`${MOST_WAITING} calls wait for the parent process`))
      const number = ++this.#last
      this.#waiting.set(number, { resolve, reject })
      this.#add(['call', number, name, args])
    })
  }

  /** Calls a function of the other process without waiting for its end. */
  tell(name: string, ...args: readonly unknown[]): void {
    this.#add(['notice', name, args])
  }

  /** Says that there are news. */
  hasNews(): void {
    this.#hasNews = true
    this.#schedule()
  }

  /** The other process is gone: calls fail from now on. */
  close(): void {
    this.#isClosed = true
    this.#entries = []
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(unreachable())
  }

  #add(entry: Entry): void {
    if (this.#isClosed) return
    this.#entries.push(entry)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    if (this.#leaving >= MOST_LEAVING || this.#leavingBytes >= MOST_LEAVING_BYTES) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#send()
    })
  }

  #send(): void {
    const news = this.#news()
    this.#hasNews = false
    if (news !== undefined) this.#entries.push(['notice', 'news', [news]])
    if (this.#entries.length === 0 || this.#isClosed) return
    let [count, bytes] = [0, 0]
    for (; count < this.#entries.length && count < MOST_ENTRIES && bytes < MOST_BYTES; count++)
      bytes += weigh(this.#entries[count], MOST_LEAVING_BYTES, true)
    this.#post(this.#entries.splice(0, count), bytes)
  }

  #post(entries: readonly Entry[], bytes: number): void {
    this.#leaving++
    this.#leavingBytes += bytes
    const sent = (): void => {
      this.#leaving--
      this.#leavingBytes -= bytes
      if (this.#entries.length > 0 || this.#hasNews) this.#schedule()
    }
    try {
      this.#port.send({ [MARK]: entries }, sent)
    } catch (error) {
      // Something cannot be copied to another process. The others travel without it.
      const [first, ...others] = entries as readonly [Entry, ...Entry[]]
      if (others.length === 0) this.#giveBack(first, error)
      else for (const entry of entries) this.#post([entry], 0)
      sent()
    }
  }

  /** An entry cannot be sent: whoever waits for it learns why. */
  #giveBack(entry: Entry, error: unknown): void {
    if (entry[0] === 'call') this.#settle(entry[1])?.reject(error)
    if (entry[0] === 'answer') this.#entries.push(['failure', entry[1], errorToData(error)])
  }

  #receive(message: unknown): void {
    const entries = (message as { readonly [MARK]?: unknown } | null | undefined)?.[MARK]
    if (!Array.isArray(entries) || this.#isClosed) return
    for (const entry of entries as readonly Entry[]) this.#take(entry)
  }

  #take(entry: Entry): void {
    switch (entry[0]) {
      case 'call':
        return this.#answer(entry[1], entry[2], entry[3])
      case 'answer':
        return this.#settle(entry[1])?.resolve(entry[2])
      case 'failure':
        return this.#settle(entry[1])?.reject(errorFrom(entry[2]))
      case 'notice':
        return void this.#run(entry[1], entry[2])
    }
  }

  #settle(number: number): Waiting | undefined {
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    return waiting
  }

  #answer(number: number, name: string, args: readonly unknown[]): void {
    const fail = (error: unknown): void => this.#add(['failure', number, errorToData(error)])
    try {
      const value = this.#run(name, args)
      if (!(value instanceof Promise)) return this.#add(['answer', number, value])
      value.then((late: unknown) => this.#add(['answer', number, late]), fail)
    } catch (error) {
      fail(error)
    }
  }

  #run(name: string, args: readonly unknown[]): unknown {
    if (!Object.hasOwn(this.#functions, name)) throw new Error(`there is no function ${name}`)
    return (this.#functions[name] as (...given: readonly unknown[]) => unknown)(...args)
  }
}

function unreachable(): Error {
  return mcpError(STORE_UNREACHABLE, {}, SOON)
}
