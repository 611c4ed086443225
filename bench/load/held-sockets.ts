import { connect, type Socket } from 'node:net'
import { FIRST_ID, INITIALIZED, callOf, initializeText, pingText, subscribeText } from '../messages.ts'
import { FRAMES, LINES } from './framing.ts'
import { upgradeText } from './streams.ts'

/** Sessions that are held open, each on its own connection. */
export interface HeldSessions {
  /** Opens `count` more; throws if one cannot be opened or does not answer its first ping. */
  open(count: number): Promise<void>
  /** Pings every session; returns the number that answered. */
  ping(): Promise<number>
  /** Closes all sessions. */
  close(): void
}

/** Held sessions that can be given more state. */
export interface HeldSockets extends HeldSessions {
  /** Makes every session subscribe to resources and send a request that is never answered. */
  makeBusy(subscriptions: number): Promise<void>
}

/** The number of concurrent actions. */
const CONCURRENCY = 128
const ANSWER_MS = 30_000
const PING_FRAME = 0x89
const PONG_FRAME = Buffer.from([0x8a, 0x80, 1, 2, 3, 4])

/** Holds sessions over TCP or WebSocket. */
export function holdSockets(transport: 'tcp' | 'ws', port: number): HeldSockets {
  const sessions: Session[] = []
  return {
    async open(count) {
      await runBounded(count, async () => {
        const session = new Session(transport, port)
        sessions.push(session)
        await session.open()
        await session.ping()
      })
    },
    async ping() {
      let answered = 0
      await runBounded(sessions.length, async (index) => {
        try {
          await sessions[index]!.ping()
          answered++
        } catch {
          // Only sessions that answer count.
        }
      })
      return answered
    },
    async makeBusy(subscriptions) {
      await runBounded(sessions.length, (index) => sessions[index]!.makeBusy(subscriptions))
    },
    close() {
      for (const session of sessions) session.close()
    },
  }
}

/** Runs an action `count` times with bounded concurrency. */
export async function runBounded(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, count) }, work))
}

/** One session, on a socket without a buffer of its own. */
class Session {
  readonly #isWs: boolean
  readonly #port: number
  readonly #socket: Socket
  #id = FIRST_ID
  #onAnswer: ((answer: string) => void) | undefined
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
      const answer = await this.#ask(upgradeText(this.#port))
      if (!answer.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${answer}`)
    }
    await this.#request(initializeText)
    this.#socket.write(this.#encode(INITIALIZED))
  }

  async ping(): Promise<void> {
    await this.#request(pingText)
  }

  async makeBusy(subscriptions: number): Promise<void> {
    for (let number = 0; number < subscriptions; number++)
      await this.#request((id) => subscribeText(id, `note://${number}`))
    this.#socket.write(this.#encode(callOf(this.#id++, 'wait', {})))
    await this.ping()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Sends a request with a new id and waits for its result. */
  async #request(textOf: (id: number) => string): Promise<void> {
    const id = this.#id++
    const answer = await this.#ask(this.#encode(textOf(id)))
    if (!answer.includes(`"id":${id},"result":`)) throw new Error(`wrong answer to ${id}: ${answer}`)
  }

  #ask(request: string | Buffer): Promise<string> {
    return new Promise((done, fail) => {
      if (this.#socket.destroyed) throw new Error('the server closed a connection')
      const timer = setTimeout(() => fail(new Error('an answer timed out')), ANSWER_MS)
      this.#onAnswer = (answer) => {
        clearTimeout(timer)
        this.#onAnswer = undefined
        this.#fail = () => {}
        done(answer)
      }
      this.#fail = (error) => {
        clearTimeout(timer)
        fail(error)
      }
      this.#socket.write(request)
    })
  }

  #encode(text: string): Buffer {
    return (this.#isWs ? FRAMES : LINES).encode(text)
  }

  /** Answers are small and arrive in one piece; only pings from the server may precede them. */
  #read(bytes: Buffer): void {
    let at = 0
    while (this.#isWs && bytes[at] === PING_FRAME) {
      this.#socket.write(PONG_FRAME)
      at += 2 + (bytes[at + 1] ?? 0)
    }
    if (at < bytes.length) this.#onAnswer?.(bytes.toString('latin1', at))
  }
}

/** One read buffer for all sockets, since each read is processed before the next one. */
const SHARED = Buffer.allocUnsafe(16 * 1024)
