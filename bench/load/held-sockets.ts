import { connect, type Socket } from 'node:net'
import { FIRST_ID, INITIALIZED, callOf, initializeText, pingText, subscribeText } from '../messages.ts'
import { FRAMES, LINES } from './framing.ts'
import { upgradeText } from './streams.ts'

/** Sessions that are held open, each on a connection of its own. */
export interface Held {
  /** Opens so many more; throws when one of them is not opened, or its first ping not answered. */
  open(count: number): Promise<void>
  /** Pings every session; gives how many answered. */
  ping(): Promise<number>
  /** Lets go of all of them. */
  close(): void
}

/** The same, where each can have more to remember. */
export interface HeldSockets extends Held {
  /** Every session follows so many resources and asks for something that is never answered. */
  burden(subscriptions: number): Promise<void>
}

/** How many are on their way at once. */
const AT_ONCE = 128
const ANSWER_MS = 30_000
const PING_FRAME = 0x89
const PONG_FRAME = Buffer.from([0x8a, 0x80, 1, 2, 3, 4])

/** Holds sessions over TCP or WebSocket. */
export function holdSockets(transport: 'tcp' | 'ws', port: number): HeldSockets {
  const sessions: Session[] = []
  return {
    async open(count) {
      await inTurns(count, async () => {
        const session = new Session(transport, port)
        sessions.push(session)
        await session.open()
        await session.ping()
      })
    },
    async ping() {
      let answered = 0
      await inTurns(sessions.length, async (index) => {
        try {
          await sessions[index]!.ping()
          answered++
        } catch {
          // Only those that answer count.
        }
      })
      return answered
    },
    async burden(subscriptions) {
      await inTurns(sessions.length, (index) => sessions[index]!.burden(subscriptions))
    },
    close() {
      for (const session of sessions) session.close()
    },
  }
}

/** Does something so many times, not too many at once. */
export async function inTurns(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work))
}

/** One session, on a socket that keeps nothing between two answers. */
class Session {
  readonly #isWs: boolean
  readonly #port: number
  readonly #socket: Socket
  #id = FIRST_ID
  #wait: ((said: string) => void) | undefined
  #fail: (error: Error) => void = () => {}

  constructor(transport: 'tcp' | 'ws', port: number) {
    this.#isWs = transport === 'ws'
    this.#port = port
    const onread = {
      buffer: SHARED,
      callback: (size: number, bytes: Uint8Array): boolean => {
        this.#read((bytes as Buffer).subarray(0, size))
        return true
      },
    }
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server closed a connection')))
  }

  async open(): Promise<void> {
    if (this.#isWs) {
      const said = await this.#ask(upgradeText(this.#port))
      if (!said.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${said}`)
    }
    await this.#request(initializeText)
    this.#socket.write(this.#seal(INITIALIZED))
  }

  async ping(): Promise<void> {
    await this.#request(pingText)
  }

  async burden(subscriptions: number): Promise<void> {
    for (let number = 0; number < subscriptions; number++)
      await this.#request((id) => subscribeText(id, `note://${number}`))
    this.#socket.write(this.#seal(callOf(this.#id++, 'wait', {})))
    await this.ping()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Sends a request under a new id, and waits for the result under that id. */
  async #request(textOf: (id: number) => string): Promise<void> {
    const id = this.#id++
    const said = await this.#ask(this.#seal(textOf(id)))
    if (!said.includes(`"id":${id},"result":`)) throw new Error(`wrong answer to ${id}: ${said}`)
  }

  #ask(what: string | Buffer): Promise<string> {
    return new Promise((done, fail) => {
      if (this.#socket.destroyed) throw new Error('the server closed a connection')
      const timer = setTimeout(() => fail(new Error('an answer did not come in time')), ANSWER_MS)
      this.#wait = (said) => {
        clearTimeout(timer)
        this.#wait = undefined
        this.#fail = () => {}
        done(said)
      }
      this.#fail = (error) => {
        clearTimeout(timer)
        fail(error)
      }
      this.#socket.write(what)
    })
  }

  #seal(text: string): Buffer {
    return (this.#isWs ? FRAMES : LINES).seal(text)
  }

  /** Answers are small and come whole; only the pings of a server may stand before them. */
  #read(bytes: Buffer): void {
    let at = 0
    while (this.#isWs && bytes[at] === PING_FRAME) {
      this.#socket.write(PONG_FRAME)
      at += 2 + (bytes[at + 1] ?? 0)
    }
    if (at < bytes.length) this.#wait?.(bytes.toString('latin1', at))
  }
}

/** What comes is read before anything else can come. */
const SHARED = Buffer.allocUnsafe(16 * 1024)
